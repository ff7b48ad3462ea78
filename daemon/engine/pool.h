/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.h - the locked memory that rings are cut from.
 *
 * One address range, cut into page-aligned extents whose pages are locked while
 * they are used: streams take from the bottom, decks from the top, each the
 * first gap that fits. Pages come when the owner populates them, little by
 * little: for a whole ring that takes longer than a command may until it is
 * heard. A stream's share falls with what is left, so that there is always some
 * for one more; a reserve is kept for the decks of a card that is not open yet.
 * What must not wait (a deck, the frames of a file with very many channels) may
 * be mapped apart.
 * Invariant: used extents are sorted, disjoint, page-aligned and inside.
 *
 * Threads: control; any for pool_destroy() and pool_populate(). RT: MAY_BLOCK.
 * Units: bytes. */
#ifndef ROTARY_ENGINE_POOL_H
#define ROTARY_ENGINE_POOL_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct pcm_ring;
struct pool;

enum { POOL_EXTENTS_MAX = 1024 };

struct pool_extent {
	void *memory; /* NULL: none */
	size_t bytes;
	bool apart; /* a mapping of its own */
};

struct pool_usage {
	size_t bytes;
	size_t used_bytes;
	size_t largest_gap_bytes;
	size_t apart_bytes; /* mapped apart */
	unsigned extents;
	bool locked;
};

/* 0, -ENOMEM. */
NODISCARD int pool_create(size_t bytes, struct pool **ret_pool);
/* Any thread. */
void pool_destroy(struct pool *pool);

/* Bytes that pool_take_low() leaves alone. */
void pool_set_reserve(struct pool *pool, size_t bytes);
/* Between least and want bytes, rounded up to pages, from the bottom: want, or
 * two fifths of the largest gap less the reserve, or least. False: not now. */
NODISCARD bool pool_take_low(struct pool *pool, size_t least, size_t want,
			     struct pool_extent *ret_extent);
/* Exactly bytes, from the top, or mapped apart. False: no memory at all. */
NODISCARD bool pool_take_high(struct pool *pool, size_t bytes,
			      struct pool_extent *ret_extent);
/* Keeps the first bytes and gives back what is behind them. */
void pool_shrink(struct pool *pool, struct pool_extent *extent, size_t bytes);
/* Gives it back and clears it; harmless when it is none. */
void pool_give(struct pool *pool, struct pool_extent *extent);

/* Of a ring in an extent, the memory of the first frames; its writer may go on
 * with it. True: that is more than before. Any one thread at a time. */
bool pool_populate(struct pcm_ring *ring, uint64_t frames);

void pool_get_usage(const struct pool *pool, struct pool_usage *ret_usage);
/* Walks the pool; true when its invariant holds. For tests. */
bool pool_check(const struct pool *pool);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alloc.h - where a constructor of lib/ takes its memory from.
 *
 * Every create function of lib/ and of the decoders takes a struct allocator,
 * so that a test can make the n-th allocation fail and a stream can be held to
 * its own budget. NULL means the program's malloc.
 * Threads: as the allocator behind it; the default one is safe on any thread.
 * RT: MAY_BLOCK. Errors: NULL when there is no memory. */
#ifndef ROTARY_BASE_ALLOC_H
#define ROTARY_BASE_ALLOC_H

#include "lib/base/attr.h"

struct allocator {
	/* size bytes, zeroed, aligned to align (a power of two), or NULL. */
	void *(*allocate)(struct allocator *self, size_t size, size_t align);
	/* Gives back what allocate gave; NULL is allowed. */
	void (*release)(struct allocator *self, void *block);
};

/* size bytes, zeroed, aligned as malloc aligns. The caller owns the block. */
NODISCARD void *allocator_new(struct allocator *allocator, size_t size);

/* The same, aligned to align bytes, for fields that own a cache line. */
NODISCARD void *allocator_new_aligned(struct allocator *allocator, size_t size,
				      size_t align);

void allocator_delete(struct allocator *allocator, void *block);

#endif

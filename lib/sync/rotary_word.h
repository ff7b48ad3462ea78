/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rotary_word.h - the word that is the head of a rotary set: a node's address
 * and a count, of every move of the head and every insertion, so that a reader
 * whose word is still there knows that it missed none of them. (The tagged
 * pointer of R. K. Treiber, "Systems Programming: Coping with Parallelism",
 * IBM RJ 5118, 1986, and of IBM's System/370 before it.)
 *
 *    63          42 41                    0
 *   |    count     |  address / CACHE_LINE |
 *
 * Nodes are aligned to a line and user space ends below 2^48 on every machine
 * that we run on (more only for who asks for it, with a hint to mmap), so the
 * count has 22 bits. It is blind to exactly a multiple of 4,194,304 moves
 * between two looks of one reader at one node; that would cost a node that was
 * inserted meanwhile a turn, nothing more: memory is guarded by the hazards.
 *
 * Threads: plain arithmetic, any. RT: RT_SAFE, wait-free, a few cycles. For
 * rotary.c and its tests. */
#ifndef ROTARY_SYNC_ROTARY_WORD_H
#define ROTARY_SYNC_ROTARY_WORD_H

#include "lib/sync/rotary.h"

#include <assert.h>

enum { ROTARY_WORD_LINE_BITS = 6, ROTARY_WORD_ADDRESS_BITS = 48 };

/* One move. */
static const uint64_t rotary_word_one =
	UINT64_C(1) << (ROTARY_WORD_ADDRESS_BITS - ROTARY_WORD_LINE_BITS);

static inline RT_SAFE struct rotary_node *
rotary_word_node(uint64_t word)
{
	const uint64_t line = word & (rotary_word_one - 1);

	/* NOLINTNEXTLINE(performance-no-int-to-ptr): what words are for */
	return (struct rotary_node *)(uintptr_t)(line << ROTARY_WORD_LINE_BITS);
}

/* The word after a move of the head from what word says to node, or NULL. */
static inline RT_SAFE uint64_t
rotary_word_moved(uint64_t word, const struct rotary_node *node)
{
	const uint64_t address = (uintptr_t)node;

	assert(address >> ROTARY_WORD_ADDRESS_BITS == 0);
	return ((word & ~(rotary_word_one - 1)) + rotary_word_one) |
	       address >> ROTARY_WORD_LINE_BITS;
}

#endif

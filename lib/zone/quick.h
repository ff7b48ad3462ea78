/* SPDX-License-Identifier: GPL-3.0-or-later */
/* quick.h - what nearly every malloc and free is: a pointer out of a magazine,
 * a pointer into one. Inline, so that both are one function without a call.
 *
 * Threads: the calling thread's heap only. RT: no loop, no call but, each
 * fourth time that a magazine is full, the flush.
 * Private to lib/zone. */
#ifndef ROTARY_ZONE_QUICK_H
#define ROTARY_ZONE_QUICK_H

#include "lib/zone/parts.h"

#define ZONE_LIKELY(x) __builtin_expect((x), 1)
#define ZONE_UNLIKELY(x) __builtin_expect((x), 0)
#define ZONE_QUICK static inline __attribute__((always_inline))

/* A block with the fresh bit; 0: the magazine is empty. */
ZONE_QUICK uintptr_t
zone_pop(struct zone_heap *heap, unsigned number)
{
	struct zone_head *head = &heap->heads[number];
	uint32_t top = head->top;

	if (ZONE_UNLIKELY(top == head->bottom))
		return 0;
	top--;
	head->top = top;
	return heap->slots[number][top % ZONE_MAGAZINE_MAX];
}

static inline void *
zone_block_in(uintptr_t slot)
{
	return (void *)(slot & ~(uintptr_t)1);
}

/* The magazine takes it, whoever's it is. */
ZONE_QUICK void
zone_keep(struct zone_heap *heap, unsigned number, uintptr_t block)
{
	struct zone_head *head = &heap->heads[number];
	const uint32_t top = head->top;

	if (ZONE_UNLIKELY(top - head->bottom >=
			  zone_classes[number].magazine)) {
		zone_heap_keep_more(heap, number, block);
		return;
	}
	heap->slots[number][top % ZONE_MAGAZINE_MAX] = block;
	head->top = top + 1;
}

/* May a heap reuse a block of the heap with this tag? A small one not, or two
 * threads would write to one cache line; nor one that must go home. */
static inline bool
zone_is_keepable(const struct zone_heap *heap, uint32_t tag, unsigned number)
{
	return number >= ZONE_CLASS_64 &&
	       ((heap->tag | tag) & ZONE_TAG_HOME) == 0;
}

/* False: not done, since something about it is out of the ordinary. An own
 * block's tag differs from the heap's by the class only. */
ZONE_QUICK bool
zone_free_quick(void *block)
{
	const size_t offset = (uintptr_t)block - (uintptr_t)zone_region.base;
	const uint32_t in_unit = (uint32_t)offset % ZONE_UNIT_BYTES;
	struct zone_heap *heap = zone_self.heap;
	uint32_t tag = 0, number = 0;

	if (ZONE_UNLIKELY(offset >= zone_region.bytes || heap == NULL))
		return false;
	tag = atomic_load_explicit(&zone_region.tags[offset >> ZONE_UNIT_SHIFT],
				   memory_order_relaxed);
	number = (tag ^ heap->tag) - ZONE_KIND_SLAB;
	if (ZONE_UNLIKELY(number >= ZONE_CLASSES)) {
		number = (tag & ZONE_KIND_MASK) - ZONE_KIND_SLAB;
		if (number >= ZONE_CLASSES ||
		    !zone_is_keepable(heap, tag, number))
			return false;
	}
	if (ZONE_UNLIKELY(!zone_block_begins(&zone_classes[number], in_unit)))
		return false;
	zone_keep(heap, number, (uintptr_t)block);
	return true;
}

#endif

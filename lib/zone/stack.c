/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack.c - R. K. Treiber's stack ("Systems programming: coping with
 * parallelism", 1986) of indices. The counter goes up with every exchange; 2^32
 * of them while one thread stands between its two looks are not a case.
 *
 * A normal thread tries until it gets through: each failure is somebody else's
 * success. A real-time thread tries a few times, since those others may be of
 * lower priority and many; its callers have another way. */
#include "lib/zone/parts.h"

static inline uint64_t
next_head(uint64_t head, uint32_t index)
{
	return ((head >> 32) + 1) << 32 | index;
}

bool
zone_stack_push(struct zone_stack *stack, struct zone_slab *table,
		uint32_t index, unsigned tries)
{
	uint64_t head =
		atomic_load_explicit(&stack->head, memory_order_relaxed);
	unsigned tried = 0;

	do {
		if (tries != ZONE_STACK_FOREVER && tried == tries)
			return false;
		tried++;
		atomic_store_explicit(&table[index].link, (uint32_t)head,
				      memory_order_relaxed);
	} while (!atomic_compare_exchange_strong_explicit(
		&stack->head, &head, next_head(head, index),
		memory_order_release, memory_order_relaxed));
	atomic_fetch_add_explicit(&stack->count, 1, memory_order_relaxed);
	return true;
}

uint32_t
zone_stack_pop(struct zone_stack *stack, struct zone_slab *table,
	       unsigned tries)
{
	uint64_t head =
		atomic_load_explicit(&stack->head, memory_order_acquire);
	unsigned tried = 0;
	uint32_t below = 0;

	do {
		if ((uint32_t)head == 0 ||
		    (tries != ZONE_STACK_FOREVER && tried == tries))
			return 0;
		tried++;
		below = atomic_load_explicit(&table[(uint32_t)head].link,
					     memory_order_relaxed);
	} while (!atomic_compare_exchange_strong_explicit(
		&stack->head, &head, next_head(head, below),
		memory_order_acquire, memory_order_acquire));
	atomic_fetch_sub_explicit(&stack->count, 1, memory_order_relaxed);
	return (uint32_t)head;
}

uint32_t
zone_stack_count(struct zone_stack *stack)
{
	const int32_t count = (int32_t)atomic_load_explicit(
		&stack->count, memory_order_relaxed);

	return count > 0 ? (uint32_t)count : 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack.h - lock-free stack of indices; the head is an index and a counter in
 * one word, so that a head that came back is not taken for the same one.
 *
 * Threads: any, all operations. RT: RT_SAFE with a number of tries.
 * Memory: the links are in a table that is never unmapped: a reader of a stale
 * head reads a stale link, and its exchange fails.
 *
 *   push   release on head: what was written to the item is seen by who pops
 *   pop    acquire on head; a link is read between two looks at head
 *
 * Private to lib/zone. Explored by tests/model/model_zone.c. */
#ifndef ROTARY_ZONE_STACK_H
#define ROTARY_ZONE_STACK_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct zone_slab;

struct zone_stack {
	ATOMIC(uint64_t) head;  /* counter << 32 | index, 0: empty */
	ATOMIC(uint32_t) count; /* roughly: behind what head says */
};

enum { ZONE_STACK_FOREVER = 0 };

/* False: tries were used up. */
RT_SAFE bool zone_stack_push(struct zone_stack *stack, struct zone_slab *table,
			     uint32_t index, unsigned tries);
/* 0: empty, or tries were used up. */
RT_SAFE uint32_t zone_stack_pop(struct zone_stack *stack,
				struct zone_slab *table, unsigned tries);
RT_SAFE uint32_t zone_stack_count(struct zone_stack *stack);

#endif

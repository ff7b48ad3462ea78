/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heap.c - who owns slabs.
 *
 *   new or adopted -> a thread's -> abandoned (stack of orphans) -> adopted ...
 *
 * A heap is one unit and is never anything else again, unless it was a private
 * one: who still looks at it by a stale tag finds a heap. Its magazines and
 * slabs go with it, so that adoption touches no block. */
#include "lib/zone/parts.h"

#include <string.h>

static void
prepare(struct zone_heap *heap, uint32_t unit, bool is_private, bool realtime)
{
	const bool home = is_private || realtime;

	if ((zone_region.slabs[unit].flags & ZONE_UNIT_ZERO) == 0)
		memset(heap, 0, sizeof(*heap));
	zone_region.slabs[unit].flags &= ~(uint32_t)ZONE_UNIT_ZERO;
	heap->unit = unit;
	heap->tag = unit << ZONE_TAG_SHIFT | (home ? ZONE_TAG_HOME : 0);
	heap->is_private = is_private;
	heap->realtime = realtime;
	heap->harvests_seen = UINT32_MAX;
	zone_tag_set(unit, unit << ZONE_TAG_SHIFT | ZONE_KIND_HEAP);
}

/* For the janitor. They are never taken out, so nothing comes back. */
static void
enlist(struct zone_heap *heap)
{
	uint32_t older = atomic_load(&zone_region.heaps);

	do {
		heap->older = older;
	} while (!atomic_compare_exchange_weak(&zone_region.heaps, &older,
					       heap->unit));
}

struct zone_heap *
zone_heap_new(bool is_private, bool realtime)
{
	uint32_t unit = realtime ? zone_unit_take_locked() : 0;
	struct zone_heap *heap = NULL;

	if (unit == 0)
		unit = zone_unit_take();
	if (unit == 0)
		return NULL;
	heap = zone_heap_at(unit);
	/* a real-time thread may use it later */
	if (is_private || realtime)
		(void)zone_pages_populate(heap, ZONE_HEAP_BYTES);
	prepare(heap, unit, is_private, realtime);
	zone_count(&zone_region.figures.heaps, 1);
	if (!is_private)
		enlist(heap);
	return heap;
}

static struct zone_stack *
orphans_of(bool realtime)
{
	return realtime ? &zone_region.rt_orphans : &zone_region.orphans;
}

struct zone_heap *
zone_heap_adopt(bool realtime)
{
	const uint32_t unit = zone_stack_pop(
		orphans_of(realtime), zone_region.slabs, ZONE_STACK_FOREVER);

	if (unit == 0)
		return NULL;
	zone_count(&zone_region.figures.adoptions, 1);
	return zone_heap_at(unit);
}

void
zone_heap_abandon(struct zone_heap *heap)
{
	(void)zone_stack_push(orphans_of(heap->realtime), zone_region.slabs,
			      heap->unit, ZONE_STACK_FOREVER);
}

void
zone_heap_trim(struct zone_heap *heap)
{
	unsigned number = 0;

	zone_heap_send_all(heap);
	for (number = 0; number < ZONE_CLASSES; number++) {
		const struct zone_head *head = &heap->heads[number];

		zone_heap_flush(heap, number, head->top - head->bottom);
	}
	zone_heap_harvest(heap, UINT32_MAX);
	for (number = 0; number < ZONE_CLASSES; number++) {
		zone_bin_release_empty(heap, number);
		if ((heap->tag & ZONE_TAG_HOME) == 0)
			zone_bin_purge(heap, number);
	}
}

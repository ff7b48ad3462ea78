/* SPDX-License-Identifier: GPL-3.0-or-later */
/* private.c - heaps that are made, limited and freed whole; and either kind of
 * heap as a struct allocator.
 *
 * Their blocks never enter another heap's magazines (ZONE_TAG_HOME), so when
 * nobody uses them the units with their tag are all there is of them. */
#include "lib/zone/parts.h"

#include <stdlib.h>
#include <string.h>

struct zone_heap *
zone_heap_create(size_t limit_bytes)
{
	struct zone_heap *heap = NULL;

	if (!zone_region_init())
		return NULL;
	heap = zone_heap_new(true, false);
	if (heap != NULL)
		heap->limit_units = limit_bytes / ZONE_UNIT_BYTES;
	return heap;
}

void
zone_heap_destroy(struct zone_heap *heap)
{
	uint32_t own = 0, unit = 0;

	if (heap == NULL)
		return;
	own = heap->unit;
	zone_spans_release(heap);
	for (unit = zone_unit_after(0); unit != 0;
	     unit = zone_unit_after(unit)) {
		ATOMIC(uint64_t) *words = NULL;
		const uint32_t tag = zone_tag_of(unit);
		const struct zone_class *class = NULL;
		unsigned i = 0;

		if (tag >> ZONE_TAG_SHIFT != own || unit == own)
			continue;
		/* freed by others, and not looked at since */
		class = &zone_classes[(tag & ZONE_KIND_MASK) - ZONE_KIND_SLAB];
		words = zone_slab_remote_words(unit, class);
		for (i = 0; i < class->words; i++)
			(void)zone_remote_take(&words[i]);
		zone_tag_set(unit, ZONE_KIND_NONE);
		(void)zone_unit_give(unit);
	}
	zone_tag_set(own, ZONE_KIND_NONE);
	(void)zone_unit_give(own);
	zone_count(&zone_region.figures.heaps, (uint64_t)-1);
}

void
zone_heap_on_refusal(struct zone_heap *heap, zone_refuse_fn *refuse,
		     void *context)
{
	heap->refuse_context = context;
	heap->refuse = refuse;
}

void
zone_refuse(void)
{
	const struct zone_heap *heap = zone_self.heap;

	if (heap == NULL || !heap->is_private)
		return;
	zone_count(&zone_region.figures.refusals, 1);
	if (heap->refuse != NULL)
		heap->refuse(heap->refuse_context);
}

size_t
zone_heap_used(const struct zone_heap *heap)
{
	return (size_t)atomic_load_explicit(&heap->units, memory_order_relaxed)
	       << ZONE_UNIT_SHIFT;
}

bool
zone_is_malloc(void)
{
	void *volatile block = malloc(1);
	const bool ours = zone_owns(block) && block != NULL;

	free(block);
	return ours;
}

static struct zone_allocator *
zone_allocator_of(struct allocator *allocator)
{
	return (struct zone_allocator *)(void *)((char *)allocator -
						 offsetof(struct zone_allocator,
							  allocator));
}

static void *
allocate(struct allocator *self, size_t size, size_t align)
{
	struct zone_heap *heap = zone_allocator_of(self)->heap;
	void *block = NULL;

	if (heap != NULL && !zone_heap_enter(heap))
		return NULL;
	block = zone_request(&(struct zone_request){
		.bytes = size, .align = align, .zero = true});
	if (heap != NULL)
		zone_heap_leave(heap);
	return block;
}

static void
release(struct allocator *self, void *block)
{
	(void)self;
	zone_free(block);
}

void
zone_allocator_init(struct zone_allocator *allocator, struct zone_heap *heap)
{
	*allocator = (struct zone_allocator){
		.allocator = {.allocate = allocate, .release = release},
		.heap = heap,
	};
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stats.c - figures, and the walk that compares everything with everything.
 *
 * Nothing is counted per call: blocks in use follow from slabs and their free
 * bits, which their owners add up at each refill. The walk looks at the calling
 * thread's heap, which nobody else changes, and at all tags. */
#include "lib/zone/parts.h"

#include <errno.h>
#include <string.h>

static void
add_heap(struct zone_heap *heap, struct zone_stats *stats)
{
	unsigned i = 0;

	for (i = 0; i < ZONE_CLASSES; i++) {
		const struct zone_bin *bin = &heap->bins[i];
		struct zone_class_stats *class = &stats->classes[i];
		const uint32_t slabs =
			atomic_load_explicit(&bin->slabs, memory_order_relaxed);
		const size_t blocks = (size_t)slabs * zone_classes[i].blocks;
		const uint32_t unused =
			atomic_load_explicit(&bin->free, memory_order_relaxed);

		class->slabs += slabs;
		class->slabs_high +=
			atomic_load_explicit(&bin->high, memory_order_relaxed);
		class->blocks_in_use += blocks > unused ? blocks - unused : 0;
		class->remote_frees += atomic_load_explicit(
			&bin->remote_frees, memory_order_relaxed);
	}
}

static size_t
bytes_on(struct zone_stack *stack)
{
	return (size_t)zone_stack_count(stack) << ZONE_UNIT_SHIFT;
}

static uint64_t
figure(ATOMIC(uint64_t) * counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void
add_figures(struct zone_stats *stats)
{
	struct zone_region *region = &zone_region;
	struct zone_figures *figures = &region->figures;

	stats->spans = figure(&figures->live_spans);
	stats->span_bytes = figure(&figures->live_span_bytes);
	stats->span_cache_bytes = figure(&region->spans_hot_bytes);
	stats->ready_bytes = bytes_on(&region->ready);
	stats->cold_bytes = bytes_on(&region->cold);
	stats->locked_free_bytes = bytes_on(&region->locked);
	stats->locked_bytes = figure(&figures->locked_bytes);
	stats->not_locked_bytes = figure(&figures->unlocked_bytes);
	stats->heaps = figure(&figures->heaps);
	stats->orphans = zone_stack_count(&region->orphans) +
			 zone_stack_count(&region->rt_orphans);
	stats->adoptions = figure(&figures->adoptions);
	stats->kernel_calls = figure(&figures->kernel_calls);
	stats->kernel_failures = figure(&figures->kernel_failures);
	stats->rt_dry = figure(&figures->rt_dry);
	stats->rt_alloc_kernel = figure(&figures->rt_alloc_kernel);
	stats->purged_units = figure(&figures->purged_units);
	stats->purged_pages = figure(&figures->purged_pages);
	stats->harvests_asked = figure(&figures->harvests_asked);
	stats->refusals = figure(&figures->refusals);
	stats->small_extents = figure(&figures->small_extents);
	stats->system_blocks = figure(&figures->system_blocks);
}

void
zone_stats(struct zone_stats *ret_stats)
{
	struct zone_region *region = &zone_region;
	uint32_t unit = 0;
	unsigned i = 0;

	memset(ret_stats, 0, sizeof(*ret_stats));
	for (i = 0; i < ZONE_CLASSES; i++)
		ret_stats->classes[i].size_bytes = zone_classes[i].size;
	add_figures(ret_stats);
	if (atomic_load(&region->state) != ZONE_READY)
		return;
	ret_stats->reservations = zone_tracts();
	for (i = 0; i < ret_stats->reservations; i++) {
		const struct zone_tract *tract = &region->tract[i];

		ret_stats->reserved_bytes += (size_t)atomic_load(&tract->units)
					     << ZONE_UNIT_SHIFT;
		ret_stats->frontier_bytes +=
			(size_t)(zone_tract_low(tract) - tract->first)
			<< ZONE_UNIT_SHIFT;
	}
	ret_stats->frontier_bytes -= ZONE_UNIT_BYTES; /* unit 0 */
	for (unit = zone_unit_after(0); unit != 0; unit = zone_unit_after(unit))
		if ((zone_tag_of(unit) & ZONE_KIND_MASK) == ZONE_KIND_HEAP)
			add_heap(zone_heap_at(unit), ret_stats);
}

static unsigned
count_free(uint32_t unit, const struct zone_class *class, bool *ret_hidden)
{
	const uint64_t *words = zone_slab_free_words(unit, class);
	unsigned count = 0;
	unsigned i = 0;

	for (i = 0; i < class->words; i++) {
		count += zone_bits_in(words[i]);
		if (words[i] != 0 && i < zone_region.slabs[unit].hint)
			*ret_hidden = true;
	}
	return count;
}

static const char *
check_slab(uint32_t unit, uint32_t tag)
{
	const struct zone_slab *slab = &zone_region.slabs[unit];
	const unsigned number = (tag & ZONE_KIND_MASK) - ZONE_KIND_SLAB;
	const struct zone_class *class = &zone_classes[number];
	uint64_t *words = zone_slab_free_words(unit, class);
	ATOMIC(uint64_t) *remote = zone_slab_remote_words(unit, class);
	bool hidden = false;
	unsigned i = 0;

	if (slab->number != number)
		return "a slab's class is not its tag's";
	if (count_free(unit, class, &hidden) != slab->free_count)
		return "a slab's count is not its free bits'";
	if (hidden)
		return "a free bit stands before the hint";
	if ((slab->free_count > 0) != slab->listed)
		return "a slab is on the wrong list";
	for (i = 0; i < class->words; i++)
		if ((words[i] & atomic_load(&remote[i])) != 0)
			return "a block is free and freed by others";
	if (class->blocks % 64 != 0 &&
	    words[class->words - 1] >> class->blocks % 64 != 0)
		return "a slab has more blocks than fit";
	return NULL;
}

/* Blocks in a magazine are in no slab's free bits. */
static const char *
check_magazine(const struct zone_heap *heap, unsigned number)
{
	const struct zone_head *head = &heap->heads[number];
	const struct zone_class *class = &zone_classes[number];
	uint32_t i = 0;

	if (head->top - head->bottom > class->magazine)
		return "a magazine is over its limit";
	for (i = head->bottom; i != head->top; i++) {
		const uintptr_t block =
			heap->slots[number][i % ZONE_MAGAZINE_MAX] &
			~(uintptr_t)1;
		const uint32_t unit = zone_unit_of(block);
		const unsigned index =
			zone_block_of(class, block % ZONE_UNIT_BYTES);
		const uint32_t tag = zone_tag_of(unit);

		if ((tag & ZONE_KIND_MASK) != ZONE_KIND_SLAB + number)
			return "a magazine holds a block of another class";
		if (tag >> ZONE_TAG_SHIFT == heap->unit &&
		    (zone_slab_free_words(unit, class)[index / 64] >>
			     index % 64 &
		     1) != 0)
			return "a block is free and in a magazine";
	}
	return NULL;
}

static bool
check_list(const struct zone_list *list, uint32_t *count)
{
	uint32_t previous = 0;
	uint32_t unit = 0;

	for (unit = list->head; unit != 0;
	     unit = zone_region.slabs[unit].next) {
		if (zone_region.slabs[unit].previous != previous)
			return false;
		previous = unit;
		(*count)++;
	}
	return list->tail == previous;
}

static const char *
check_bin(const struct zone_heap *heap, unsigned number, uint32_t slabs,
	  uint32_t unused)
{
	const struct zone_bin *bin = &heap->bins[number];
	uint32_t listed = 0;

	if (atomic_load(&bin->slabs) != slabs)
		return "a class's slabs are not those with its tag";
	if (atomic_load(&bin->free) != unused)
		return "a class's free blocks are not its slabs'";
	if (!check_list(&bin->some, &listed) ||
	    !check_list(&bin->full, &listed))
		return "a list of slabs is broken";
	return listed == slabs ? NULL : "a slab is on no list";
}

static const char *
check_heap(const struct zone_heap *heap)
{
	uint32_t slabs[ZONE_CLASSES] = {0};
	uint32_t unused[ZONE_CLASSES] = {0};
	const char *what = NULL;
	uint32_t unit = 0;
	unsigned i = 0;

	for (unit = zone_unit_after(0); unit != 0 && what == NULL;
	     unit = zone_unit_after(unit)) {
		const uint32_t tag = zone_tag_of(unit);
		const unsigned number = (tag & ZONE_KIND_MASK) - ZONE_KIND_SLAB;

		if (tag >> ZONE_TAG_SHIFT != heap->unit ||
		    number >= ZONE_CLASSES)
			continue;
		what = check_slab(unit, tag);
		slabs[number]++;
		unused[number] += zone_region.slabs[unit].free_count;
	}
	for (i = 0; i < ZONE_CLASSES && what == NULL; i++) {
		what = check_bin(heap, i, slabs[i], unused[i]);
		if (what == NULL)
			what = check_magazine(heap, i);
	}
	return what;
}

int
zone_check(const char **ret_what)
{
	const struct zone_heap *heap = zone_self.heap;
	const char *what = heap != NULL ? check_heap(heap) : NULL;

	if (what == NULL)
		return 0;
	if (ret_what != NULL)
		*ret_what = what;
	return -EUCLEAN;
}

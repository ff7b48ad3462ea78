/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span.c - blocks over 64 KiB: runs of units from the other end of the
 * reservation, rounded up to 1, 1.25, 1.5 or 1.75 times a power of two of
 * address space; of memory only what is touched.
 *
 *   new -> in use -> hot (memory kept, bounded) -> in use ...
 *                 -> cold (memory given back)   -> in use ...
 *
 * A free run has its record in its first unit, a block in its own first unit:
 * they differ when the block is aligned to more than 64 KiB. A run keeps its
 * size for ever. Nobody owns a span, any thread frees it; only those of private
 * heaps are on a list, marked there when freed and reaped by the heap's user.
 */
#include "lib/zone/parts.h"

#include <string.h>
#include <sys/mman.h>

enum {
	MOVE_LEAST_BYTES = 256 * 1024,
	HOT_MOST_UNITS = 16,
	PLENTY_UNITS = 16 << (30 - ZONE_UNIT_SHIFT),
};

static unsigned
class_of(size_t units)
{
	unsigned k = 0;

	if (units <= 4)
		return (unsigned)units;
	k = 63 - (unsigned)__builtin_clzll(units - 1);
	return 4 * k + (unsigned)((units - 1) >> (k - 2) & 3);
}

static size_t
units_of_class(unsigned class)
{
	if (class <= 4)
		return class;
	return (size_t)(4 + class % 4 + 1) << (class / 4 - 2);
}

static size_t
round_to_page(size_t bytes)
{
	return (bytes + ZONE_PAGE_MAX - 1) / ZONE_PAGE_MAX * ZONE_PAGE_MAX;
}

static RT_SAFE uint32_t
take_hot(unsigned class, unsigned tries)
{
	struct zone_region *region = &zone_region;
	const uint32_t first =
		zone_stack_pop(&region->spans_hot[class], region->slabs, tries);

	if (first != 0)
		atomic_fetch_sub_explicit(&region->spans_hot_bytes,
					  units_of_class(class)
						  << ZONE_UNIT_SHIFT,
					  memory_order_relaxed);
	return first;
}

static void
put_cold(uint32_t first, unsigned class)
{
	(void)zone_stack_push(&zone_region.spans_cold[class], zone_region.slabs,
			      first, ZONE_STACK_FOREVER);
}

/* A run of this class; 0: none. */
static uint32_t
take_run(unsigned class, enum zone_dry dry)
{
	struct zone_region *region = &zone_region;
	uint32_t first = 0;

	if (zone_self.realtime) {
		/* not known to be populated, so not for our own code */
		first = dry == ZONE_DRY_NULL
				? 0
				: take_hot(class, ZONE_STACK_TRIES);
		if (first != 0)
			return first;
		zone_count_dry(dry);
		if (dry == ZONE_DRY_NULL)
			return 0;
	}
	first = take_hot(class, ZONE_STACK_FOREVER);
	if (first == 0)
		first = zone_stack_pop(&region->spans_cold[class],
				       region->slabs, ZONE_STACK_FOREVER);
	if (first == 0)
		first = zone_region_extend_span(
			(uint32_t)units_of_class(class));
	return first;
}

/* Keeps it ready, or gives its memory back. used_bytes: what may have been
 * touched, from the beginning. */
static void
give_run(uint32_t first, unsigned class, size_t used_bytes)
{
	struct zone_region *region = &zone_region;
	const size_t units = units_of_class(class);
	const size_t bytes = units << ZONE_UNIT_SHIFT;
	uint32_t *flags = &region->slabs[first].flags;

	*flags &= ~(uint32_t)ZONE_UNIT_ZERO;
	if (zone_self.realtime ||
	    (units <= HOT_MOST_UNITS &&
	     atomic_load_explicit(&region->spans_hot_bytes,
				  memory_order_relaxed) +
			     bytes <=
		     atomic_load_explicit(&region->spans_hot_limit,
					  memory_order_relaxed))) {
		atomic_fetch_add_explicit(&region->spans_hot_bytes, bytes,
					  memory_order_relaxed);
		(void)zone_stack_push(&region->spans_hot[class], region->slabs,
				      first, ZONE_STACK_FOREVER);
		return;
	}
	if (zone_pages_purge(zone_unit_at(first), used_bytes))
		*flags |= ZONE_UNIT_ZERO;
	put_cold(first, class);
}

static void
count_span(int64_t spans, int64_t bytes)
{
	if (spans != 0)
		zone_count(&zone_region.figures.live_spans, (uint64_t)spans);
	zone_count(&zone_region.figures.live_span_bytes, (uint64_t)bytes);
}

static void
add_units(struct zone_heap *heap, int64_t units)
{
	const uint64_t old =
		atomic_load_explicit(&heap->units, memory_order_relaxed);

	atomic_store_explicit(&heap->units, old + (uint64_t)units,
			      memory_order_relaxed);
}

static void
release(uint32_t unit)
{
	const struct zone_span *span = &zone_region.slabs[unit].span;
	const uint32_t first = span->first;
	const unsigned class = span->number;
	const size_t used = ((size_t)(unit - first) << ZONE_UNIT_SHIFT) +
			    round_to_page(span->bytes);

	count_span(-1, -(int64_t)span->bytes);
	zone_tag_set(unit, ZONE_KIND_NONE);
	give_run(first, class, used);
}

/* What others have freed of a private heap's spans, or all. */
static void
reap(struct zone_heap *heap, bool all)
{
	uint32_t *link = &heap->spans;

	while (*link != 0) {
		const uint32_t unit = *link;
		struct zone_span *span = &zone_region.slabs[unit].span;

		if (!all && atomic_load_explicit(&span->released,
						 memory_order_acquire) == 0) {
			link = &span->next;
			continue;
		}
		*link = span->next;
		add_units(heap, -(int64_t)span->units);
		release(unit);
	}
}

void
zone_spans_release(struct zone_heap *heap)
{
	reap(heap, true);
}

static bool
has_room(struct zone_heap *heap, size_t units)
{
	reap(heap, false);
	return atomic_load_explicit(&heap->units, memory_order_relaxed) +
		       units <=
	       heap->limit_units;
}

static void
record(uint32_t unit, uint32_t first, unsigned class, size_t bytes)
{
	struct zone_heap *heap = zone_self.heap;
	struct zone_slab *slab = &zone_region.slabs[unit];
	const bool zero =
		(zone_region.slabs[first].flags & ZONE_UNIT_ZERO) != 0;
	const bool is_private = heap != NULL && heap->is_private;

	slab->span = (struct zone_span){
		.bytes = bytes,
		.first = first,
		.number = class,
		.units = (uint32_t)units_of_class(class),
		.zero = zero,
	};
	if (is_private) {
		slab->span.next = heap->spans;
		heap->spans = unit;
		add_units(heap, slab->span.units);
	}
	count_span(1, (int64_t)bytes);
	zone_tag_set(unit, (is_private ? heap->tag : 0) | ZONE_KIND_SPAN);
}

/* room_bytes: of address space, at least; what the block may grow to. */
static void *
alloc(size_t bytes, size_t room_bytes, size_t align, enum zone_dry dry,
      bool *ret_zero)
{
	const size_t extra =
		align > ZONE_UNIT_BYTES ? align / ZONE_UNIT_BYTES - 1 : 0;
	const size_t units =
		(room_bytes + ZONE_UNIT_BYTES - 1) / ZONE_UNIT_BYTES + extra;
	const unsigned class = class_of(units);
	struct zone_heap *heap = zone_self.heap;
	uint32_t first = 0, unit = 0;
	size_t at = 0;

	if (units > zone_region.entries / 2 ||
	    (heap != NULL && heap->is_private &&
	     !has_room(heap, units_of_class(class))))
		return NULL;
	first = take_run(class, dry);
	if (first == 0)
		return NULL;
	at = (size_t)zone_unit_at(first);
	if (extra != 0)
		at = (at + align - 1) / align * align;
	unit = first + (uint32_t)((at - (size_t)zone_unit_at(first)) >>
				  ZONE_UNIT_SHIFT);
	if (!zone_region_commit_entry(unit)) {
		put_cold(first, class);
		return NULL;
	}
	record(unit, first, class, bytes);
	*ret_zero = zone_region.slabs[unit].span.zero;
	return zone_unit_at(unit);
}

void *
zone_span_alloc(size_t bytes, size_t align, enum zone_dry dry, bool *ret_zero)
{
	return alloc(bytes, bytes, align, dry, ret_zero);
}

void
zone_span_free(uint32_t unit, uint32_t tag)
{
	struct zone_span *span = &zone_region.slabs[unit].span;

	if ((tag & ZONE_TAG_HOME) == 0) {
		release(unit);
		return;
	}
	if (atomic_exchange_explicit(&span->released, 1,
				     memory_order_release) != 0)
		zone_fail("freed twice", zone_unit_at(unit));
	if (zone_self.heap != NULL &&
	    zone_self.heap->unit == tag >> ZONE_TAG_SHIFT)
		reap(zone_self.heap, false);
}

static size_t
capacity_of(uint32_t unit, const struct zone_span *span)
{
	return (size_t)(span->units - (unit - span->first)) << ZONE_UNIT_SHIFT;
}

size_t
zone_span_usable(uint32_t unit)
{
	return round_to_page(zone_region.slabs[unit].span.bytes);
}

static void
resize_here(uint32_t unit, size_t bytes)
{
	struct zone_span *span = &zone_region.slabs[unit].span;
	const size_t old = round_to_page(span->bytes);
	const size_t new = round_to_page(bytes);

	if (new + ZONE_UNIT_BYTES <= old && !zone_self.realtime)
		(void)zone_pages_purge(zone_unit_at(unit) + new, old - new);
	else if (new < old)
		return; /* so that all that was touched is purged one day */
	count_span(0, (int64_t)bytes - (int64_t)span->bytes);
	span->bytes = bytes;
}

/* Does it cost nothing but address space, and is there much of that? What has
 * grown out of its run grows again, so it then gets twice the room. */
static bool
is_space_free(void)
{
	const struct zone_heap *heap = zone_self.heap;

	return !zone_self.realtime && (heap == NULL || !heap->is_private) &&
	       zone_region.units >= PLENTY_UNITS &&
	       atomic_load_explicit(&zone_region.purge_above,
				    memory_order_relaxed) != UINT32_MAX;
}

/* What a block may shrink to in its run. A small run that is ready is quicker
 * to be had than pages of this one again. */
static size_t
least_in(size_t capacity)
{
	return capacity <= (size_t)HOT_MOST_UNITS << ZONE_UNIT_SHIFT
		       ? capacity / 2
		       : capacity / 4;
}

void *
zone_span_resize(uint32_t unit, size_t bytes, enum zone_dry dry)
{
	struct zone_span *span = &zone_region.slabs[unit].span;
	const size_t capacity = capacity_of(unit, span);
	const size_t old = span->bytes;
	const size_t kept = old < bytes ? old : bytes;
	const size_t room =
		bytes > capacity && old >= MOVE_LEAST_BYTES && is_space_free()
			? 2 * bytes
			: bytes;
	char *from = zone_unit_at(unit);
	bool zero = false;
	char *to = NULL;

	if (bytes <= capacity && bytes > least_in(capacity)) {
		resize_here(unit, bytes);
		return from;
	}
	to = alloc(bytes, room, 1, dry, &zero);
	if (to == NULL)
		return NULL;
	if (kept >= MOVE_LEAST_BYTES && !zone_self.realtime &&
	    zone_kernel_move(from, round_to_page(kept), to) != NULL)
		;
	else
		memcpy(to, from, kept);
	zone_span_free(unit, zone_tag_of(unit));
	return to;
}

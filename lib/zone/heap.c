/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heap.c - who owns slabs, and how blocks move between slabs and magazines.
 *
 *   new or adopted -> a thread's -> abandoned (stack of orphans) -> adopted ...
 *
 * A heap is one unit and is never anything else again, unless it was a private
 * one: who still looks at it by a stale tag finds a heap. Its magazines and
 * slabs go with it, so that adoption touches no block.
 *
 *   bin->free   = free bits of all slabs of the class
 *   slab listed = it has a free bit (or is about to be looked at)
 *   slab's blocks = free bits + remote bits + in magazines + in use
 *
 * An empty slab is kept while its class has few free blocks elsewhere. */
#include "lib/zone/parts.h"

#include <string.h>

/* Refills between two looks at what others have freed, at most. */
enum { HARVEST_EACH = 16 };

static uint32_t
unit_of(uintptr_t block)
{
	return (uint32_t)((block - (uintptr_t)zone_region.base) >>
			  ZONE_UNIT_SHIFT);
}

static RT_SAFE void
link_slab(struct zone_bin *bin, uint32_t unit)
{
	struct zone_slab *slabs = zone_region.slabs;

	slabs[unit].next = 0;
	slabs[unit].previous = bin->tail;
	if (bin->tail != 0)
		slabs[bin->tail].next = unit;
	else
		bin->head = unit;
	bin->tail = unit;
	slabs[unit].listed = true;
}

static RT_SAFE void
unlink_slab(struct zone_bin *bin, uint32_t unit)
{
	struct zone_slab *slabs = zone_region.slabs;
	const struct zone_slab *slab = &slabs[unit];

	if (slab->previous != 0)
		slabs[slab->previous].next = slab->next;
	else
		bin->head = slab->next;
	if (slab->next != 0)
		slabs[slab->next].previous = slab->previous;
	else
		bin->tail = slab->previous;
	slabs[unit].listed = false;
}

static RT_SAFE void
add_units(struct zone_heap *heap, int64_t units)
{
	const uint64_t old =
		atomic_load_explicit(&heap->units, memory_order_relaxed);

	atomic_store_explicit(&heap->units, old + (uint64_t)units,
			      memory_order_relaxed);
}

/* Gives an empty slab away; one that nobody can take stays. */
static RT_SAFE void
release_slab(struct zone_heap *heap, unsigned number, uint32_t unit)
{
	const struct zone_class *class = &zone_classes[number];
	struct zone_bin *bin = &heap->bins[number];

	if (zone_region.slabs[unit].listed)
		unlink_slab(bin, unit);
	zone_tag_set(unit, ZONE_KIND_NONE);
	if (heap->realtime && heap->reserved < ZONE_RESERVE_UNITS &&
	    (zone_region.slabs[unit].flags & ZONE_UNIT_LOCKED) != 0) {
		heap->reserve[heap->reserved] = unit;
		heap->reserved++;
	} else if (!zone_unit_give(unit)) {
		zone_slab_open(heap, unit, number);
		link_slab(bin, unit);
		return;
	}
	zone_bump(&bin->slabs, -1);
	zone_bump(&bin->free, -(int64_t) class->blocks);
	add_units(heap, -1);
}

/* Some bits of one word of an own slab are free again. */
static RT_SAFE void
take_back(struct zone_heap *heap, uint32_t unit, unsigned word, uint64_t bits)
{
	struct zone_slab *slab = &zone_region.slabs[unit];
	const unsigned number = slab->number;
	const struct zone_class *class = &zone_classes[number];
	struct zone_bin *bin = &heap->bins[number];

	if (!zone_slab_put(unit, word, bits)) {
		RT_EXCEPTION("the process ends here")
		{
			zone_fail("freed twice", zone_unit_at(unit));
		}
	}
	zone_bump(&bin->free, zone_bits_in(bits));
	if (!slab->listed)
		link_slab(bin, unit);
	if (slab->free_count == class->blocks &&
	    atomic_load_explicit(&bin->free, memory_order_relaxed) >=
		    (uint32_t) class->blocks + ZONE_MOVE)
		release_slab(heap, number, unit);
}

void
zone_block_send(uint32_t unit, uint32_t tag, unsigned block)
{
	const unsigned number = (tag & ZONE_KIND_MASK) - ZONE_KIND_SLAB;
	ATOMIC(uint64_t) *words =
		zone_slab_remote_words(unit, &zone_classes[number]);
	struct zone_heap *owner = zone_heap_at(tag >> ZONE_TAG_SHIFT);

	if (!zone_remote_free(&owner->remote, unit, &words[block / 64],
			      UINT64_C(1) << block % 64)) {
		RT_EXCEPTION("the process ends here")
		{
			zone_fail("freed twice", zone_unit_at(unit));
		}
	}
}

static RT_SAFE bool
is_own_slab(const struct zone_heap *heap, uint32_t unit)
{
	const uint32_t tag = zone_tag_of(unit);
	const uint32_t kind = tag & ZONE_KIND_MASK;

	return tag >> ZONE_TAG_SHIFT == heap->unit && kind >= ZONE_KIND_SLAB &&
	       kind < ZONE_KIND_SPAN;
}

/* What came back to one slab. Returns how many words were looked at. */
static RT_SAFE unsigned
harvest_slab(struct zone_heap *heap, uint32_t unit)
{
	const unsigned number = zone_region.slabs[unit].number;
	const struct zone_class *class = &zone_classes[number];
	ATOMIC(uint64_t) *words = zone_slab_remote_words(unit, class);
	unsigned i = 0;

	for (i = 0; i < class->words; i++) {
		const uint64_t bits = zone_remote_take(&words[i]);

		if (bits == 0)
			continue;
		zone_bump(&heap->bins[number].remote_frees, zone_bits_in(bits));
		take_back(heap, unit, i, bits);
		if (!is_own_slab(heap, unit))
			break; /* that was the last one, it is given away */
	}
	return class->words;
}

void
zone_heap_harvest(struct zone_heap *heap, unsigned words)
{
	const uint32_t low = (uint32_t)atomic_load_explicit(
		&zone_region.frontier, memory_order_relaxed);
	uint32_t slot = 0, unit = 0;
	unsigned done = 0;

	while (done < words &&
	       atomic_load_explicit(&heap->remote.summary,
				    memory_order_relaxed) != 0) {
		done++;
		if (!zone_remote_take_slot(&heap->remote, &slot))
			continue;
		for (unit = slot; unit < low; unit += ZONE_PENDING_SLOTS) {
			if (is_own_slab(heap, unit))
				done += harvest_slab(heap, unit);
			else
				done++;
		}
	}
}

/* A unit for a slab, by the rules for who asks. */
static RT_SAFE uint32_t
supply(struct zone_heap *heap, enum zone_dry dry)
{
	const bool home = (heap->tag & ZONE_TAG_HOME) != 0;
	uint32_t unit = 0;

	if (heap->is_private &&
	    atomic_load_explicit(&heap->units, memory_order_relaxed) >=
		    heap->limit_units)
		return 0;
	if (home)
		unit = zone_unit_take_locked();
	if (unit == 0 && zone_self.realtime)
		unit = zone_reserve_take();
	if (unit != 0)
		return unit;
	if (zone_self.realtime) {
		zone_count(dry == ZONE_DRY_NULL
				   ? &zone_region.figures.rt_dry
				   : &zone_region.figures.rt_alloc_kernel,
			   1);
		if (dry == ZONE_DRY_NULL)
			return 0;
	}
	RT_EXCEPTION("not marked; or a library's malloc that must not fail")
	{
		unit = zone_unit_take();
		/* a real-time thread may use its blocks later */
		if (unit != 0 && home)
			(void)zone_pages_populate(zone_unit_at(unit),
						  ZONE_UNIT_BYTES);
	}
	return unit;
}

static RT_SAFE bool
add_slab(struct zone_heap *heap, unsigned number, enum zone_dry dry)
{
	struct zone_bin *bin = &heap->bins[number];
	const uint32_t unit = supply(heap, dry);
	uint32_t slabs = 0;

	if (unit == 0)
		return false;
	zone_slab_open(heap, unit, number);
	link_slab(bin, unit);
	zone_bump(&bin->slabs, 1);
	zone_bump(&bin->free, zone_classes[number].blocks);
	add_units(heap, 1);
	slabs = atomic_load_explicit(&bin->slabs, memory_order_relaxed);
	if (slabs > atomic_load_explicit(&bin->high, memory_order_relaxed))
		atomic_store_explicit(&bin->high, slabs, memory_order_relaxed);
	return true;
}

bool
zone_heap_refill(struct zone_heap *heap, unsigned number, enum zone_dry dry)
{
	struct zone_magazine *magazine = &heap->magazines[number];
	struct zone_bin *bin = &heap->bins[number];
	const unsigned most =
		magazine->limit < ZONE_MOVE ? magazine->limit : ZONE_MOVE;
	unsigned count = 0;

	/* while there are own blocks, what others send may gather */
	heap->refills++;
	if ((bin->head == 0 || heap->refills % HARVEST_EACH == 0) &&
	    atomic_load_explicit(&heap->remote.summary, memory_order_relaxed) !=
		    0)
		zone_heap_harvest(heap, ZONE_BLOCKS_MAX / 64);
	if (bin->head == 0 && !add_slab(heap, number, dry))
		return false;
	count = zone_slab_take(bin->head, magazine->slot, most);
	if (zone_region.slabs[bin->head].free_count == 0)
		unlink_slab(bin, bin->head);
	zone_bump(&bin->free, -(int64_t)count);
	magazine->bottom = 0;
	magazine->top = count;
	return true;
}

/* Blocks of one word of one slab, on their way home. */
struct parcel {
	uint32_t unit;
	unsigned word;
	uint64_t bits;
};

static RT_SAFE void
deliver(struct zone_heap *heap, const struct parcel *parcel)
{
	const uint32_t tag = zone_tag_of(parcel->unit);
	ATOMIC(uint64_t) *words = NULL;

	if (tag >> ZONE_TAG_SHIFT == heap->unit) {
		take_back(heap, parcel->unit, parcel->word, parcel->bits);
		return;
	}
	words = zone_slab_remote_words(
		parcel->unit,
		&zone_classes[(tag & ZONE_KIND_MASK) - ZONE_KIND_SLAB]);
	if (!zone_remote_free(&zone_heap_at(tag >> ZONE_TAG_SHIFT)->remote,
			      parcel->unit, &words[parcel->word],
			      parcel->bits)) {
		RT_EXCEPTION("the process ends here")
		{
			zone_fail("freed twice", zone_unit_at(parcel->unit));
		}
	}
}

static RT_SAFE void
add_to_parcel(struct zone_heap *heap, struct parcel *parcel, uintptr_t block)
{
	const uint32_t unit = unit_of(block);
	const unsigned number =
		(zone_tag_of(unit) & ZONE_KIND_MASK) - ZONE_KIND_SLAB;
	const unsigned index =
		zone_block_of(&zone_classes[number], block % ZONE_UNIT_BYTES);
	const uint64_t bit = UINT64_C(1) << index % 64;

	if (parcel->bits != 0 &&
	    (parcel->unit != unit || parcel->word != index / 64 ||
	     (parcel->bits & bit) != 0)) {
		deliver(heap, parcel);
		parcel->bits = 0;
	}
	parcel->unit = unit;
	parcel->word = index / 64;
	parcel->bits |= bit;
}

void
zone_heap_send_all(struct zone_heap *heap)
{
	struct parcel parcel = {0};
	unsigned i = 0;

	for (i = 0; i < heap->outgoing; i++)
		add_to_parcel(heap, &parcel, heap->outbox[i]);
	heap->outgoing = 0;
	if (parcel.bits != 0)
		deliver(heap, &parcel);
}

/* Looks at all first, so that their cache misses overlap. */
void
zone_heap_flush(struct zone_heap *heap, unsigned number, unsigned count)
{
	struct zone_magazine *magazine = &heap->magazines[number];
	struct parcel parcel = {0};
	unsigned i = 0;

	for (i = 0; i < count; i++)
		__builtin_prefetch(&zone_region.slabs[unit_of(
			magazine->slot[(magazine->bottom + i) %
				       ZONE_MAGAZINE_MAX])]);
	for (i = 0; i < count; i++) {
		add_to_parcel(
			heap, &parcel,
			magazine->slot[magazine->bottom % ZONE_MAGAZINE_MAX] &
				~(uintptr_t)1);
		magazine->bottom++;
	}
	if (parcel.bits != 0)
		deliver(heap, &parcel);
}

static void
prepare(struct zone_heap *heap, uint32_t unit, bool is_private, bool realtime)
{
	const bool home = is_private || realtime;
	unsigned i = 0;

	if ((zone_region.slabs[unit].flags & ZONE_UNIT_ZERO) == 0)
		memset(heap, 0, sizeof(*heap));
	zone_region.slabs[unit].flags &= ~(uint32_t)ZONE_UNIT_ZERO;
	heap->unit = unit;
	heap->tag = unit << ZONE_TAG_SHIFT | (home ? ZONE_TAG_HOME : 0);
	heap->is_private = is_private;
	heap->realtime = realtime;
	for (i = 0; i < ZONE_CLASSES; i++)
		heap->magazines[i].limit = zone_classes[i].magazine;
	zone_tag_set(unit, unit << ZONE_TAG_SHIFT | ZONE_KIND_HEAP);
}

struct zone_heap *
zone_heap_new(bool is_private, bool realtime)
{
	const bool home = is_private || realtime;
	uint32_t unit = home ? zone_unit_take_locked() : 0;
	struct zone_heap *heap = NULL;

	if (unit == 0) {
		unit = zone_unit_take();
		if (unit != 0 && home)
			(void)zone_pages_populate(zone_unit_at(unit),
						  ZONE_UNIT_BYTES);
	}
	if (unit == 0)
		return NULL;
	heap = zone_heap_at(unit);
	prepare(heap, unit, is_private, realtime);
	zone_count(&zone_region.figures.heaps, 1);
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

/* Empty slabs that were kept. */
static void
release_empty(struct zone_heap *heap, unsigned number)
{
	const uint16_t blocks = zone_classes[number].blocks;
	uint32_t unit = heap->bins[number].head;

	while (unit != 0) {
		const uint32_t next = zone_region.slabs[unit].next;

		if (zone_region.slabs[unit].free_count == blocks)
			release_slab(heap, number, unit);
		unit = next;
	}
}

void
zone_heap_trim(struct zone_heap *heap)
{
	unsigned number = 0;

	zone_heap_send_all(heap);
	for (number = 0; number < ZONE_CLASSES; number++) {
		const struct zone_magazine *magazine = &heap->magazines[number];

		zone_heap_flush(heap, number, magazine->top - magazine->bottom);
	}
	zone_heap_harvest(heap, UINT32_MAX);
	for (number = 0; number < ZONE_CLASSES; number++)
		release_empty(heap, number);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bin.c - the slabs of a heap, class by class: how a magazine is filled from
 * them, and how blocks that were freed come back to them.
 *
 *   bin->free   = free bits of all slabs of the class
 *   each slab is on one of two lists: some (it has a free bit) or full
 *   slab's blocks = free bits + remote bits + in magazines + in use
 *
 * An empty slab is kept while its class has few free blocks elsewhere.
 *
 * What others freed is looked for when a class runs out: first in those of its
 * slabs that have been full for the longest, whose bits have had the most time
 * to gather, then wherever there is a flag. Bits that are taken without their
 * flag leave a flag that means nothing. */
#include "lib/zone/parts.h"

enum {
	HARVEST_EACH = 64,  /* refills between two harvests, at most */
	HARVEST_WORDS = 64, /* looked at in a call, at most */
	FULL_LOOKS = 4,     /* at full slabs of the class that ran out */
	TEND_EACH_BYTES = 1024 * 1024,
};

static struct zone_list *
list_of(struct zone_bin *bin, bool some)
{
	return some ? &bin->some : &bin->full;
}

static RT_SAFE void
link_slab(struct zone_bin *bin, uint32_t unit, bool some)
{
	struct zone_slab *slabs = zone_region.slabs;
	struct zone_list *list = list_of(bin, some);

	slabs[unit].next = 0;
	slabs[unit].previous = list->tail;
	if (list->tail != 0)
		slabs[list->tail].next = unit;
	else
		list->head = unit;
	list->tail = unit;
	slabs[unit].listed = some;
}

static RT_SAFE void
unlink_slab(struct zone_bin *bin, uint32_t unit)
{
	struct zone_slab *slabs = zone_region.slabs;
	const struct zone_slab *slab = &slabs[unit];
	struct zone_list *list = list_of(bin, slab->listed);

	if (slab->previous != 0)
		slabs[slab->previous].next = slab->next;
	else
		list->head = slab->next;
	if (slab->next != 0)
		slabs[slab->next].previous = slab->previous;
	else
		list->tail = slab->previous;
}

static RT_SAFE void
move_slab(struct zone_bin *bin, uint32_t unit, bool some)
{
	unlink_slab(bin, unit);
	link_slab(bin, unit, some);
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

	unlink_slab(bin, unit);
	zone_tag_set(unit, ZONE_KIND_NONE);
	if (heap->realtime && heap->reserved < ZONE_RESERVE_UNITS &&
	    (zone_region.slabs[unit].flags & ZONE_UNIT_LOCKED) != 0) {
		heap->reserve[heap->reserved] = unit;
		heap->reserved++;
	} else if (!zone_unit_give(unit)) {
		zone_slab_open(heap, unit, number);
		link_slab(bin, unit, true);
		return;
	}
	zone_bump(&bin->slabs, -1);
	zone_bump(&bin->free, -(int64_t) class->blocks);
	add_units(heap, -1);
}

/* Now and then what has long been free is looked for. */
static RT_SAFE void
note_traffic(struct zone_heap *heap, unsigned number, unsigned count)
{
	heap->traffic += count * zone_classes[number].size;
	heap->bins[number].used = true;
	if (heap->traffic < TEND_EACH_BYTES)
		return;
	heap->traffic = 0;
	if (zone_self.realtime || (heap->tag & ZONE_TAG_HOME) != 0)
		return;
	RT_EXCEPTION("a thread that is not marked")
	{
		zone_heap_tend(heap);
	}
}

void
zone_heap_take_back(struct zone_heap *heap, uint32_t unit, unsigned word,
		    uint64_t bits)
{
	struct zone_slab *slab = &zone_region.slabs[unit];
	const unsigned number = slab->number;
	const struct zone_class *class = &zone_classes[number];
	struct zone_bin *bin = &heap->bins[number];
	const unsigned count = zone_bits_in(bits);

	if (!zone_slab_put(unit, word, bits)) {
		RT_EXCEPTION("the process ends here")
		{
			zone_fail("freed twice", zone_unit_at(unit));
		}
	}
	zone_bump(&bin->free, count);
	bin->returned += count;
	if (!slab->listed)
		move_slab(bin, unit, true);
	if (slab->free_count == class->blocks &&
	    atomic_load_explicit(&bin->free, memory_order_relaxed) >=
		    (uint32_t) class->blocks + ZONE_MOVE)
		release_slab(heap, number, unit);
	note_traffic(heap, number, count);
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
		zone_heap_take_back(heap, unit, i, bits);
		if (!is_own_slab(heap, unit))
			break; /* that was the last one, it is given away */
	}
	return class->words;
}

/* All slabs whose flag it is. Returns how many words were looked at, at least
 * one for each. */
static RT_SAFE unsigned
harvest_slot(struct zone_heap *heap, uint32_t slot)
{
	const uint32_t tracts = zone_tracts();
	unsigned done = 0;
	uint32_t i = 0;

	for (i = 0; i < tracts; i++) {
		const struct zone_tract *tract = &zone_region.tract[i];
		const uint32_t low = zone_tract_low(tract);
		uint32_t unit = tract->first +
				(slot - tract->first) % ZONE_PENDING_SLOTS;

		for (; unit < low; unit += ZONE_PENDING_SLOTS)
			done += is_own_slab(heap, unit)
					? harvest_slab(heap, unit)
					: 1;
	}
	return done;
}

void
zone_heap_harvest(struct zone_heap *heap, unsigned words)
{
	uint32_t slot = 0;
	unsigned done = 0;

	zone_bump(&heap->harvests, 1);
	while (done < words &&
	       atomic_load_explicit(&heap->remote.summary,
				    memory_order_relaxed) != 0) {
		done++;
		if (!zone_remote_take_slot(&heap->remote, &slot))
			continue;
		done += harvest_slot(heap, slot);
	}
}

void
zone_heap_heed(struct zone_heap *heap)
{
	if (atomic_load_explicit(&heap->asked, memory_order_relaxed) == 0)
		return;
	atomic_store_explicit(&heap->asked, 0, memory_order_relaxed);
	zone_heap_harvest(heap,
			  zone_self.realtime ? HARVEST_WORDS : UINT32_MAX);
}

/* For those threads that may not do it. */
static RT_SAFE void
wake_janitor(void)
{
	if (atomic_load_explicit(&zone_region.wanted, memory_order_relaxed) !=
		    0 &&
	    !zone_self.realtime) {
		RT_EXCEPTION("a thread that is not marked")
		{
			zone_janitor_wake();
		}
	}
}

/* A class has run out: what others have freed of its full slabs. */
static RT_SAFE void
harvest_class(struct zone_heap *heap, unsigned number)
{
	struct zone_bin *bin = &heap->bins[number];
	unsigned looks = 0;

	for (looks = 0; looks < FULL_LOOKS && bin->full.head != 0; looks++) {
		const uint32_t unit = bin->full.head;

		(void)harvest_slab(heap, unit);
		if (bin->some.head != 0)
			return;
		move_slab(bin, unit, false); /* others' turn next time */
	}
}

static RT_SAFE bool
has_remote(struct zone_heap *heap)
{
	return atomic_load_explicit(&heap->remote.summary,
				    memory_order_relaxed) != 0;
}

static RT_SAFE void
collect(struct zone_heap *heap, unsigned number)
{
	const struct zone_bin *bin = &heap->bins[number];

	zone_heap_heed(heap);
	wake_janitor();
	heap->refills++;
	if (!has_remote(heap))
		return;
	if (bin->some.head == 0)
		harvest_class(heap, number);
	if (bin->some.head == 0 || heap->refills % HARVEST_EACH == 0)
		zone_heap_harvest(heap, HARVEST_WORDS);
}

/* A unit for a slab, by the rules for who asks. */
static RT_SAFE uint32_t
supply(struct zone_heap *heap, enum zone_dry dry)
{
	uint32_t unit = 0;

	if (heap->is_private &&
	    atomic_load_explicit(&heap->units, memory_order_relaxed) >=
		    heap->limit_units)
		return 0;
	if (zone_self.realtime) {
		unit = zone_unit_take_locked();
		if (unit == 0)
			unit = zone_reserve_take();
		if (unit != 0)
			return unit;
		zone_count_dry(dry);
		if (dry == ZONE_DRY_NULL)
			return 0;
	}
	RT_EXCEPTION("not marked; or a library's malloc that must not fail")
	{
		unit = zone_unit_take();
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
	link_slab(bin, unit, true);
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
	const unsigned limit = zone_classes[number].magazine;
	const unsigned most = limit < ZONE_MOVE ? limit : ZONE_MOVE;
	struct zone_bin *bin = &heap->bins[number];
	unsigned count = 0;
	uint32_t unit = 0;

	collect(heap, number);
	if (bin->some.head == 0 && !add_slab(heap, number, dry))
		return false;
	unit = bin->some.head;
	count = zone_slab_take(unit, heap->slots[number], most);
	if (zone_region.slabs[unit].free_count == 0)
		move_slab(bin, unit, false);
	zone_bump(&bin->free, -(int64_t)count);
	heap->heads[number].bottom = 0;
	heap->heads[number].top = count;
	note_traffic(heap, number, count);
	return true;
}

void
zone_bin_release_empty(struct zone_heap *heap, unsigned number)
{
	const uint16_t blocks = zone_classes[number].blocks;
	uint32_t unit = heap->bins[number].some.head;

	while (unit != 0) {
		const uint32_t next = zone_region.slabs[unit].next;

		if (zone_region.slabs[unit].free_count == blocks)
			release_slab(heap, number, unit);
		unit = next;
	}
}

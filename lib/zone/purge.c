/* SPDX-License-Identifier: GPL-3.0-or-later */
/* purge.c - pages of slabs that hold free blocks only, told from the free bits
 * and given back to the kernel one run at a time. The blocks stay free where
 * they are; a page comes back by being touched.
 *
 * When: a program that frees much often wants as much again at once. So either
 * a class must have lain idle for some time, or be of some size and nearly all
 * free. The time is only looked at when many bytes have moved; who does nothing
 * gives nothing back, but for what the janitor trims.
 *
 * slab->purged has a bit for each page that was given back and from which no
 * block has been taken since: those cost no second call. Reserved memory is
 * never given back here. */
#include "lib/zone/parts.h"

#include <time.h>

enum {
	PAGES = ZONE_UNIT_BYTES / ZONE_PAGE_MAX,
	IDLE_MS = 10,
	BIG_BYTES = 1024 * 1024,
};

static_assert(PAGES <= 16, "a bit each");

/* Are the bits first..last of the words all set? */
static bool
all_set(const uint64_t *words, unsigned first, unsigned last)
{
	unsigned word = 0;

	for (word = first / 64; word <= last / 64; word++) {
		uint64_t wanted = UINT64_MAX;

		if (word == first / 64)
			wanted &= UINT64_MAX << first % 64;
		if (word == last / 64)
			wanted &= UINT64_MAX >> (63 - last % 64);
		if ((words[word] & wanted) != wanted)
			return false;
	}
	return true;
}

static bool
is_idle(uint32_t unit, const struct zone_class *class, unsigned page)
{
	const struct zone_slab *slab = &zone_region.slabs[unit];
	const unsigned first = zone_block_of(class, page * ZONE_PAGE_MAX);
	unsigned last = zone_block_of(class, (page + 1) * ZONE_PAGE_MAX - 1);

	/* never touched, so there is nothing to give */
	if (first >= slab->fresh)
		return false;
	if (last >= class->blocks)
		last = class->blocks - 1U;
	return all_set(zone_slab_free_words(unit, class), first, last);
}

static void
purge_slab(uint32_t unit, const struct zone_class *class)
{
	struct zone_slab *slab = &zone_region.slabs[unit];
	unsigned page = 0, end = 0;

	for (page = 0; page < PAGES; page = end + 1) {
		for (end = page; end < PAGES; end++)
			if ((slab->purged >> end & 1) != 0 ||
			    !is_idle(unit, class, end))
				break;
		if (end == page)
			continue;
		if (!zone_pages_purge(zone_unit_at(unit) +
					      (size_t)page * ZONE_PAGE_MAX,
				      (size_t)(end - page) * ZONE_PAGE_MAX))
			return;
		zone_count(&zone_region.figures.purged_pages, end - page);
		slab->purged |= (uint16_t)((1U << end) - (1U << page));
	}
}

void
zone_bin_purge(struct zone_heap *heap, unsigned number)
{
	const struct zone_class *class = &zone_classes[number];
	const struct zone_slab *slabs = zone_region.slabs;
	uint32_t unit = 0;

	if (atomic_load_explicit(&zone_region.purge_above,
				 memory_order_relaxed) == UINT32_MAX)
		return;
	for (unit = heap->bins[number].some.head; unit != 0;
	     unit = slabs[unit].next)
		if ((slabs[unit].flags & ZONE_UNIT_LOCKED) == 0 &&
		    (size_t)slabs[unit].free_count * class->size >=
			    ZONE_PAGE_MAX)
			purge_slab(unit, class);
}

/* Big, at least three quarters free, and a sixteenth of it freed since. */
static bool
is_bare(const struct zone_bin *bin, const struct zone_class *class)
{
	const uint64_t all =
		(uint64_t) class->blocks *
		atomic_load_explicit(&bin->slabs, memory_order_relaxed);
	const uint64_t unused =
		atomic_load_explicit(&bin->free, memory_order_relaxed);

	return all * class->size >= BIG_BYTES && unused >= all / 4 * 3 &&
	       bin->returned >= all / 16;
}

static uint32_t
time_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint32_t)(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

void
zone_heap_tend(struct zone_heap *heap)
{
	const uint32_t now_ms = time_ms();
	unsigned number = 0;

	for (number = 0; number < ZONE_CLASSES; number++) {
		struct zone_bin *bin = &heap->bins[number];

		if (bin->used)
			bin->used_ms = now_ms;
		bin->used = false;
		if (bin->returned == 0 ||
		    (now_ms - bin->used_ms < IDLE_MS &&
		     !is_bare(bin, &zone_classes[number])))
			continue;
		bin->returned = 0;
		zone_bin_purge(heap, number);
	}
	zone_units_decay(now_ms);
}

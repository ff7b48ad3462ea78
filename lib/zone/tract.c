/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tract.c - the address space: one tract in all but a few processes, and more
 * of them where the first had to be small.
 *
 *   units      | 0 ............ | ............ | ....... |   numbered through
 *   tracts     |       0        |      1       |    2    |
 *   addresses      anywhere         anywhere    anywhere
 *
 * A tract's units are numbered on from those of the one before, so that the
 * side arrays are one for all: they are laid out for twice the units of the
 * first. What lies in the first is found by one subtraction; anything else by a
 * look at each of the others, of which there are few: each is an eighth of the
 * first, or what is asked for when that is more, or what is to be had.
 *
 * Who finds all of them used up adds one, and does not wait for another thread
 * that is at it already; then it takes a small one. A place of the table is
 * claimed, filled in, and there from the moment that its number of units is.
 * Nothing of a tract is ever unmapped once it is there. */
#include "lib/zone/parts.h"

#include <sys/mman.h>

enum { TRACT_SHARE = 8, SMALL_SHARE = 32 };

static char *
align_up(char *at, size_t step)
{
	return at + (step - (uintptr_t)at % step) % step;
}

static RT_SAFE uint32_t
units_of(const struct zone_tract *tract)
{
	return atomic_load_explicit(&tract->units, memory_order_acquire);
}

char *
zone_tract_unit_at(uint32_t unit)
{
	const uint32_t count = zone_tracts();
	uint32_t i = 0;

	for (i = 1; i < count; i++) {
		const struct zone_tract *tract = &zone_region.tract[i];

		if (units_of(tract) > 0 && unit - tract->first < tract->units)
			return tract->base + ((size_t)(unit - tract->first)
					      << ZONE_UNIT_SHIFT);
	}
	return zone_region.base; /* of no unit: not reached */
}

uint32_t
zone_tract_unit_of(uintptr_t block)
{
	const uint32_t count = zone_tracts();
	uint32_t i = 0;

	for (i = 1; i < count; i++) {
		const struct zone_tract *tract = &zone_region.tract[i];
		const uint32_t units = units_of(tract);
		uintptr_t offset = 0;

		/* Before it is there its base is not to be looked at. */
		if (units == 0)
			continue;
		offset = block - (uintptr_t)tract->base;
		if (offset >> ZONE_UNIT_SHIFT < units)
			return tract->first +
			       (uint32_t)(offset >> ZONE_UNIT_SHIFT);
	}
	return 0;
}

uint32_t
zone_tract_low(const struct zone_tract *tract)
{
	return units_of(tract) == 0
		       ? tract->first
		       : (uint32_t)atomic_load_explicit(&tract->frontier,
							memory_order_relaxed);
}

uint32_t
zone_unit_after(uint32_t unit)
{
	const uint32_t count = zone_tracts();
	uint32_t i = 0;

	for (i = 0; i < count; i++) {
		const struct zone_tract *tract = &zone_region.tract[i];
		uint32_t next = unit + 1;

		if (units_of(tract) == 0)
			continue;
		if (next < tract->first)
			next = tract->first;
		if (next < zone_tract_low(tract))
			return next;
	}
	return 0;
}

/* Numbers for so many units and a place in the table, at once: the order of
 * the one is that of the other. */
static struct zone_tract *
claim(uint32_t units, uint32_t *ret_first)
{
	struct zone_region *region = &zone_region;
	uint64_t old = atomic_load(&region->claimed);

	do {
		if ((uint32_t)old >= ZONE_TRACTS ||
		    units > region->entries - (uint32_t)(old >> 32))
			return NULL;
	} while (!atomic_compare_exchange_weak(
		&region->claimed, &old, old + ((uint64_t)units << 32) + 1));
	*ret_first = (uint32_t)(old >> 32);
	return &region->tract[(uint32_t)old];
}

static bool
add(uint32_t units)
{
	const size_t bytes = (size_t)units << ZONE_UNIT_SHIFT;
	char *at = zone_kernel_reserve(bytes + ZONE_UNIT_BYTES);
	struct zone_tract *tract = NULL;
	uint32_t first = 0;

	if (at == NULL)
		return false;
	tract = claim(units, &first);
	if (tract == NULL) {
		(void)munmap(at, bytes + ZONE_UNIT_BYTES);
		return false;
	}
	tract->base = align_up(at, ZONE_UNIT_BYTES);
	tract->first = first;
	atomic_store(&tract->frontier, (uint64_t)(first + units) << 32 | first);
	(void)zone_kernel_advise(tract->base, bytes, MADV_NOHUGEPAGE);
	atomic_store_explicit(&tract->units, units, memory_order_release);
	return true;
}

bool
zone_tract_add(uint32_t seen, uint32_t least)
{
	struct zone_region *region = &zone_region;
	const bool alone = atomic_exchange(&region->extending, 1) == 0;
	uint32_t units = region->units / (alone ? TRACT_SHARE : SMALL_SHARE);
	bool done = false;

	if (least < ZONE_EXTENT_UNITS)
		least = ZONE_EXTENT_UNITS;
	done = zone_tracts() != seen;
	for (; !done && units > least; units /= 2)
		done = add(units);
	if (!done)
		done = add(least);
	if (alone)
		atomic_store(&region->extending, 0);
	return done;
}

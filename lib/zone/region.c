/* SPDX-License-Identifier: GPL-3.0-or-later */
/* region.c - the reservation: address space only, made usable in extents.
 *
 *   | bits | slabs | tags | unit 0 | 1 .. low | nobody's | high .. units |
 *
 * Slabs and heaps grow up from unit 1, spans down from the end; low and high
 * are one word, moved by one exchange. When they meet, a further tract has its
 * own of both (tract.c). Entries of the side arrays are committed for 1024
 * units at once, since an mprotect() of what is usable already does no harm:
 * two threads may do it at the same time. Tags can be read from the start, so
 * any pointer into the reservation can be asked what it is.
 *
 * Nothing of it is ever unmapped. */
#include "lib/zone/parts.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum {
	PAGE_LEAST = 4096,
	UNITS_LEAST = 128,
	PURGE_BATCH = 24,
	READY_MOST = (15 << 18) / ZONE_UNIT_BYTES,
	DECAY_MS = 10,
};

enum {
	UNITS_MOST = 256 << (30 - ZONE_UNIT_SHIFT),
	GRANULES_MAX = 2 * UNITS_MOST / ZONE_GRANULE_UNITS,
};

struct zone_region zone_region;

static ATOMIC(uint8_t) granules[GRANULES_MAX];

void
zone_count(ATOMIC(uint64_t) * figure, uint64_t more)
{
	atomic_fetch_add_explicit(figure, more, memory_order_relaxed);
}

/* Half of what the process may map: the rest is for libraries and stacks. */
static uint64_t
wanted_units(void)
{
	struct rlimit limit;
	uint64_t units = UNITS_MOST;

	if (getrlimit(RLIMIT_AS, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur / 2 / ZONE_UNIT_BYTES < units)
		units = limit.rlim_cur / 2 / ZONE_UNIT_BYTES;
	return units;
}

static size_t
round_up(size_t value, size_t step)
{
	return (value + step - 1) / step * step;
}

/* Half of what there are addresses for, as well: 1 GiB of 4. */
static bool
fits_addresses(uint32_t units)
{
	const uint64_t entry_bytes = sizeof(struct zone_bits) +
				     sizeof(struct zone_slab) +
				     sizeof(*zone_region.tags);

	return units * (ZONE_UNIT_BYTES + 2 * entry_bytes) <= SIZE_MAX / 2;
}

static bool
map(uint32_t units)
{
	struct zone_region *region = &zone_region;
	const size_t entries = round_up(2 * (size_t)units, ZONE_GRANULE_UNITS);
	const size_t bits = entries * sizeof(struct zone_bits);
	const size_t slabs = entries * sizeof(struct zone_slab);
	const size_t tags = entries * sizeof(*region->tags);
	const size_t units_bytes = (size_t)units << ZONE_UNIT_SHIFT;
	char *at = zone_kernel_reserve(bits + slabs + tags + ZONE_UNIT_BYTES +
				       units_bytes);
	uintptr_t base = 0;

	if (at == NULL)
		return false;
	if (mprotect(at + bits + slabs, tags, PROT_READ) != 0) {
		(void)munmap(at, bits + slabs + tags + ZONE_UNIT_BYTES +
					 units_bytes);
		return false;
	}
	region->bits = (struct zone_bits *)(void *)at;
	region->slabs = (struct zone_slab *)(void *)(at + bits);
	region->tags = (ATOMIC(uint32_t) *)(void *)(at + bits + slabs);
	base = round_up((uintptr_t)at + bits + slabs + tags, ZONE_UNIT_BYTES);
	region->base = at + (base - (uintptr_t)at);
	region->bytes = units_bytes;
	region->units = units;
	region->entries = (uint32_t)entries;
	atomic_store(&region->tract[0].frontier, (uint64_t)units << 32 | 1);
	region->tract[0].base = region->base;
	atomic_store(&region->tract[0].units, units);
	atomic_store(&region->claimed, (uint64_t)units << 32 | 1);
	/* a huge page would make a block of 16 bytes resident as 2 MiB */
	(void)zone_kernel_advise(region->base, units_bytes, MADV_NOHUGEPAGE);
	return true;
}

static bool
make(void)
{
	uint64_t units = wanted_units();

	while (units >= UNITS_LEAST) {
		if (fits_addresses((uint32_t)units) && map((uint32_t)units))
			return true;
		units /= 2;
	}
	return false;
}

/* Another thread is at it, for the length of a few system calls; unless it is
 * ourselves, in a malloc from inside of them. */
static uint32_t
await_state(void)
{
	uint32_t state = atomic_load(&zone_region.state);

	while (state == ZONE_INITIALISING && !zone_self.initialising) {
		(void)sched_yield();
		state = atomic_load(&zone_region.state);
	}
	return state;
}

bool
zone_region_init(void)
{
	struct zone_region *region = &zone_region;
	uint32_t state = ZONE_UNBORN;
	const int saved_errno = errno;

	if (!atomic_compare_exchange_strong(&region->state, &state,
					    ZONE_INITIALISING))
		return await_state() == ZONE_READY;
	zone_self.initialising = true;
	atomic_store(&region->purge_above, READY_MOST);
	atomic_store(&region->spans_hot_limit, UINT64_C(32) << 20);
	state = make() && zone_thread_init() == 0 ? ZONE_READY : ZONE_REFUSED;
	if (state == ZONE_REFUSED) {
		region->units = 0;
		region->bytes = 0;
	}
	if (zone_system_prepare != NULL)
		zone_system_prepare();
	zone_self.initialising = false;
	atomic_store(&region->state, state);
	errno = saved_errno;
	return state == ZONE_READY;
}

static bool
commit_entries(uint32_t unit)
{
	struct zone_region *region = &zone_region;
	const uint32_t granule = unit / ZONE_GRANULE_UNITS;
	const size_t first = (size_t)granule * ZONE_GRANULE_UNITS;

	if (atomic_load_explicit(&granules[granule], memory_order_acquire) != 0)
		return true;
	if (zone_kernel_protect((void *)(uintptr_t)&region->tags[first],
				ZONE_GRANULE_UNITS * sizeof(*region->tags)) <
		    0 ||
	    zone_kernel_protect(&region->slabs[first],
				ZONE_GRANULE_UNITS * sizeof(*region->slabs)) <
		    0 ||
	    zone_kernel_protect(&region->bits[first],
				ZONE_GRANULE_UNITS * sizeof(*region->bits)) < 0)
		return false;
	atomic_store_explicit(&granules[granule], 1, memory_order_release);
	return true;
}

bool
zone_region_commit_entry(uint32_t unit)
{
	return commit_entries(unit);
}

static uint32_t
low_of(uint64_t frontier)
{
	return (uint32_t)frontier;
}

static uint32_t
high_of(uint64_t frontier)
{
	return (uint32_t)(frontier >> 32);
}

static uint64_t
frontier_of(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

enum side { SIDE_SLABS, SIDE_SPANS };

/* Of one tract's; 0: it has not as many. */
static uint32_t
move_frontier(ATOMIC(uint64_t) * frontier, uint32_t units, enum side side,
	      uint64_t *ret_old, uint64_t *ret_moved)
{
	uint64_t old = atomic_load(frontier);
	uint64_t moved = 0;

	do {
		if (high_of(old) - low_of(old) < units)
			return 0;
		moved = side == SIDE_SLABS
				? frontier_of(low_of(old) + units, high_of(old))
				: frontier_of(low_of(old),
					      high_of(old) - units);
	} while (!atomic_compare_exchange_weak(frontier, &old, moved));
	*ret_old = old;
	*ret_moved = moved;
	return side == SIDE_SLABS ? low_of(old) : high_of(moved);
}

/* Entries of a span are needed for its first unit only. */
static bool
commit(uint32_t first, uint32_t units, enum side side)
{
	return commit_entries(first) &&
	       (side == SIDE_SPANS || commit_entries(first + units - 1)) &&
	       zone_kernel_protect(zone_unit_at(first),
				   (size_t)units << ZONE_UNIT_SHIFT) == 0;
}

/* False: no tract has as many. */
static bool
take_from_tracts(uint32_t units, enum side side, uint32_t seen,
		 uint32_t *ret_first)
{
	uint32_t i = 0;

	for (i = 0; i < seen; i++) {
		struct zone_tract *tract = &zone_region.tract[i];
		uint64_t old = 0, moved = 0;
		uint32_t first = 0;

		if (atomic_load(&tract->units) == 0)
			continue;
		first = move_frontier(&tract->frontier, units, side, &old,
				      &moved);
		if (first == 0)
			continue;
		*ret_first = first;
		if (commit(first, units, side))
			return true;
		/* back, unless others went on from there */
		(void)atomic_compare_exchange_strong(&tract->frontier, &moved,
						     old);
		*ret_first = 0;
		return true;
	}
	return false;
}

static uint32_t
extend(uint32_t units, enum side side)
{
	uint32_t first = 0, seen = 0;

	do {
		seen = zone_tracts();
		if (take_from_tracts(units, side, seen, &first))
			return first;
	} while (zone_tract_add(seen, units));
	return 0;
}

uint32_t
zone_region_extend(uint32_t units)
{
	const uint32_t first = extend(units, SIDE_SLABS);
	uint32_t i = 0;

	for (i = 0; first != 0 && i < units; i++)
		zone_region.slabs[first + i].flags = ZONE_UNIT_ZERO;
	return first;
}

uint32_t
zone_region_extend_span(uint32_t units)
{
	const uint32_t first = extend(units, SIDE_SPANS);

	if (first != 0)
		zone_region.slabs[first].flags = ZONE_UNIT_ZERO;
	return first;
}

static uint32_t
take_extent(void)
{
	struct zone_region *region = &zone_region;
	uint32_t units = ZONE_EXTENT_UNITS;
	uint32_t first = zone_region_extend(units);

	if (first == 0) {
		units = 1;
		first = zone_region_extend(units);
		zone_count(&region->figures.small_extents, first != 0);
	}
	while (first != 0 && units > 1) {
		units--;
		(void)zone_stack_push(&region->cold, region->slabs,
				      first + units, ZONE_STACK_FOREVER);
	}
	return first;
}

static void
note_ready_least(void)
{
	const uint32_t count = zone_stack_count(&zone_region.ready);

	if (count < atomic_load_explicit(&zone_region.ready_least,
					 memory_order_relaxed))
		atomic_store_explicit(&zone_region.ready_least, count,
				      memory_order_relaxed);
}

uint32_t
zone_unit_take(void)
{
	struct zone_region *region = &zone_region;
	uint32_t unit = zone_stack_pop(&region->ready, region->slabs,
				       ZONE_STACK_FOREVER);

	note_ready_least();
	if (unit == 0)
		unit = zone_stack_pop(&region->cold, region->slabs,
				      ZONE_STACK_FOREVER);
	return unit != 0 ? unit : take_extent();
}

uint32_t
zone_unit_take_locked(void)
{
	struct zone_region *region = &zone_region;
	const uint32_t unit = zone_stack_pop(&region->locked, region->slabs,
					     ZONE_STACK_TRIES);

	if (zone_stack_count(&region->locked) <
	    atomic_load_explicit(&region->locked_low, memory_order_relaxed))
		zone_janitor_want();
	return unit;
}

bool
zone_unit_give(uint32_t unit)
{
	struct zone_region *region = &zone_region;
	const bool locked = (region->slabs[unit].flags & ZONE_UNIT_LOCKED) != 0;
	struct zone_stack *stack = locked ? &region->locked : &region->ready;
	const unsigned tries =
		zone_self.realtime ? ZONE_STACK_TRIES : ZONE_STACK_FOREVER;

	if (!zone_stack_push(stack, region->slabs, unit, tries))
		return false;
	if (!zone_self.realtime &&
	    zone_stack_count(&region->ready) >
		    atomic_load_explicit(&region->purge_above,
					 memory_order_relaxed)) {
		RT_EXCEPTION("a thread that is not marked")
		{
			zone_units_purge(PURGE_BATCH);
		}
	}
	return true;
}

bool
zone_pages_purge(void *at, size_t bytes)
{
	if (zone_kernel_advise(at, bytes, MADV_DONTNEED) == 0)
		return true;
	/* mlockall(): they cannot be given back, so stop trying */
	atomic_store_explicit(&zone_region.purge_above, UINT32_MAX,
			      memory_order_relaxed);
	return false;
}

bool
zone_pages_populate(void *at, size_t bytes)
{
	volatile char *bytes_at = at;
	size_t i = 0;

	if (zone_kernel_advise(at, bytes, MADV_POPULATE_WRITE) == 0)
		return true;
	/* older than Linux 5.14; an unused unit stays zero */
	for (i = 0; i < bytes; i += PAGE_LEAST)
		bytes_at[i] = 0;
	return true;
}

void
zone_units_purge(unsigned most)
{
	struct zone_region *region = &zone_region;

	for (; most > 0; most--) {
		const uint32_t unit = zone_stack_pop(
			&region->ready, region->slabs, ZONE_STACK_FOREVER);

		if (unit == 0)
			return;
		if (zone_pages_purge(zone_unit_at(unit), ZONE_UNIT_BYTES)) {
			region->slabs[unit].flags |= ZONE_UNIT_ZERO;
			zone_count(&region->figures.purged_units, 1);
			(void)zone_stack_push(&region->cold, region->slabs,
					      unit, ZONE_STACK_FOREVER);
			continue;
		}
		(void)zone_stack_push(&region->ready, region->slabs, unit,
				      ZONE_STACK_FOREVER);
		return;
	}
}

/* So many were there all the time. Only a hint: threads may overwrite what
 * another has noted. */
void
zone_units_decay(uint32_t now_ms)
{
	struct zone_region *region = &zone_region;
	const uint32_t since_ms =
		atomic_load_explicit(&region->ready_ms, memory_order_relaxed);
	const uint32_t least = atomic_load_explicit(&region->ready_least,
						    memory_order_relaxed);

	if (now_ms - since_ms < DECAY_MS ||
	    atomic_load_explicit(&region->purge_above, memory_order_relaxed) ==
		    UINT32_MAX)
		return;
	atomic_store_explicit(&region->ready_ms, now_ms, memory_order_relaxed);
	zone_units_purge(least);
	atomic_store_explicit(&region->ready_least,
			      zone_stack_count(&region->ready),
			      memory_order_relaxed);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.c - the allocator, set up for a player on a small machine.
 *
 * At once the reserve holds a heap for each real-time thread, the private
 * reserve of each active decoder, and as much again as one of these; the
 * janitor adds to it while that last part is used, up to reserve_mb. Of freed
 * memory little is kept: a song is opened once in minutes. */
#include "daemon/engine/memory.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/zone/zone.h"

#include <inttypes.h>
#include <string.h>

enum {
	UNIT_BYTES = 64 << 10,
	PRIVATE_UNITS = 4, /* of a marked thread */
	OTHER_THREADS = 2, /* the spare decoder and the output */
	SPAN_CACHE_BYTES = 4 << 20,
	SLAB_CACHE_BYTES = 512 << 10,
	MARK_TRIES = 3,
};

static const int64_t janitor_period_ns = NS_PER_S;

size_t
memory_first_bytes(const struct memory_config *config)
{
	const size_t units = config->decoders * (1 + PRIVATE_UNITS) +
			     OTHER_THREADS + PRIVATE_UNITS;

	return units * UNIT_BYTES;
}

void
memory_up(const struct memory_config *config)
{
	const size_t first_bytes = memory_first_bytes(config);
	struct zone_stats stats;

	if (!zone_is_malloc())
		return;
	zone_span_cache(SPAN_CACHE_BYTES);
	zone_slab_cache(SLAB_CACHE_BYTES);
	if (config->strict)
		zone_realtime_strict();
	if (zone_reserve_upto(first_bytes, config->reserve_bytes > first_bytes
						   ? config->reserve_bytes
						   : first_bytes) < 0) {
		zone_stats(&stats);
		log_warn("engine",
			 "of the memory for real-time threads only %zu KiB "
			 "could be had",
			 stats.locked_free_bytes >> 10);
	}
	if (zone_janitor_start(janitor_period_ns) < 0)
		log_warn("engine", "no thread to look after the allocator");
}

void
memory_down(void)
{
	zone_janitor_stop();
}

bool
memory_mark_thread(void)
{
	unsigned tries;

	if (!zone_is_malloc())
		return false;
	for (tries = 0; tries < MARK_TRIES; tries++) {
		if (zone_thread_realtime(true) == 0)
			return true;
		zone_janitor_pass();
	}
	return false;
}

void
memory_trim(void)
{
	if (zone_is_malloc())
		zone_trim();
}

static const char *
allocator_name(void)
{
	if (zone_is_malloc())
		return "zone";
#ifdef ROTARY_SANITIZED
	return "sanitizer";
#else
	return "system";
#endif
}

static void
add_bytes(struct text *text, const char *name, size_t bytes)
{
	text_printf(text, "zone_%s_bytes: %zu\n", name, bytes);
}

static void
add_count(struct text *text, const char *name, uint64_t count)
{
	text_printf(text, "zone_%s: %" PRIu64 "\n", name, count);
}

static void
add_class(struct text *text, const struct zone_class_stats *class)
{
	if (class->slabs_high == 0)
		return;
	text_printf(text,
		    "zone_class: %zu slabs %zu high %zu blocks %zu remote "
		    "%" PRIu64 "\n",
		    class->size_bytes, class->slabs, class->slabs_high,
		    class->blocks_in_use, class->remote_frees);
}

void
memory_add_figures(struct text *text)
{
	struct zone_stats stats;
	size_t i;

	text_printf(text, "allocator: %s\n", allocator_name());
	if (!zone_is_malloc())
		return;
	zone_stats(&stats);
	add_count(text, "rt_alloc_kernel", stats.rt_alloc_kernel);
	add_count(text, "rt_dry", stats.rt_dry);
	add_bytes(text, "reserve_locked", stats.locked_bytes);
	add_bytes(text, "reserve_not_locked", stats.not_locked_bytes);
	add_bytes(text, "reserve_free", stats.locked_free_bytes);
	add_bytes(text, "address", stats.reserved_bytes);
	add_count(text, "reservations", stats.reservations);
	add_bytes(text, "slab",
		  stats.frontier_bytes - stats.ready_bytes - stats.cold_bytes -
			  stats.locked_free_bytes);
	add_bytes(text, "ready", stats.ready_bytes);
	add_bytes(text, "cold", stats.cold_bytes);
	add_count(text, "spans", stats.spans);
	add_bytes(text, "span", stats.span_bytes);
	add_bytes(text, "span_cache", stats.span_cache_bytes);
	add_count(text, "heaps", stats.heaps);
	add_count(text, "orphans", stats.orphans);
	add_count(text, "adoptions", stats.adoptions);
	add_count(text, "refusals", stats.refusals);
	add_count(text, "kernel_calls", stats.kernel_calls);
	add_count(text, "kernel_failures", stats.kernel_failures);
	add_count(text, "purged_units", stats.purged_units);
	add_count(text, "purged_pages", stats.purged_pages);
	add_count(text, "harvests_asked", stats.harvests_asked);
	add_count(text, "small_extents", stats.small_extents);
	add_count(text, "system_blocks", stats.system_blocks);
	for (i = 0; i < ZONE_STATS_CLASSES; i++)
		add_class(text, &stats.classes[i]);
}

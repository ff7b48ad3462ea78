/* SPDX-License-Identifier: GPL-3.0-or-later */
/* doctor_allocator.c - the daemon's own allocator: is it there, is its memory
 * for real-time threads locked, and is there enough of it. Says nothing without
 * a daemon, or about one that has no such figures. */
#include "remote/cli/cli.h"
#include "remote/cli/doctor.h"
#include "remote/cli/pairs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t
number(const struct pairs *stats, const char *name)
{
	const char *value = pairs_get(stats, name);

	return value != NULL ? strtoull(value, NULL, 10) : 0;
}

/* Of a figure that each real-time thread has. */
static uint64_t
sum(const struct pairs *stats, const char *name)
{
	uint64_t total = 0;
	size_t i = 0;

	for (i = 0; i < stats->count; i++)
		if (strcmp(pairs_name(stats, i), name) == 0)
			total += strtoull(pairs_value(stats, i), NULL, 10);
	return total;
}

static void
check_zone(struct doctor *doctor, const struct pairs *stats)
{
	const uint64_t unlocked =
		number(stats, "zone_reserve_not_locked_bytes");
	const uint64_t ready =
		unlocked + number(stats, "zone_reserve_locked_bytes");
	const uint64_t kernel = number(stats, "zone_rt_alloc_kernel") +
				sum(stats, "reserve_missed");

	if (kernel > 0)
		doctor_say(doctor, DOCTOR_WARN, "allocator",
			   "a larger reserve_mb under [realtime]",
			   "real-time threads went without ready memory "
			   "%" PRIu64 " times",
			   kernel);
	if (unlocked > 0)
		doctor_say(doctor, DOCTOR_WARN, "allocator",
			   "put \"@audio - memlock 65536\" into "
			   "/etc/security/limits.d/rotary.conf and log in "
			   "again",
			   "%" PRIu64 " of the %" PRIu64
			   " KiB for real-time threads are not locked",
			   unlocked >> 10, ready >> 10);
	if (kernel == 0 && unlocked == 0)
		doctor_say(doctor, DOCTOR_OK, "allocator", NULL,
			   "zone: %" PRIu64
			   " KiB ready and locked for real-time threads",
			   ready >> 10);
}

void
doctor_check_allocator(struct doctor *doctor)
{
	const char *name = NULL;
	struct pairs stats = {0};

	if (doctor->cli->client == NULL)
		return;
	if (cli_ask(doctor->cli, &stats, "rtstats") < 0)
		pairs_clear(&stats);
	name = pairs_get(&stats, "allocator");
	if (name != NULL && strcmp(name, "zone") == 0)
		check_zone(doctor, &stats);
	else if (name != NULL)
		doctor_say(doctor, DOCTOR_WARN, "allocator",
			   "a limit on address space (ulimit -v) keeps it out, "
			   "or it was left out when rotaryd was built",
			   "the %s's malloc serves, which may stop real-time "
			   "threads, and no file is held to 64 MiB",
			   name);
	pairs_finish(&stats);
}

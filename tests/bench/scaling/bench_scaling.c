/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_scaling: one measurement, for tests/bench/scaling/figures.
 *
 *   bench_scaling engine|library|sequence|at_once COUNT STREAMS FILE
 *   bench_scaling share|spin COUNT STREAMS FILE
 *
 * share and spin tell what others get of the CPUs (share.c). Else COUNT decoder
 * threads of the engine, or bare processes with an order of their own, decode
 * STREAMS streams of FILE on as many CPUs. Prints lines of a name and a number.
 */
#include "tests/bench/scaling/bench_scaling.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_MAX = 4 };

static void
use_cpus(unsigned count)
{
	cpu_set_t cpus;
	unsigned i;

	CPU_ZERO(&cpus);
	for (i = 0; i < count; i++)
		CPU_SET(i, &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
}

static enum scaling_order
order_of(const char *how)
{
	if (strcmp(how, "at_once") == 0)
		return SCALING_AT_ONCE;
	return strcmp(how, "library") == 0 ? SCALING_BY_LIBRARY
					   : SCALING_IN_SEQUENCE;
}

static int
measure(const char *how, const char *path, unsigned count, unsigned streams)
{
	struct scaling_result figures = {0};
	int result;

	use_cpus(count);
	if (strcmp(how, "share") == 0 || strcmp(how, "spin") == 0)
		scaling_share(path, count, streams, strcmp(how, "spin") == 0);
	if (strcmp(how, "engine") == 0)
		result = scaling_by_engine(path, count, streams, &figures);
	else
		result = scaling_by_processes(path, count, streams,
					      order_of(how), &figures);
	if (result < 0) {
		fprintf(stderr, "bench_scaling: %s: %s\n", path,
			strerror(-result));
		return 1;
	}
	printf("frames %llu\nwall_ns %lld\nlag %.3f\n",
	       (unsigned long long)figures.frames, (long long)figures.wall_ns,
	       figures.lag);
	return 0;
}

int
main(int argc, char *argv[])
{
	const unsigned count =
		argc == 5 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	const unsigned streams =
		argc == 5 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;

	if (count == 0 || count > COUNT_MAX || streams == 0 ||
	    streams > SCALING_STREAMS_MAX) {
		fprintf(stderr, "usage: bench_scaling "
				"engine|library|sequence|at_once|share|spin "
				"COUNT STREAMS FILE\n");
		return 2;
	}
	return measure(argv[1], argv[4], count, streams);
}

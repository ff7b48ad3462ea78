/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_sync: one measurement, for tests/bench/sync/figures, which runs many of
 * them by turns.
 *
 *   bench_sync tail RIVAL one|two SIZE SEED MS
 *   bench_sync pulls RIVAL THREADS MS
 *   bench_sync changes RIVAL SIZE MS
 *   bench_sync primitive NAME MS
 *   bench_sync counters STRIDE THREADS MS */
#include "tests/bench/sync/bench_sync.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned
number(const char *text)
{
	return (unsigned)strtoul(text, NULL, 10);
}

static bool
is(const char *text, const char *other)
{
	return strcmp(text, other) == 0;
}

static int
measure_tail(char *argv[])
{
	const struct tail_spec spec = {
		.rival = rival_find(argv[0]),
		.layout = is(argv[1], "two") ? TAIL_TWO_CPUS : TAIL_ONE_CPU,
		.size = number(argv[2]),
		.seed = number(argv[3]),
		.ms = number(argv[4]),
	};

	if (spec.rival == NULL || spec.size == 0 || spec.size > 200)
		return 2;
	return tail_measure(&spec);
}

static int
measure_pulls(char *argv[])
{
	const struct rival *rival = rival_find(argv[0]);
	const unsigned threads = number(argv[1]);

	if (rival == NULL || threads == 0 || threads > RIVAL_READERS_MAX)
		return 2;
	return cost_of_pulls(rival, threads, number(argv[2]));
}

static int
measure_changes(char *argv[])
{
	const struct rival *rival = rival_find(argv[0]);
	const unsigned size = number(argv[1]);

	if (rival == NULL || size == 0 || size > 200)
		return 2;
	return cost_of_changes(rival, size, number(argv[2]));
}

static int
measure_counters(char *argv[])
{
	const unsigned threads = number(argv[1]);

	if (threads == 0 || threads > RIVAL_READERS_MAX)
		return 2;
	return counters_cost(number(argv[0]), threads, number(argv[2]));
}

int
main(int argc, char *argv[])
{
	int result = 2;

	if (argc == 7 && is(argv[1], "tail"))
		result = measure_tail(argv + 2);
	else if (argc == 5 && is(argv[1], "pulls"))
		result = measure_pulls(argv + 2);
	else if (argc == 5 && is(argv[1], "changes"))
		result = measure_changes(argv + 2);
	else if (argc == 4 && is(argv[1], "primitive"))
		result = primitive_cost(argv[2], number(argv[3]));
	else if (argc == 5 && is(argv[1], "counters"))
		result = measure_counters(argv + 2);
	if (result == 2)
		fprintf(stderr, "bench_sync: see the head of bench_sync.c\n");
	return result;
}

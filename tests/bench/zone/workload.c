/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload.c - runs one workload on whatever malloc there is, and prints a
 * "name value" line for each figure. tests/bench/zone/zone compares allocators.
 *
 * usage: zone_workload NAME [SEED] */
#include "tests/bench/zone/bench.h"

#include <stdbool.h>

static void
storm(uint64_t seed)
{
	bench_storm(seed, 256);
}

static void
stormbig(uint64_t seed)
{
	bench_storm(seed, 320 * 1000);
}

static void
churn(uint64_t seed)
{
	bench_churn(seed, 0);
}

static void
churnrealloc(uint64_t seed)
{
	bench_churn(seed, 30);
}

static void
xfree(uint64_t seed)
{
	bench_xfree(seed, 0);
}

static void
xfreeboth(uint64_t seed)
{
	bench_xfree(seed, 1);
}

static const struct {
	const char *name;
	void (*run)(uint64_t seed);
	bool alone; /* one thread, which is timed */
} workloads[] = {
	{"storm", storm, true},
	{"stormbig", stormbig, true},
	{"churn", churn, true},
	{"churnrealloc", churnrealloc, true},
	{"reall", bench_reall, true},
	{"frag", bench_frag, true},
	{"xfree", xfree, false},
	{"xfreeboth", xfreeboth, false},
	{"larson", bench_larson, false},
	{"rt", bench_rt, false},
	{"rt-mlock", bench_rt_locked, false},
	{"sizes", bench_sizes, true},
	{"tree", bench_tree, true},
	{"spawn", bench_spawn, true},
	{"nothing", bench_nothing, false},
	{"age", bench_age, true},
	{"hot", bench_hot, true},
};

int
main(int count, char **arguments)
{
	const uint64_t seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
	size_t i;

	for (i = 0; count > 1 && i < sizeof(workloads) / sizeof(workloads[0]);
	     i++)
		if (strcmp(arguments[1], workloads[i].name) == 0) {
			if (workloads[i].alone)
				bench_stand(1);
			workloads[i].run(seed);
			return 0;
		}
	fprintf(stderr, "usage: zone_workload NAME [SEED]; names:");
	for (i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
		fprintf(stderr, " %s", workloads[i].name);
	fprintf(stderr, "\n");
	return 2;
}

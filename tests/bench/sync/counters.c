/* SPDX-License-Identifier: GPL-3.0-or-later */
/* counters.c - false sharing: each thread counts for itself, near or far from
 * the others' counters. */
#include "lib/base/attr.h"
#include "tests/bench/sync/bench_sync.h"
#include "tests/bench/sync/gang.h"

#include <stdio.h>

enum { STRIDE_MAX = 256 };

struct counters {
	ALIGNED(STRIDE_MAX) char memory[GANG_MAX * STRIDE_MAX];
	unsigned stride;
};

static void
count_batch(void *context, unsigned index)
{
	struct counters *counters = context;
	ATOMIC(uint64_t) *own =
		(void *)(counters->memory + (size_t)index * counters->stride);
	unsigned i;

	for (i = 0; i < GANG_BATCH; i++)
		atomic_fetch_add_explicit(own, 1, memory_order_relaxed);
}

int
counters_cost(unsigned stride, unsigned threads, unsigned ms)
{
	static struct counters counters;
	const struct gang_work work = {NULL, NULL, count_batch, &counters};
	struct gang_cost cost;

	if (stride < sizeof(uint64_t) || stride > STRIDE_MAX ||
	    stride % sizeof(uint64_t) != 0)
		return 2;
	counters.stride = stride;
	gang_measure(&work, threads, ms, &cost);
	printf("cpu_ns %.3f\nwall_ns %.3f\n", cost.cpu_ns, cost.wall_ns);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.c - what pulls and changes cost when nobody is in the way. */
#include "tests/bench/sync/bench_sync.h"
#include "tests/bench/sync/crowd.h"
#include "tests/bench/sync/gang.h"

#include <stdio.h>

enum { PULLED_SIZE = 64 };

static void
begin(void *context)
{
	const struct crowd *crowd = context;

	if (crowd->rival->thread_begin != NULL)
		crowd->rival->thread_begin(crowd->set);
}

static void
end(void *context)
{
	const struct crowd *crowd = context;

	if (crowd->rival->thread_end != NULL)
		crowd->rival->thread_end(crowd->set);
}

static void
pull_batch(void *context, unsigned index)
{
	const struct crowd *crowd = context;
	unsigned i;

	for (i = 0; i < GANG_BATCH; i++)
		(void)crowd->rival->pull(crowd->set, index);
}

static void
churn_batch(void *context, unsigned index)
{
	struct crowd *crowd = context;
	unsigned i;

	(void)index;
	for (i = 0; i < GANG_BATCH; i++)
		crowd_churn(crowd);
}

static int
measure(struct crowd *crowd, void (*batch)(void *context, unsigned index),
	unsigned threads, unsigned ms)
{
	const struct gang_work work = {begin, end, batch, crowd};
	struct gang_cost cost;

	gang_measure(&work, threads, ms, &cost);
	printf("cpu_ns %.3f\nwall_ns %.3f\n", cost.cpu_ns, cost.wall_ns);
	crowd->rival->destroy(crowd->set);
	return 0;
}

int
cost_of_pulls(const struct rival *rival, unsigned threads, unsigned ms)
{
	struct crowd crowd;

	crowd_init(&crowd, rival, PULLED_SIZE, 1);
	return measure(&crowd, pull_batch, threads, ms);
}

int
cost_of_changes(const struct rival *rival, unsigned size, unsigned ms)
{
	struct crowd crowd;

	crowd_init(&crowd, rival, size, 1);
	return measure(&crowd, churn_batch, 1, ms);
}

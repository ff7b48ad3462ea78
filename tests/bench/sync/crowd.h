/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crowd.h - the writer's side of a bench: which members are in the set, which
 * wait to be reclaimed, which are free; and one change after the other. */
#ifndef ROTARY_BENCH_CROWD_H
#define ROTARY_BENCH_CROWD_H

#include "tests/bench/sync/rival.h"
#include "tests/kit/dice.h"

struct crowd {
	const struct rival *rival;
	void *set;
	struct dice dice;
	unsigned present[RIVAL_MEMBERS_MAX];
	unsigned present_count;
	unsigned idle[RIVAL_MEMBERS_MAX];
	unsigned idle_count;
};

/* Inserts `size` members; a few more are idle. */
void crowd_init(struct crowd *crowd, const struct rival *rival, unsigned size,
		unsigned seed);
/* One member leaves, by chance, and an idle one enters. */
void crowd_churn(struct crowd *crowd);

#endif

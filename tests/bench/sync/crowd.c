/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/sync/crowd.h"

enum { IDLE_AT_FIRST = 8 };

static void
enter(struct crowd *crowd, unsigned member)
{
	crowd->rival->insert(crowd->set, member);
	crowd->present[crowd->present_count++] = member;
}

void
crowd_init(struct crowd *crowd, const struct rival *rival, unsigned size,
	   unsigned seed)
{
	unsigned member;

	*crowd = (struct crowd){
		.rival = rival,
		.set = rival->create(),
		.dice = dice_seeded(seed),
	};
	for (member = 0; member < size; member++)
		enter(crowd, member);
	for (; member < size + IDLE_AT_FIRST; member++)
		crowd->idle[crowd->idle_count++] = member;
}

static void
leave(struct crowd *crowd)
{
	const unsigned place = dice_roll(&crowd->dice, crowd->present_count);
	const unsigned member = crowd->present[place];

	crowd->present[place] = crowd->present[--crowd->present_count];
	crowd->rival->remove(crowd->set, member);
	if (crowd->rival == &rival_nothing)
		crowd->idle[crowd->idle_count++] = member;
}

void
crowd_churn(struct crowd *crowd)
{
	if (crowd->idle_count > 0) {
		leave(crowd);
		enter(crowd, crowd->idle[--crowd->idle_count]);
	}
	crowd->idle_count += crowd->rival->reclaim(
		crowd->set, crowd->idle + crowd->idle_count);
}

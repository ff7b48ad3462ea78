/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rival.c - the table of rivals, and the one that does nothing: what it is
 * measured to cost is the price of the measurement, and its tail the
 * machine's. */
#include "tests/bench/sync/rival.h"

#include <string.h>

static char nowhere;

static void *
create_nothing(void)
{
	return &nowhere;
}

static void
destroy_nothing(void *set)
{
	(void)set;
}

static int
pull_nothing(void *set, unsigned reader)
{
	(void)set;
	return (int)reader;
}

static void
change_nothing(void *set, unsigned member)
{
	(void)set;
	(void)member;
}

static unsigned
reclaim_nothing(void *set, unsigned ret_members[RIVAL_MEMBERS_MAX])
{
	(void)set;
	(void)ret_members;
	return 0;
}

const struct rival rival_nothing = {
	.name = "nothing",
	.create = create_nothing,
	.destroy = destroy_nothing,
	.pull = pull_nothing,
	.insert = change_nothing,
	.remove = change_nothing,
	.reclaim = reclaim_nothing,
};

static const struct rival *const rivals[] = {
	&rival_nothing, &rival_rotary, &rival_array, &rival_rcu,
	&rival_mutex,   &rival_pi,     &rival_spin,  &rival_backoff,
};

void
rival_freed_add(struct rival_freed *freed, unsigned member)
{
	freed->members[freed->count++] = member;
}

unsigned
rival_freed_take(struct rival_freed *freed,
		 unsigned ret_members[RIVAL_MEMBERS_MAX])
{
	const unsigned count = freed->count;

	memcpy(ret_members, freed->members, count * sizeof(ret_members[0]));
	freed->count = 0;
	return count;
}

const struct rival *
rival_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(rivals) / sizeof(rivals[0]); i++)
		if (strcmp(rivals[i]->name, name) == 0)
			return rivals[i];
	return NULL;
}

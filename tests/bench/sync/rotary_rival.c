/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rotary_rival.c - the rotary set itself. */
#include "lib/sync/rotary.h"
#include "tests/bench/sync/rival.h"

#include <stdlib.h>

struct member {
	struct rotary_node node;
	unsigned value;
};

struct rotary_rival {
	struct rotary rotary;
	struct hazard_domain domain;
	struct member members[RIVAL_MEMBERS_MAX];
};

/* Where release() puts what it is given. */
struct released {
	unsigned *members;
	unsigned count;
};

static void *
create(void)
{
	struct rotary_rival *rival =
		aligned_alloc(2 * CACHE_LINE, sizeof(*rival));
	unsigned i;

	if (rival == NULL)
		abort();
	hazard_domain_init(&rival->domain);
	rotary_init(&rival->rotary, &rival->domain);
	for (i = 0; i < RIVAL_MEMBERS_MAX; i++)
		rival->members[i].value = i;
	return rival;
}

static int
pull(void *set, unsigned reader)
{
	struct rotary_rival *rival = set;
	struct hazard_reader *hazards = &rival->domain.readers[reader];
	struct rotary_node *node = rotary_pull(&rival->rotary, hazards);
	const int value = (int)list_entry(node, struct member, node)->value;

	rotary_release(hazards);
	return value;
}

static void
insert(void *set, unsigned member)
{
	struct rotary_rival *rival = set;

	rotary_insert(&rival->rotary, &rival->members[member].node);
}

static void
remove_member(void *set, unsigned member)
{
	struct rotary_rival *rival = set;

	rotary_remove(&rival->rotary, &rival->members[member].node);
}

static void
release(struct rotary_node *node, void *context)
{
	struct released *released = context;

	released->members[released->count++] =
		list_entry(node, struct member, node)->value;
}

static unsigned
reclaim(void *set, unsigned ret_members[RIVAL_MEMBERS_MAX])
{
	struct rotary_rival *rival = set;
	struct released released = {ret_members, 0};

	(void)rotary_reclaim(&rival->rotary, release, &released);
	return released.count;
}

const struct rival rival_rotary = {
	.name = "rotary",
	.create = create,
	.destroy = free,
	.pull = pull,
	.insert = insert,
	.remove = remove_member,
	.reclaim = reclaim,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* array.c - an array that every change copies, behind one hazard pointer; turns
 * are given out by a counter, modulo the length. Simpler than the rotary set,
 * and for a change of length unfair: the modulus changes under the counter, so
 * that some members are passed over and others come twice.
 *
 * The writer waits until nobody holds the old array; then it and what was in it
 * are free. */
#include "lib/sync/hazard.h"
#include "tests/bench/sync/rival.h"

#include <sched.h>
#include <stdlib.h>

struct ALIGNED(CACHE_LINE) node {
	unsigned value;
};

struct version {
	size_t length;
	struct node *nodes[RIVAL_MEMBERS_MAX];
};

struct array {
	ALIGNED(2 * CACHE_LINE) ATOMIC(struct version *) current;
	ALIGNED(2 * CACHE_LINE) ATOMIC(uint64_t) turn;
	struct hazard_domain domain;
	/* the writer's own */
	struct rival_freed freed;
	struct version versions[2];
	struct node nodes[RIVAL_MEMBERS_MAX];
};

static void *
create(void)
{
	struct array *array = aligned_alloc(2 * CACHE_LINE, sizeof(*array));
	unsigned i;

	if (array == NULL)
		abort();
	hazard_domain_init(&array->domain);
	array->versions[0].length = 0;
	atomic_init(&array->current, &array->versions[0]);
	atomic_init(&array->turn, 0);
	array->freed.count = 0;
	for (i = 0; i < RIVAL_MEMBERS_MAX; i++)
		array->nodes[i].value = i;
	return array;
}

static int
pull(void *set, unsigned reader)
{
	struct array *array = set;
	struct hazard_reader *hazards = &array->domain.readers[reader];
	struct version *version;
	uint64_t turn;
	int value;

	do {
		version = atomic_load(&array->current);
		hazard_set(hazards, 0, version);
	} while (atomic_load(&array->current) != version);
	turn = atomic_fetch_add_explicit(&array->turn, 1, memory_order_relaxed);
	value = (int)version->nodes[turn % version->length]->value;
	hazard_clear(hazards, 0);
	return value;
}

static void
publish(struct array *array, struct version *old, struct version *new)
{
	atomic_store(&array->current, new);
	while (hazard_held(&array->domain, old))
		sched_yield();
}

static struct version *
other_than(struct array *array, const struct version *version)
{
	return version == &array->versions[0] ? &array->versions[1]
					      : &array->versions[0];
}

static void
insert(void *set, unsigned member)
{
	struct array *array = set;
	struct version *old = atomic_load(&array->current);
	struct version *new = other_than(array, old);
	size_t i;

	for (i = 0; i < old->length; i++)
		new->nodes[i] = old->nodes[i];
	new->nodes[i] = &array->nodes[member];
	new->length = old->length + 1;
	publish(array, old, new);
}

static void
remove_member(void *set, unsigned member)
{
	struct array *array = set;
	struct version *old = atomic_load(&array->current);
	struct version *new = other_than(array, old);
	size_t i;

	new->length = 0;
	for (i = 0; i < old->length; i++)
		if (old->nodes[i] != &array->nodes[member])
			new->nodes[new->length++] = old->nodes[i];
	publish(array, old, new);
	rival_freed_add(&array->freed, member);
}

static unsigned
reclaim(void *set, unsigned ret_members[RIVAL_MEMBERS_MAX])
{
	struct array *array = set;

	return rival_freed_take(&array->freed, ret_members);
}

const struct rival rival_array = {
	.name = "array",
	.create = create,
	.destroy = free,
	.pull = pull,
	.insert = insert,
	.remove = remove_member,
	.reclaim = reclaim,
};

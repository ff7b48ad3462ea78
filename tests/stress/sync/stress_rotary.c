/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rotary set under fire. Three readers pull while the writer inserts,
 * removes and reclaims.
 *
 * - Use after free: a released item is spoilt with plain stores, so that a
 *   reader that still holds it sees the spoil, and ThreadSanitizer the race.
 * - Linearizable: the writer stamps an item when its removal has returned; a
 *   pull that began later must not yield it.
 * - Fair: over a set that nobody changes, k pulls of n nodes, by whomever, give
 *   each node floor or ceil of k/n turns. So no turn is given twice and none is
 *   lost. */
#include "lib/sync/rotary.h"

#include "tests/kit/crew.h"
#include "tests/kit/dice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { READERS = 3, ITEMS = 6, STEPS = 400 * 1000, PULLS = 200 * 1001 };

enum { ITEM_SOUND = 0x50554e44, ITEM_SPOILT = 0x0badbad0 };

enum item_place { ITEM_OUT, ITEM_IN, ITEM_RETIRED };

struct item {
	struct rotary_node node;
	uint32_t condition; /* plain, on purpose */
	/* clock tick after which nobody may begin a pull of it; 0: none */
	ATOMIC(uint64_t) gone_at;
	ATOMIC(uint32_t) turns;
	enum item_place place; /* the writer's */
};

struct shared {
	struct hazard_domain domain;
	struct rotary set;
	struct item items[ITEMS];
	ATOMIC(uint64_t) clock; /* ticks when a removal has returned */
	ATOMIC(uint32_t) done;
	ATOMIC(uint64_t) turns;
};

static struct item *
item_of(struct rotary_node *node)
{
	return list_entry(node, struct item, node);
}

static void
spoil(struct rotary_node *node, void *context)
{
	struct item *item = item_of(node);

	(void)context;
	memset(node, 0xdb, sizeof(*node));
	item->condition = ITEM_SPOILT;
	item->place = ITEM_OUT;
}

static void
put_in(struct shared *shared, struct item *item)
{
	item->condition = ITEM_SOUND;
	item->place = ITEM_IN;
	atomic_store(&item->gone_at, 0);
	rotary_insert(&shared->set, &item->node);
}

static void
take_out(struct shared *shared, struct item *item)
{
	const uint64_t tick = atomic_load(&shared->clock) + 1;

	rotary_remove(&shared->set, &item->node);
	item->place = ITEM_RETIRED;
	atomic_store(&item->gone_at, tick);
	atomic_store(&shared->clock, tick);
}

static void
write_set(void *argument, unsigned index)
{
	struct shared *shared = argument;
	struct dice dice = dice_seeded(index);
	int step;

	for (step = 0; step < STEPS; step++) {
		struct item *item = &shared->items[dice_roll(&dice, ITEMS)];

		if (item->place == ITEM_OUT)
			put_in(shared, item);
		else if (item->place == ITEM_IN)
			take_out(shared, item);
		if (dice_roll(&dice, 2) == 0)
			(void)rotary_reclaim(&shared->set, spoil, NULL);
	}
	atomic_store(&shared->done, 1);
}

static void
read_set(void *argument, unsigned index)
{
	struct shared *shared = argument;
	struct hazard_reader *reader = &shared->domain.readers[index];
	struct dice dice = dice_seeded(index);
	uint64_t turns = 0;

	while (atomic_load(&shared->done) == 0) {
		const uint64_t begun = atomic_load(&shared->clock);
		struct rotary_node *node =
			dice_roll(&dice, 8) == 0
				? rotary_head(&shared->set, reader)
				: rotary_pull(&shared->set, reader);
		uint64_t gone;

		if (node == NULL)
			continue;
		gone = atomic_load(&item_of(node)->gone_at);
		crew_check(gone == 0 || gone > begun);
		if (dice_roll(&dice, 16) == 0)
			crew_dawdle();
		crew_check(item_of(node)->condition == ITEM_SOUND);
		turns++;
		if (dice_roll(&dice, 2) == 0)
			rotary_release(reader);
	}
	rotary_release(reader);
	atomic_fetch_add(&shared->turns, turns);
}

/* One revolution yields every present item once. */
static void
check_ring(struct shared *shared)
{
	struct hazard_reader *reader = &shared->domain.readers[0];
	uint32_t seen[ITEMS] = {0};
	size_t i;

	for (i = 0; i < rotary_length(&shared->set); i++) {
		struct rotary_node *node = rotary_pull(&shared->set, reader);

		assert_non_null(node);
		seen[item_of(node) - shared->items]++;
	}
	rotary_release(reader);
	for (i = 0; i < ITEMS; i++)
		assert_int_equal(seen[i], shared->items[i].place == ITEM_IN);
}

static void
no_removed_node_is_pulled_or_used(void **state)
{
	static struct shared shared;
	const struct crew_member crew[] = {
		{write_set, &shared},
		{read_set, &shared},
		{read_set, &shared},
		{read_set, &shared},
	};
	int calls;

	(void)state;
	hazard_domain_init(&shared.domain);
	rotary_init(&shared.set, &shared.domain);
	crew_run(crew, READERS + 1, CREW_JOLTED);
	assert_true(atomic_load(&shared.turns) > 0);
	check_ring(&shared);
	for (calls = 0; calls < 3; calls++)
		(void)rotary_reclaim(&shared.set, spoil, NULL);
	assert_int_equal(shared.set.retired_length, 0);
	check_ring(&shared);
}

static void
pull_turns(void *argument, unsigned index)
{
	struct shared *shared = argument;
	struct hazard_reader *reader = &shared->domain.readers[index];

	while (atomic_fetch_add(&shared->clock, 1) < PULLS) {
		struct rotary_node *node = rotary_pull(&shared->set, reader);

		atomic_fetch_add_explicit(&item_of(node)->turns, 1,
					  memory_order_relaxed);
	}
	rotary_release(reader);
}

static void
turns_are_shared_out_evenly(void **state)
{
	static struct shared shared;
	const struct crew_member crew[] = {
		{pull_turns, &shared},
		{pull_turns, &shared},
		{pull_turns, &shared},
	};
	size_t i;

	(void)state;
	hazard_domain_init(&shared.domain);
	rotary_init(&shared.set, &shared.domain);
	for (i = 0; i < ITEMS; i++)
		rotary_insert(&shared.set, &shared.items[i].node);
	crew_run(crew, READERS, CREW_JOLTED);
	for (i = 0; i < ITEMS; i++) {
		const uint32_t turns = atomic_load(&shared.items[i].turns);

		assert_in_range(turns, PULLS / ITEMS,
				(PULLS + ITEMS - 1) / ITEMS);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_removed_node_is_pulled_or_used),
		cmocka_unit_test(turns_are_shared_out_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

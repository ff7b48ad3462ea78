/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread that makes calls, some of which last, and one that takes what both
 * use from it while it is in such a call: again and again, each time with a
 * successor. What is shared are plain variables, so that ThreadSanitizer sees
 * whoever touches them when they are not its own. */
#include "lib/sync/takeback.h"

#include "tests/kit/crew.h"
#include "tests/kit/dice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { OWNERS = 3, ROUNDS = 2000, CALLS = 200 };

/* Of one round each: whose turn it is, and what they use. */
struct round {
	struct takeback takeback;
	uint32_t shared[2]; /* always the same */
	uint32_t done;
};

struct table {
	struct round rounds[ROUNDS];
	ATOMIC(uint32_t) current;
	ATOMIC(uint32_t) taken, left;
};

static void
use(struct round *round)
{
	crew_check(round->shared[0] == round->shared[1]);
	round->shared[0]++;
	round->done++;
	round->shared[1]++;
}

/* One round: some calls, until one is taken, or it lets itself be taken. */
static void
own(struct table *table, struct round *round, struct dice *dice)
{
	unsigned call;

	for (call = 0; call < CALLS; call++) {
		use(round);
		if (dice_roll(dice, 2) == 0)
			takeback_enter(&round->takeback);
		else
			takeback_sleep(&round->takeback);
		if (dice_roll(dice, 8) == 0)
			crew_dawdle();
		if (!takeback_leave(&round->takeback)) {
			atomic_fetch_add(&table->left, 1);
			return;
		}
	}
	use(round);
	takeback_enter(&round->takeback);
	while (takeback_state_of(takeback_look(&round->takeback)) !=
	       TAKEBACK_TAKEN)
		crew_dawdle();
	crew_check(!takeback_leave(&round->takeback));
}

static void
owner_main(void *argument, unsigned index)
{
	struct table *table = argument;
	struct dice dice = dice_seeded(77 + index);
	uint32_t number = index;

	/* Each has every third round; they come one after the other. */
	for (; number < ROUNDS; number += OWNERS) {
		while (atomic_load(&table->current) != number)
			crew_dawdle();
		own(table, &table->rounds[number], &dice);
	}
}

static void
watcher_main(void *argument, unsigned index)
{
	struct table *table = argument;
	uint32_t number = 0;

	(void)index;
	for (number = 0; number < ROUNDS; number++) {
		struct round *round = &table->rounds[number];
		uint32_t seen = takeback_look(&round->takeback);
		uint32_t done = 0;

		atomic_store(&table->current, number);
		while (seen == 0 || !takeback_take(&round->takeback, seen)) {
			crew_dawdle();
			seen = takeback_look(&round->takeback);
		}
		/* Ours, at once: also while its thread comes back. */
		done = round->done;
		crew_check(round->shared[0] == done);
		use(round);
		crew_dawdle();
		crew_check(round->done == done + 1);
		atomic_fetch_add(&table->taken, 1);
	}
}

static void
what_is_taken_is_let_alone(void **state)
{
	static struct table table;
	const struct crew_member crew[] = {
		{owner_main, &table},
		{owner_main, &table},
		{owner_main, &table},
		{watcher_main, &table},
	};

	(void)state;
	memset((void *)&table, 0, sizeof(table));
	crew_run(crew, OWNERS + 1, CREW_JOLTED);
	assert_int_equal(atomic_load(&table.taken), ROUNDS);
	print_message("%u of %u were taken in mid-play\n",
		      atomic_load(&table.left), ROUNDS);
	assert_true(atomic_load(&table.left) > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_taken_is_let_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

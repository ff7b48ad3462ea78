/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rotary set is linearizable: threads record when each operation began and
 * ended and what it gave, and a search then looks for one order of them all
 * that a plain ring explains (tests/kit/history.h says what a plain ring is).
 * Many short rounds, each from a fresh set. The code of the set is compiled
 * here with places where a thread now and then stands still while the others go
 * on for some operations, as one that is preempted there does: between a look
 * and the exchange, around a hazard (tests/kit/pause.h). There faults are
 * planted too, each of which must be found. (tests/model/model_rotary.c has
 * more: those that touch released memory, and those that chance seldom shows.)
 *
 * usage: stress_history [ROUNDS [SEED]] */
#include "tests/kit/history.h"

#include "lib/sync/hazard.h"
#include "lib/sync/rotary_word.h"

#include "tests/kit/crew.h"
#include "tests/kit/dice.h"
#include "tests/kit/pause.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum fault {
	FAULT_NONE,
	FAULT_NO_COUNT,   /* the head is an address only */
	FAULT_TURN_TWICE, /* a pull whose exchange failed returns its node */
};

static enum fault fault;

static bool
exchange_late(ATOMIC(uint64_t) * object, uint64_t *expected, uint64_t value)
{
	bool exchanged = false;

	pause_maybe();
	if (fault == FAULT_NO_COUNT) {
		const uint64_t word = atomic_load(object);

		if (rotary_word_node(word) == rotary_word_node(*expected))
			*expected = word;
	}
	exchanged = atomic_compare_exchange_strong_explicit(
		object, expected, value, memory_order_seq_cst,
		memory_order_seq_cst);
	return exchanged || fault == FAULT_TURN_TWICE;
}

static uint64_t
add_late(ATOMIC(uint64_t) * object, uint64_t value)
{
	pause_maybe();
	return atomic_fetch_add_explicit(object, value, memory_order_seq_cst);
}

static void
hold_late(struct hazard_reader *reader, unsigned slot, const void *pointer)
{
	pause_maybe();
	hazard_set(reader, slot, pointer);
	pause_maybe();
}

/* All exchanges and additions of the set are of its head, and seq_cst. */
#undef atomic_compare_exchange_strong_explicit
#define atomic_compare_exchange_strong_explicit(o, e, v, success, failure)     \
	exchange_late(o, e, v)
#undef atomic_fetch_add_explicit
#define atomic_fetch_add_explicit(o, v, order) add_late(o, v)
#define hazard_set hold_late
#include "lib/sync/rotary.c"

enum {
#ifdef __SANITIZE_THREAD__
	ROUNDS = 1500,
#else
	ROUNDS = 3000,
#endif
	ROUNDS_WITH_FAULT = 100 * 1000, /* or until it is found */
	PULLS = 6,
	WRITES = 4,
	WRITER = HISTORY_WRITER,
};

struct item {
	struct rotary_node node;
	bool in; /* the writer's */
	bool retired;
};

static struct shared {
	struct hazard_domain domain;
	struct rotary set;
	struct item items[HISTORY_ITEMS];
	struct history history;
	pthread_barrier_t gate;
	uint32_t writes[HISTORY_REMOVE + 1];
	uint32_t beside; /* another thread's operation */
	uint32_t rounds;
	uint32_t seed;
	uint32_t wrong; /* histories */
} shared;

static struct item *
item_of(struct rotary_node *node)
{
	return list_entry(node, struct item, node);
}

static uint32_t
number_of(const struct item *item)
{
	return (uint32_t)(item - shared.items);
}

static void
note_release(struct rotary_node *node, void *context)
{
	(void)context;
	memset(node, 0xdb, sizeof(*node));
	item_of(node)->retired = false;
}

static void
record(uint32_t thread, struct history_operation operation)
{
	operation.end = pause_tick();
	history_add(&shared.history, thread, operation);
}

static void
read_round(struct dice *dice, uint32_t index)
{
	struct hazard_reader *reader = &shared.domain.readers[index];
	uint32_t i = 0;

	for (i = 0; i < PULLS; i++) {
		const bool look = dice_roll(dice, 8) == 0;
		struct history_operation operation = {
			.kind = look ? HISTORY_LOOK : HISTORY_PULL,
			.begin = pause_tick()};
		struct rotary_node *node =
			look ? rotary_head(&shared.set, reader)
			     : rotary_pull(&shared.set, reader);

		operation.item = node == NULL ? HISTORY_NOTHING
					      : number_of(item_of(node));
		record(index, operation);
	}
	rotary_release(reader);
}

static void
put_in(struct item *item)
{
	const struct history_operation operation = {.kind = HISTORY_INSERT,
						    .item = number_of(item),
						    .begin = pause_tick()};

	item->in = true;
	rotary_insert(&shared.set, &item->node);
	record(WRITER, operation);
}

static void
pull_out(struct item *item)
{
	const struct history_operation operation = {.kind = HISTORY_REMOVE,
						    .item = number_of(item),
						    .begin = pause_tick()};

	item->in = false;
	item->retired = true;
	rotary_remove(&shared.set, &item->node);
	record(WRITER, operation);
}

static void
write_round(struct dice *dice)
{
	uint32_t i = 0;

	for (i = 0; i < WRITES; i++) {
		struct item *item =
			&shared.items[dice_roll(dice, HISTORY_ITEMS)];

		if (item->in)
			pull_out(item);
		else if (!item->retired)
			put_in(item);
		(void)rotary_reclaim(&shared.set, note_release, NULL);
	}
}

static void
begin_round(struct dice *dice)
{
	uint32_t i = 0;

	while (rotary_reclaim(&shared.set, note_release, NULL) > 0)
		;
	hazard_domain_init(&shared.domain);
	rotary_init(&shared.set, &shared.domain);
	memset(shared.items, 0, sizeof(shared.items));
	pause_open(HISTORY_THREADS);
	memset(&shared.history, 0, sizeof(shared.history));
	shared.history.first = (uint32_t)dice_roll(dice, HISTORY_ITEMS + 1);
	for (i = 0; i < shared.history.first; i++) {
		shared.items[i].in = true;
		rotary_insert(&shared.set, &shared.items[i].node);
	}
}

static bool
is_beside_a_pull(const struct history_operation *write)
{
	uint32_t thread = 0;
	uint32_t i = 0;

	for (thread = 0; thread < HISTORY_READERS; thread++)
		for (i = 0; i < shared.history.count[thread]; i++) {
			const struct history_operation *pull =
				&shared.history.operations[thread][i];

			if (pull->begin < write->end &&
			    pull->end > write->begin)
				return true;
		}
	return false;
}

static void
end_round(void)
{
	const struct history *history = &shared.history;
	uint32_t i = 0;

	for (i = 0; i < history->count[WRITER]; i++) {
		const struct history_operation *write =
			&history->operations[WRITER][i];

		shared.writes[write->kind]++;
		shared.beside +=
			write->kind != HISTORY_LINK && is_beside_a_pull(write);
	}
	if (history_is_linearizable(history))
		return;
	shared.wrong++;
	if (fault == FAULT_NONE)
		history_print(history);
}

static void
live(void *argument, unsigned index)
{
	struct dice dice = dice_seeded(shared.seed + index);
	uint32_t i = 0;

	(void)argument;
	for (i = 0; i < shared.rounds; i++) {
		if (index == WRITER)
			begin_round(&dice);
		pthread_barrier_wait(&shared.gate);
		if (shared.wrong > 0)
			break;
		pause_join(index);
		if (index == WRITER)
			write_round(&dice);
		else
			read_round(&dice, index);
		pause_leave();
		pthread_barrier_wait(&shared.gate);
		if (index == WRITER)
			end_round();
	}
}

static void
run_all(uint32_t rounds)
{
	const struct crew_member member = {live, NULL};
	const struct crew_member crew[] = {member, member, member, member};

	shared.rounds = rounds;
	shared.wrong = 0;
	memset(shared.writes, 0, sizeof(shared.writes));
	shared.beside = 0;
	hazard_domain_init(&shared.domain);
	rotary_init(&shared.set, &shared.domain);
	pthread_barrier_init(&shared.gate, NULL, HISTORY_THREADS);
	crew_run(crew, HISTORY_THREADS, CREW_JOLTED);
	pthread_barrier_destroy(&shared.gate);
	print_message("fault %d, %u insertions, %u removals, %u of them beside "
		      "a pull: %s\n",
		      (int)fault, shared.writes[HISTORY_INSERT],
		      shared.writes[HISTORY_REMOVE], shared.beside,
		      shared.wrong > 0 ? "no plain ring did this"
				       : "as a plain ring");
}

static uint32_t rounds = ROUNDS;

static void
every_history_is_that_of_a_plain_ring(void **state)
{
	(void)state;
	fault = FAULT_NONE;
	run_all(rounds);
	assert_int_equal(shared.wrong, 0);
	assert_true(shared.beside > 0);
}

static void
every_planted_fault_is_found(void **state)
{
	(void)state;
	for (fault = FAULT_NO_COUNT; fault <= FAULT_TURN_TWICE; fault++) {
		run_all(ROUNDS_WITH_FAULT);
		assert_true(shared.wrong > 0);
	}
}

/* One reader pulls these one after the other from a set of so many items, and
 * at a tick the writer does one thing (HISTORY_PULL: nothing). */
static bool
explains(uint32_t first, const char *pulls, enum history_kind kind,
	 uint32_t item, uint64_t at)
{
	struct history history = {.first = first};
	uint32_t i = 0;

	for (i = 0; pulls[i] != '\0'; i++)
		history_add(&history, 0,
			    (struct history_operation){
				    HISTORY_PULL, (uint32_t)(pulls[i] - '0'),
				    10 * i, 10 * i + 5});
	if (kind != HISTORY_PULL)
		history_add(&history, WRITER,
			    (struct history_operation){kind, item, at, at + 1});
	return history_is_linearizable(&history);
}

static void
a_wrong_history_is_found(void **state)
{
	struct history twice = {.operations = {{{HISTORY_PULL, 0, 0, 5}},
					       {{HISTORY_PULL, 0, 1, 4}}},
				.count = {1, 1},
				.first = 2};

	(void)state;
	assert_true(explains(3, "02102102", HISTORY_PULL, 0, 0));
	assert_false(explains(3, "0202", HISTORY_PULL, 0, 0));
	assert_false(explains(3, "00", HISTORY_PULL, 0, 0));
	assert_false(explains(3, "04", HISTORY_PULL, 0, 0));
	assert_true(explains(0, "4444", HISTORY_PULL, 0, 0));
	/* Removed between the pulls, and beside one. */
	assert_true(explains(3, "021010", HISTORY_REMOVE, 2, 17));
	assert_false(explains(3, "021021", HISTORY_REMOVE, 2, 17));
	assert_true(explains(3, "021021", HISTORY_REMOVE, 2, 41));
	assert_false(explains(3, "01", HISTORY_REMOVE, 2, 17));
	assert_true(explains(3, "01", HISTORY_REMOVE, 2, 11));
	/* Inserted behind the head, and skipped for a whole revolution. */
	assert_true(explains(2, "013013", HISTORY_INSERT, 3, 7));
	assert_false(explains(2, "010101", HISTORY_INSERT, 3, 7));
	assert_true(explains(2, "010310", HISTORY_INSERT, 3, 21));
	assert_true(explains(2, "010130", HISTORY_INSERT, 3, 21));
	assert_false(history_is_linearizable(&twice));
	twice.operations[1][0].item = 1;
	assert_true(history_is_linearizable(&twice));
}

/* The two ways in which a pull that looked long ago could pass over what was
 * put in since, if the head had no count: it pulls 0 and goes on to 1 while the
 * others go all the way round, or beside two insertions. */
static void
a_late_pull_that_passes_over_an_insertion_is_found(void **state)
{
	const struct history around = {
		.operations = {{{HISTORY_PULL, 0, 0, 20}},
			       {{HISTORY_PULL, 0, 10, 11},
				{HISTORY_PULL, 2, 12, 13},
				{HISTORY_PULL, 1, 14, 15},
				{HISTORY_PULL, 1, 21, 22}},
			       {{0}},
			       {{HISTORY_INSERT, 2, 1, 2},
				{HISTORY_LINK, 2, 1, 2}}},
		.count = {1, 4, 0, 2},
		.first = 2};
	struct history beside = {.operations = {{{HISTORY_PULL, 0, 0, 20}},
						{{HISTORY_PULL, 1, 21, 22},
						 {HISTORY_PULL, 0, 23, 24},
						 {HISTORY_PULL, 3, 25, 26},
						 {HISTORY_PULL, 2, 27, 28}},
						{{0}},
						{{HISTORY_INSERT, 2, 1, 2},
						 {HISTORY_LINK, 2, 1, 2},
						 {HISTORY_INSERT, 3, 3, 4},
						 {HISTORY_LINK, 3, 3, 4}}},
				 .count = {1, 4, 0, 4},
				 .first = 2};

	(void)state;
	assert_false(history_is_linearizable(&around));
	assert_false(history_is_linearizable(&beside));
	/* One that goes on to what was put in last is late, but right. */
	beside.operations[1][0].item = 3;
	beside.operations[1][1].item = 2;
	beside.operations[1][2].item = 1;
	beside.operations[1][3].item = 0;
	assert_true(history_is_linearizable(&beside));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_history_is_found),
		cmocka_unit_test(
			a_late_pull_that_passes_over_an_insertion_is_found),
		cmocka_unit_test(every_history_is_that_of_a_plain_ring),
		cmocka_unit_test(every_planted_fault_is_found),
	};

	if (argc > 1)
		rounds = (uint32_t)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		shared.seed = (uint32_t)strtoul(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

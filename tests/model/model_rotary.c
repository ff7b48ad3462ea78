/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_rotary.c - the code of the rotary set itself, in every order of two
 * readers and a writer whose steps are chosen too; and proof that the search
 * finds what it should, by faults that it is told to make.
 *
 * usage: model_rotary [PREEMPTIONS [WRITER_STEPS]]
 *
 * What must hold: nobody touches a released node; a pull never yields a node
 * whose removal had returned when it began; what all threads did has an order
 * that a plain ring explains (tests/kit/history.h: so none is passed over);
 * over a set that nobody changes the turns are shared out evenly; and in the
 * end the ring is whole and everything removed can be released. */
#include <stdbool.h>

static bool is_turn_given_twice(void);

#define model_lies is_turn_given_twice

#include "tests/kit/history.h"
#include "tests/model/explored.h"

#include "lib/sync/hazard.c"
#include "lib/sync/rotary.c"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/model/search.h"

enum { NODES = HISTORY_ITEMS, READERS = 2, WRITER = READERS, PULLS = 2 };

enum seed {
	SEED_NONE,
	SEED_ONE_HAZARD,    /* and one scan, then release */
	SEED_TWO_HAZARDS,   /* the same with both hazards */
	SEED_LOOKS_AT_HEAD, /* and with a look at it before and after */
	SEED_NO_HAZARD_ON_NEXT,
	SEED_NO_MARK,
	SEED_RELEASE_WITHOUT_MOVING_HEAD,
	SEED_NO_WAY_BACK,  /* a retired node keeps leading to a removed one */
	SEED_WEAK_HAZARDS, /* published by a release store */
	SEED_NO_COUNT,     /* the head is an address only */
	SEED_NO_COUNT_OF_INSERTIONS,
	SEED_TURN_TWICE, /* a pull whose exchange failed returns its node */
};

enum place { PLACE_OUT, PLACE_IN, PLACE_RETIRED };

struct world {
	struct hazard_domain domain;
	struct rotary set;
	struct rotary_node nodes[NODES];
	enum place place[NODES];
	unsigned gone_at[NODES]; /* clock tick; 0: not removed */
	unsigned turns[NODES];
	unsigned clock;
	struct history history;
	bool inserting; /* into a set that is not empty */
	unsigned writer_steps;
	unsigned pulls;
	unsigned playable; /* nodes, the first ones */
	enum seed seed;
};

static struct world world;

static unsigned
tick(void)
{
	world.clock++;
	return world.clock;
}

static void
record(unsigned thread, enum history_kind kind, unsigned item, unsigned begin)
{
	history_add(&world.history, thread == WRITER ? HISTORY_WRITER : thread,
		    (struct history_operation){kind, item, begin, tick()});
}

static unsigned
number_of(const struct rotary_node *node)
{
	return (unsigned)(node - world.nodes);
}

bool
model_drops(const volatile void *address)
{
	unsigned i;

	for (i = 0; i < READERS; i++)
		if ((world.seed == SEED_NO_HAZARD_ON_NEXT ||
		     world.seed == SEED_ONE_HAZARD) &&
		    address == &world.domain.readers[i].slot[HAZARD_NEXT])
			return true;
	if (world.seed == SEED_NO_COUNT_OF_INSERTIONS &&
	    address == &world.set.head && world.inserting)
		return true;
	for (i = 0; i < NODES; i++) {
		if (world.seed == SEED_NO_MARK &&
		    address == &world.nodes[i].removed)
			return true;
		if (world.seed == SEED_NO_WAY_BACK &&
		    address == &world.nodes[i].next &&
		    world.place[i] == PLACE_RETIRED)
			return true;
	}
	return false;
}

static bool
is_turn_given_twice(void)
{
	return world.seed == SEED_TURN_TWICE;
}

static bool
weakens(void *unused, const volatile void *address)
{
	const volatile char *at = address;

	(void)unused;
	return world.seed == SEED_WEAK_HAZARDS &&
	       at >= (const char *)&world.domain &&
	       at < (const char *)(&world.domain + 1);
}

/* Slots of readers that there are none of are nobody's business. */
static bool
touch(void *unused, unsigned thread, const volatile void *address)
{
	const volatile char *at = address;
	const char *unused_slots = (const char *)&world.domain.readers[READERS];
	const char *slots_end = (const char *)(&world.domain + 1);
	unsigned i;

	(void)unused;
	if (at >= unused_slots && at < slots_end)
		return false;
	if (world.seed == SEED_NO_COUNT)
		world.set.head &= rotary_word_one - 1;
	for (i = 0; i < NODES; i++)
		if (thread != WRITER && world.place[i] == PLACE_OUT &&
		    at >= (const char *)&world.nodes[i] &&
		    at < (const char *)(&world.nodes[i] + 1))
			explorer_fail("a released node is used");
	return true;
}

static void
note_release(struct rotary_node *node, void *context)
{
	(void)context;
	world.place[number_of(node)] = PLACE_OUT;
}

static void
put_in(unsigned i)
{
	const unsigned begun = tick();

	world.place[i] = PLACE_IN;
	world.gone_at[i] = 0;
	world.inserting = rotary_length(&world.set) > 0;
	rotary_insert(&world.set, &world.nodes[i]);
	world.inserting = false;
	record(WRITER, HISTORY_INSERT, i, begun);
}

static void
take_out(unsigned i)
{
	const unsigned begun = tick();

	rotary_remove(&world.set, &world.nodes[i]);
	world.place[i] = PLACE_RETIRED;
	record(WRITER, HISTORY_REMOVE, i, begun);
	world.gone_at[i] = world.clock;
}

static bool
stands_on(const struct rotary_node *node)
{
	return rotary_word_node(load_head(&world.set)) == node;
}

static void
reclaim_between_looks(struct rotary_node *node)
{
	if (stands_on(node) || hazard_held(&world.domain, node) ||
	    stands_on(node))
		return;
	list_remove(&node->retired);
	world.set.retired_length--;
	note_release(node, NULL);
}

static void
reclaim(void)
{
	unsigned i;

	for (i = 0; i < NODES; i++) {
		struct rotary_node *node = &world.nodes[i];

		if (world.place[i] != PLACE_RETIRED)
			continue;
		if (world.seed == SEED_LOOKS_AT_HEAD)
			reclaim_between_looks(node);
		if (world.seed == SEED_ONE_HAZARD ||
		    world.seed == SEED_TWO_HAZARDS ||
		    (world.seed == SEED_RELEASE_WITHOUT_MOVING_HEAD &&
		     node->reclaim_step == ROTARY_ORPHANED))
			node->reclaim_step = ROTARY_UNSEEN;
	}
	if (world.seed != SEED_LOOKS_AT_HEAD)
		(void)rotary_reclaim(&world.set, note_release, NULL);
}

/* Each step is one of those that change something: a node put in or taken out,
 * or a reclaim while there is anything to it. */
static void
write_steps(void)
{
	unsigned step;

	for (step = 0; step < world.writer_steps; step++) {
		unsigned nodes[NODES];
		unsigned count = 0;
		unsigned choice;
		unsigned i;

		for (i = 0; i < world.playable; i++)
			if (world.place[i] != PLACE_RETIRED)
				nodes[count++] = i;
		choice = explorer_choose(count + (count < world.playable));
		if (choice == count)
			reclaim();
		else if (world.place[nodes[choice]] == PLACE_IN)
			take_out(nodes[choice]);
		else
			put_in(nodes[choice]);
	}
}

/* Thread 0 begins, and the scans come by the slots of reader 0 first: who is
 * held up at first is to be seen last. */
static struct hazard_reader *
reader_of(unsigned thread)
{
	return &world.domain.readers[READERS - 1 - thread];
}

static void
pull_once(unsigned thread)
{
	const unsigned begun = tick();
	struct rotary_node *node = rotary_pull(&world.set, reader_of(thread));
	unsigned i = HISTORY_NOTHING;

	if (node != NULL)
		i = number_of(node);
	record(thread, HISTORY_PULL, i, begun);
	if (node == NULL)
		return;
	if (world.place[i] == PLACE_OUT)
		explorer_fail("a released node is pulled");
	if (world.gone_at[i] != 0 && world.gone_at[i] <= begun)
		explorer_fail("a removed node is pulled");
	world.turns[i]++;
}

static void
thread_main(void *unused, unsigned thread)
{
	unsigned i;

	(void)unused;
	if (thread == WRITER) {
		write_steps();
		return;
	}
	for (i = 0; i < world.pulls; i++)
		pull_once(thread);
	rotary_release(reader_of(thread));
}

static void
reset_empty(void)
{
	/* Else a seed may drop what the next line stores. */
	memset(&world.domain, 0, sizeof(world.domain));
	hazard_domain_init(&world.domain);
	rotary_init(&world.set, &world.domain);
	memset(world.nodes, 0, sizeof(world.nodes));
	memset(world.place, 0, sizeof(world.place));
	memset(world.gone_at, 0, sizeof(world.gone_at));
	memset(world.turns, 0, sizeof(world.turns));
	world.clock = 0;
}

/* What comes is recorded; the first nodes are in. */
static void
begin_history(unsigned first)
{
	memset(&world.history, 0, sizeof(world.history));
	world.history.first = first;
}

/* Two nodes are in; others can be put in. */
static void
reset_two(void *unused)
{
	(void)unused;
	reset_empty();
	put_in(0);
	put_in(1);
	begin_history(2);
}

static void
reset_three(void *unused)
{
	reset_two(unused);
	put_in(2);
	begin_history(3);
}

static void
check_ring(void *unused)
{
	unsigned turns[NODES] = {0};
	unsigned i;

	(void)unused;
	for (i = 0; i < rotary_length(&world.set); i++) {
		const unsigned begun = tick();
		struct rotary_node *node =
			rotary_pull(&world.set, &world.domain.readers[0]);

		if (node == NULL) {
			explorer_fail("a node is lost");
			return;
		}
		turns[number_of(node)]++;
		record(0, HISTORY_PULL, number_of(node), begun);
	}
	rotary_release(&world.domain.readers[0]);
	for (i = 0; i < 3; i++)
		reclaim();
	for (i = 0; i < NODES; i++) {
		if (turns[i] != (world.place[i] == PLACE_IN))
			explorer_fail("the ring is not whole");
		if (world.place[i] == PLACE_RETIRED)
			explorer_fail("a node is never released");
	}
	if (!history_is_linearizable(&world.history))
		explorer_fail("no plain ring did this");
}

/* Nobody changed the set: floor or ceil of pulls over nodes. */
static void
check_turns(void *unused)
{
	const unsigned pulls = READERS * world.pulls;
	const unsigned nodes = world.playable;
	unsigned i;

	for (i = 0; i < nodes; i++)
		if (world.turns[i] < pulls / nodes ||
		    world.turns[i] > (pulls + nodes - 1) / nodes)
			explorer_fail("turns are not shared out evenly");
	check_ring(unused);
}

static unsigned preemptions = 2;
static unsigned steps = 4;

struct search {
	void (*reset)(void *unused);
	unsigned preemptions;
	unsigned delays;
	unsigned steps;
	unsigned nodes;
	unsigned pulls;
	enum seed seed;
};

/* The reason of the failure, or NULL. */
static const char *
explore(const struct search *search)
{
	const struct explorer_case explored = {
		.threads = READERS + 1,
		.preemptions = search->preemptions,
		.delays = search->delays,
		.reset = search->reset,
		.main = thread_main,
		.check = check_ring,
		.touch = touch,
		.weakens = weakens,
	};

	world.seed = search->seed;
	world.writer_steps = search->steps;
	world.pulls = search->pulls;
	world.playable = search->nodes;
	return search_run(&explored, "seed %d, %u steps: ", (int)search->seed,
			  search->steps);
}

static void
no_order_breaks_the_set(void **unused)
{
	const struct search searches[] = {
		{reset_two, preemptions, 0, steps, 3, PULLS, SEED_NONE},
		{reset_two, preemptions - 1, 1, steps, 3, PULLS, SEED_NONE},
		{reset_three, preemptions - 1, 0, steps + 1, 3, PULLS,
		 SEED_NONE},
		{reset_two, preemptions, 0, 1, 4, 3, SEED_NONE},
		{reset_two, preemptions, 0, 2, 4, 3, SEED_NONE},
	};

	(void)unused;
	SEARCHES_FIND_NOTHING(explore, searches);
}

static void
no_order_gives_a_turn_twice(void **unused)
{
	const struct explorer_case explored = {
		.threads = READERS,
		.preemptions = 2 * preemptions,
		.reset = reset_three,
		.main = thread_main,
		.check = check_turns,
		.touch = touch,
	};
	const char *failure = NULL;

	(void)unused;
	world.seed = SEED_NONE;
	world.pulls = PULLS;
	world.playable = 3;
	assert_true(explorer_run(&explored, &failure) > 100);
	assert_null(failure);
}

static void
every_seeded_fault_is_found(void **unused)
{
	const struct search searches[] = {
		{reset_two, 1, 0, 2, 3, PULLS, SEED_ONE_HAZARD},
		{reset_two, 2, 0, 2, 3, PULLS, SEED_TWO_HAZARDS},
		{reset_two, 3, 0, 2, 3, 1, SEED_LOOKS_AT_HEAD},
		{reset_two, 1, 0, 4, 3, PULLS, SEED_NO_HAZARD_ON_NEXT},
		{reset_two, 1, 0, 2, 3, PULLS, SEED_NO_MARK},
		{reset_two, 2, 0, 4, 3, PULLS,
		 SEED_RELEASE_WITHOUT_MOVING_HEAD},
		{reset_three, 1, 0, 5, 3, PULLS, SEED_NO_WAY_BACK},
		{reset_two, 1, 1, 4, 3, PULLS, SEED_WEAK_HAZARDS},
		{reset_two, 1, 0, 1, 3, 3, SEED_NO_COUNT},
		{reset_two, 1, 0, 2, 4, 2, SEED_NO_COUNT_OF_INSERTIONS},
		{reset_three, 1, 0, 0, 3, PULLS, SEED_TURN_TWICE},
	};

	(void)unused;
	SEARCHES_FIND_FAULTS(explore, searches);
}

int
main(int argc, char **argv)
{
	unsigned *const numbers[] = {&preemptions, &steps, NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_breaks_the_set),
		cmocka_unit_test(no_order_gives_a_turn_twice),
		cmocka_unit_test(every_seeded_fault_is_found),
	};

	search_parse(argc, argv, numbers);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

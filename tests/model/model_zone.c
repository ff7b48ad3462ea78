/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_zone.c - the allocator's three ways between threads, in every order:
 * bits of blocks that others freed, the stack of units, and heaps that change
 * hands while others free their blocks. And proof that the search finds what it
 * should, by faults that it is told to make.
 *
 * usage: model_zone [PREEMPTIONS]
 *
 * What must hold: a bit that was set is taken once, and never lies there
 * without a flag when nobody is on the way; no unit has two holders or is lost;
 * no heap has two owners, and what was written by one is seen by the next. */
#include "tests/model/explored.h"

#include "lib/zone/remote.c"
#include "lib/zone/stack.c"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/model/search.h"

enum seed {
	SEED_NONE,
	SEED_NO_PENDING,
	SEED_NO_SUMMARY,
	SEED_BITS_BEFORE_FLAGS, /* the owner looks in the wrong order */
	SEED_TIDY_FLAGS, /* who takes bits without a flag clears it as well */
	SEED_NO_COUNTER, /* a head that came back is taken for the same */
	SEED_NO_LINK,
};

enum { ITEMS = 4, WORDS = 2, UNIT = 3, ROUNDS = 2 };

struct world {
	struct zone_remote remote;
	ATOMIC(uint64_t) words[WORDS];
	uint64_t freed[WORDS];
	uint64_t taken[WORDS];
	struct zone_stack stack;
	struct zone_slab table[ITEMS + 1];
	unsigned holder[ITEMS + 1]; /* thread + 1, 0: on the stack */
	unsigned count[ITEMS + 1];  /* a heap's, its owner's own */
	unsigned expected[ITEMS + 1];
	enum seed seed;
};

static struct world world;
static unsigned preemptions = 3;

bool
model_drops(const volatile void *address)
{
	unsigned i;

	for (i = 0; i <= ITEMS; i++)
		if (world.seed == SEED_NO_LINK &&
		    address == &world.table[i].link && world.table[i].link != 0)
			return true;
	return (world.seed == SEED_NO_PENDING &&
		address == &world.remote.pending[UNIT / 64]) ||
	       (world.seed == SEED_NO_SUMMARY &&
		address == &world.remote.summary);
}

/* The counters are not looked at here. */
static bool
touch(void *unused, unsigned thread, const volatile void *address)
{
	(void)unused;
	(void)thread;
	return address != &world.stack.count;
}

static void
reset(void *unused)
{
	const enum seed seed = world.seed;

	(void)unused;
	memset(&world, 0, sizeof(world));
	world.seed = seed;
}

/* --- bits that others set --- */

static void
free_block(unsigned word, unsigned number)
{
	const uint64_t bit = UINT64_C(1) << number;

	if (!zone_remote_free(&world.remote, UNIT, &world.words[word], bit))
		explorer_fail("a bit was there already");
}

static void
take_words(void)
{
	unsigned i;

	for (i = 0; i < WORDS; i++) {
		const uint64_t bits = zone_remote_take(&world.words[i]);

		if ((bits & world.taken[i]) != 0)
			explorer_fail("a bit was taken twice");
		world.taken[i] |= bits;
	}
}

/* as_told: in the wrong order, if that is the fault. */
static void
harvest(bool as_told)
{
	const bool wrong = as_told && world.seed == SEED_BITS_BEFORE_FLAGS;
	unsigned rounds;
	uint32_t slot;

	for (rounds = 0; rounds < ROUNDS; rounds++) {
		if (wrong)
			take_words();
		if (!zone_remote_take_slot(&world.remote, &slot))
			continue;
		if (slot != UNIT)
			explorer_fail("a flag of nobody's");
		if (!wrong)
			take_words();
	}
}

/* Threads 0 and 1 free, two blocks each, one of them in the same word. */
static void
remote_main(void *unused, unsigned thread)
{
	(void)unused;
	if (thread == 2) {
		harvest(true);
		return;
	}
	free_block(0, thread);
	free_block(thread, 10 + thread);
}

/* A class has run out: the bits of one of its slabs, whatever the flags say. */
static void
harvest_class(void)
{
	uint32_t slot;

	take_words();
	if (world.seed == SEED_TIDY_FLAGS)
		(void)zone_remote_take_slot(&world.remote, &slot);
}

static void
class_main(void *unused, unsigned thread)
{
	if (thread < 2) {
		remote_main(unused, thread);
		return;
	}
	harvest_class();
	harvest(true);
	harvest_class();
}

static void
check_all_taken(uint64_t first, uint64_t second)
{
	harvest(false);
	if (world.taken[0] != first || world.taken[1] != second)
		explorer_fail("a bit lies there without a flag");
	if (world.words[0] != 0 || world.words[1] != 0 ||
	    world.remote.summary != 0)
		explorer_fail("something is left");
}

static void
remote_check(void *unused)
{
	(void)unused;
	check_all_taken(UINT64_C(1) << 0 | UINT64_C(1) << 1 | UINT64_C(1) << 10,
			UINT64_C(1) << 11);
}

/* --- the stack --- */

static unsigned
pop(unsigned thread)
{
	const uint32_t item =
		zone_stack_pop(&world.stack, world.table, ZONE_STACK_FOREVER);

	if (item == 0)
		return 0;
	if (item > ITEMS || world.holder[item] != 0) {
		explorer_fail("popped twice");
		return 0;
	}
	world.holder[item] = thread + 1;
	return item;
}

static void
push(unsigned item)
{
	if (item == 0)
		return;
	world.holder[item] = 0;
	if (!zone_stack_push(&world.stack, world.table, item,
			     ZONE_STACK_FOREVER))
		explorer_fail("pushing for ever gave up");
	if (world.seed == SEED_NO_COUNTER)
		world.stack.head &= UINT32_MAX;
}

static void
stack_reset(void *unused)
{
	unsigned i;

	reset(unused);
	for (i = 1; i <= 3; i++)
		push(i);
}

/* Thread 0 takes two and brings back the first: the head that the other has
 * read comes back, with another link. */
static void
stack_main(void *unused, unsigned thread)
{
	(void)unused;
	if (thread == 0) {
		const unsigned first = pop(thread);

		(void)pop(thread);
		push(first);
	} else {
		push(pop(thread));
	}
}

static void
stack_check(void *unused)
{
	unsigned held = 0, found = 0, item;

	(void)unused;
	for (item = 1; item <= ITEMS; item++)
		held += world.holder[item] != 0;
	while ((item = pop(9)) != 0)
		found++;
	if (held + found != 3)
		explorer_fail("an item is lost");
}

/* A thread that tries only so often either has it or has changed nothing. */
static void
bounded_main(void *unused, unsigned thread)
{
	(void)unused;
	if (thread == 0) {
		push(pop(thread));
		return;
	}
	world.holder[4] = 0;
	if (!zone_stack_push(&world.stack, world.table, 4, 1))
		world.holder[4] = thread + 1;
}

static void
bounded_check(void *unused)
{
	unsigned count = world.holder[4] != 0, item;

	(void)unused;
	while ((item = pop(9)) != 0)
		count++;
	if (count != 4)
		explorer_fail("an item is lost");
}

/* --- heaps that change hands --- */

/* The one heap is item 1; its words are the world's. */
static void
own_for_a_while(unsigned thread)
{
	const unsigned heap = pop(thread);

	if (heap == 0)
		return;
	if (world.count[heap] != world.expected[heap])
		explorer_fail("the owner before is not seen");
	world.count[heap]++;
	harvest(true);
	world.expected[heap]++;
	push(heap);
}

static void
heap_reset(void *unused)
{
	reset(unused);
	push(1);
}

static void
heap_main(void *unused, unsigned thread)
{
	(void)unused;
	if (thread < 2) {
		own_for_a_while(thread);
		return;
	}
	free_block(0, 5);
	free_block(1, 6);
}

static void
heap_check(void *unused)
{
	(void)unused;
	if (pop(9) != 1)
		explorer_fail("the heap is lost");
	check_all_taken(UINT64_C(1) << 5, UINT64_C(1) << 6);
}

static const struct explorer_case remote_case = {
	.threads = 3,
	.reset = reset,
	.main = remote_main,
	.check = remote_check,
	.touch = touch,
};

static const struct explorer_case class_case = {
	.threads = 3,
	.reset = reset,
	.main = class_main,
	.check = remote_check,
	.touch = touch,
};

static const struct explorer_case stack_case = {
	.threads = 3,
	.reset = stack_reset,
	.main = stack_main,
	.check = stack_check,
	.touch = touch,
};

static const struct explorer_case bounded_case = {
	.threads = 2,
	.reset = stack_reset,
	.main = bounded_main,
	.check = bounded_check,
	.touch = touch,
};

static const struct explorer_case heap_case = {
	.threads = 3,
	.reset = heap_reset,
	.main = heap_main,
	.check = heap_check,
	.touch = touch,
};

static const char *
explore(const struct explorer_case *explored, enum seed seed,
	unsigned most_preemptions)
{
	struct explorer_case bounded = *explored;

	world.seed = seed;
	bounded.preemptions = most_preemptions;
	return search_run(&bounded, "seed %d: ", (int)seed);
}

static void
no_bit_is_lost(void **state)
{
	(void)state;
	assert_null(explore(&remote_case, SEED_NONE, preemptions));
	assert_null(explore(&class_case, SEED_NONE, preemptions - 1));
}

static void
no_unit_is_lost_or_taken_twice(void **state)
{
	(void)state;
	assert_null(explore(&stack_case, SEED_NONE, preemptions + 1));
	assert_null(explore(&bounded_case, SEED_NONE, preemptions + 3));
}

static void
a_heap_has_one_owner(void **state)
{
	(void)state;
	assert_null(explore(&heap_case, SEED_NONE, preemptions));
}

static void
every_seeded_fault_is_found(void **state)
{
	(void)state;
	assert_non_null(explore(&remote_case, SEED_NO_PENDING, 1));
	assert_non_null(explore(&remote_case, SEED_NO_SUMMARY, 1));
	assert_non_null(explore(&remote_case, SEED_BITS_BEFORE_FLAGS, 2));
	assert_non_null(explore(&class_case, SEED_TIDY_FLAGS, 1));
	assert_non_null(explore(&heap_case, SEED_BITS_BEFORE_FLAGS, 2));
	assert_non_null(explore(&stack_case, SEED_NO_COUNTER, 2));
	assert_non_null(explore(&stack_case, SEED_NO_LINK, 1));
}

int
main(int argc, char **argv)
{
	unsigned *const numbers[] = {&preemptions, NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_bit_is_lost),
		cmocka_unit_test(no_unit_is_lost_or_taken_twice),
		cmocka_unit_test(a_heap_has_one_owner),
		cmocka_unit_test(every_seeded_fault_is_found),
	};

	search_parse(argc, argv, numbers);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

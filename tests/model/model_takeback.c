/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_takeback.c - the code of the takeback itself, in every order of a
 * thread that makes calls, a watcher that looks, waits and takes, and the
 * thread that comes in the place of the taken one; and proof that the search
 * finds what it should.
 *
 * usage: model_takeback [PREEMPTIONS]
 *
 * What must hold: never do two use what is shared; who took it sees all that
 * was done with it before; a thread that does not come back is taken by the
 * second look at the latest; one that has moved from call to call between two
 * looks is not taken on the strength of the first. */
#include "tests/model/explored.h"

/* A compare-exchange of the thread's that fails, but is believed. */
static bool lies(void);
#undef model_lies
#define model_lies() lies()

#include "lib/sync/takeback.c"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/model/search.h"

enum { OWNER, WATCHER, THREADS, CALLS = 3, LOOKS = 3 };

enum seed {
	SEED_NONE,
	SEED_TAKE_RUNNING,  /* whoever stands still is taken */
	SEED_TAKE_BY_STORE, /* not by a compare-exchange */
	SEED_BLIND_LEAVE,   /* the answer to leave is not looked at */
	SEED_LEAVE_BY_STORE,
	SEED_SILENT_ENTER, /* the word stays as it is */
	SEED_ONE_NUMBER,   /* all calls have the same */
	SEED_USE_IN_CALL,  /* the thread goes on a bit after it entered */
	SEED_LYING_LEAVE,
};

struct search {
	unsigned preemptions;
	unsigned delays;
	enum seed seed;
};

struct world {
	const struct search *search;
	struct takeback takeback;
	ATOMIC(uint32_t) shared; /* what was done with it, by plain stores */
	uint32_t done;           /* how much that should be */
	unsigned users;          /* who is at it now */
	bool taken;              /* it is the watcher's */
	bool lost;               /* the call will not return */
	unsigned entered;        /* calls, so far */
};

static struct world world;

static bool
is_seed(enum seed seed)
{
	return world.search->seed == seed;
}

static bool
lies(void)
{
	return is_seed(SEED_LYING_LEAVE) && explorer_current() == OWNER;
}

bool
model_drops(const volatile void *address)
{
	return is_seed(SEED_SILENT_ENTER) && explorer_current() == OWNER &&
	       address == &world.takeback.word;
}

static bool
touch(void *unused, unsigned thread, const volatile void *address)
{
	(void)unused;
	(void)thread;
	(void)address;
	return true;
}

/* A read, and a write that another user in between would lose. */
static void
use(void)
{
	uint32_t seen;

	if (world.taken && explorer_current() == OWNER)
		explorer_fail("a taken thread uses what is shared");
	if (world.users++ > 0)
		explorer_fail("two use what is shared");
	seen = atomic_load_explicit(&world.shared, memory_order_relaxed);
	if (seen != world.done)
		explorer_fail("what was done before is not seen");
	world.done++;
	atomic_store_explicit(&world.shared, seen + 1, memory_order_relaxed);
	world.users--;
}

static bool
leave(void)
{
	if (is_seed(SEED_LEAVE_BY_STORE)) {
		atomic_store_explicit(&world.takeback.word,
				      takeback_look(&world.takeback) &
					      ~(uint32_t)STATE_MASK,
				      memory_order_release);
		return true;
	}
	return takeback_leave(&world.takeback) || is_seed(SEED_BLIND_LEAVE);
}

static void
enter(void)
{
	world.entered++;
	if (is_seed(SEED_ONE_NUMBER))
		atomic_store_explicit(&world.takeback.word, TAKEBACK_IN_CALL,
				      memory_order_release);
	else if (explorer_choose(2) == 0)
		takeback_enter(&world.takeback);
	else
		takeback_sleep(&world.takeback);
	if (is_seed(SEED_USE_IN_CALL))
		use();
}

static void
make_calls(void)
{
	unsigned call;

	for (call = 0; call < CALLS; call++) {
		use();
		enter();
		/* The call: others may go on meanwhile, or it is the last. */
		if (explorer_choose(3) == 0) {
			world.lost = true;
			return;
		}
		explorer_step(&world.takeback.word);
		if (!leave())
			return;
	}
	use();
	/* Its end is a call that does not return, too. */
	enter();
	world.lost = true;
}

static bool
take(uint32_t seen)
{
	if (is_seed(SEED_TAKE_RUNNING) &&
	    takeback_state_of(seen) == TAKEBACK_RUNNING)
		return atomic_compare_exchange_strong_explicit(
			&world.takeback.word, &seen, seen | TAKEBACK_TAKEN,
			memory_order_acq_rel, memory_order_relaxed);
	if (is_seed(SEED_TAKE_BY_STORE)) {
		if (takeback_state_of(seen) == TAKEBACK_RUNNING ||
		    takeback_look(&world.takeback) != seen)
			return false;
		atomic_store_explicit(&world.takeback.word,
				      seen | TAKEBACK_TAKEN,
				      memory_order_release);
		return true;
	}
	return takeback_take(&world.takeback, seen);
}

/* Looks twice, as control does, and takes who has not moved. */
static void
watch(void)
{
	unsigned i;

	for (i = 0; i < LOOKS; i++) {
		const bool lost = world.lost;
		const uint32_t seen = takeback_look(&world.takeback);
		/* At the very moment of the look. */
		const unsigned entered = world.entered;

		if (takeback_look(&world.takeback) != seen)
			continue;
		if (!take(seen)) {
			if (lost)
				explorer_fail("a lost thread is not taken");
			continue;
		}
		if (world.entered != entered)
			explorer_fail("a thread that moved is taken");
		world.taken = true;
		use();
		use();
		return;
	}
}

static void
thread_main(void *unused, unsigned thread)
{
	(void)unused;
	if (thread == OWNER)
		make_calls();
	else
		watch();
}

static void
reset(void *unused)
{
	const struct search *search = world.search;

	(void)unused;
	memset((void *)&world, 0, sizeof(world));
	world.search = search;
}

static void
check(void *unused)
{
	(void)unused;
	if (world.shared != world.done)
		explorer_fail("something that was done is lost");
	if (world.taken && takeback_leave(&world.takeback))
		explorer_fail("a taken thread is told that it is not");
	if (world.taken && takeback_take(&world.takeback, world.takeback.word))
		explorer_fail("a thread is taken twice");
}

static const char *
explore(const struct search *search)
{
	const struct explorer_case explored = {
		.threads = THREADS,
		.preemptions = search->preemptions,
		.delays = search->delays,
		.reset = reset,
		.main = thread_main,
		.check = check,
		.touch = touch,
	};

	world.search = search;
	return search_run(&explored, "seed %d: ", (int)search->seed);
}

static unsigned preemptions = 4;

static void
no_order_breaks_the_takeback(void **unused)
{
	const struct search searches[] = {
		{preemptions, 0, SEED_NONE},
		{preemptions - 1, 1, SEED_NONE},
		{preemptions - 2, 2, SEED_NONE},
	};

	(void)unused;
	SEARCHES_FIND_NOTHING(explore, searches);
}

static void
every_seeded_fault_is_found(void **unused)
{
	enum seed seed;

	(void)unused;
	for (seed = SEED_NONE + 1; seed <= SEED_LYING_LEAVE; seed++) {
		const struct search search = {3, 1, seed};

		assert_non_null(explore(&search));
	}
}

int
main(int argc, char **argv)
{
	unsigned *const numbers[] = {&preemptions, NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_breaks_the_takeback),
		cmocka_unit_test(every_seeded_fault_is_found),
	};

	search_parse(argc, argv, numbers);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

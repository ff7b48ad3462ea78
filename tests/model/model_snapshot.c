/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_snapshot.c - the code of the snapshot itself, in every order of two
 * readers and a writer that publishes, reclaims and asks what was passed, with
 * delayed stores; and proof that the search finds what it should.
 *
 * usage: model_snapshot [PREEMPTIONS]
 *
 * What must hold: nobody uses an object that was released, or that is older
 * than what was published when it entered, or than what was told to be passed
 * since; and in the end everything but the current object can be released. */
#include "tests/model/explored.h"

#include "lib/sync/snapshot.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/model/search.h"

enum { READERS = 2, WRITER = READERS, LOOKS = 2, OBJECTS = 8 };

enum seed {
	SEED_NONE,
	SEED_NO_SLOT,
	SEED_WEAK_SLOT,    /* stored by a release store */
	SEED_WEAK_POINTER, /* so is the current object */
	SEED_EARLY_LEAVE,  /* before the last use */
	SEED_NO_POINTER_STORE,
};

struct search {
	unsigned preemptions;
	unsigned delays;
	unsigned steps; /* the writer's */
	enum seed seed;
};

struct world {
	const struct search *search;
	struct snapshot *snapshot;
	uint64_t objects[OBJECTS]; /* each its generation; 0: released */
	unsigned count;            /* published */
	uint64_t passed;
};

static struct world world;

static bool
is_slot(const volatile void *address)
{
	const volatile char *at = address;

	return at >= (const char *)world.snapshot->slots &&
	       at < (const char *)&world.snapshot->slots[SNAPSHOT_READERS_MAX];
}

bool
model_drops(const volatile void *address)
{
	return (world.search->seed == SEED_NO_SLOT && is_slot(address)) ||
	       (world.search->seed == SEED_NO_POINTER_STORE &&
		address == &world.snapshot->current && world.count > 1);
}

static bool
weakens(void *unused, const volatile void *address)
{
	(void)unused;
	return (world.search->seed == SEED_WEAK_SLOT && is_slot(address)) ||
	       (world.search->seed == SEED_WEAK_POINTER &&
		address == &world.snapshot->current);
}

/* Slots of readers that there are none of are nobody's business. */
static bool
touch(void *unused, unsigned thread, const volatile void *address)
{
	(void)unused;
	(void)thread;
	return !is_slot(address) ||
	       (const volatile char *)address <
		       (const char *)&world.snapshot->slots[READERS];
}

static void
note_release(void *object, void *context)
{
	(void)context;
	*(uint64_t *)object = 0;
}

static void
use(const uint64_t *object, uint64_t least)
{
	if (object == NULL) {
		if (least != 0)
			explorer_fail("a reader gets nothing");
		return;
	}
	if (*object == 0)
		explorer_fail("a released object is used");
	if (*object < least)
		explorer_fail("a reader gets an old object");
	if (*object < world.passed)
		explorer_fail("a passed object is used");
}

static void
look(unsigned reader)
{
	const uint64_t least = world.count;
	const uint64_t *object = snapshot_enter(world.snapshot, reader);

	use(object, least);
	if (world.search->seed == SEED_EARLY_LEAVE) {
		snapshot_leave(world.snapshot, reader);
		explorer_step(&world.snapshot->current);
		use(object, least);
		return;
	}
	/* As late as may be. */
	explorer_step(&world.snapshot->slots[reader]);
	use(object, least);
	snapshot_leave(world.snapshot, reader);
}

static void
publish(void)
{
	uint64_t *object = &world.objects[world.count];

	*object = world.count + 1;
	if (snapshot_publish(world.snapshot, object) != world.count + 1)
		explorer_fail("a generation is wrong");
	world.count++;
}

static void
ask(uint64_t generation)
{
	if (snapshot_passed(world.snapshot, generation) &&
	    world.passed < generation)
		world.passed = generation;
}

static void
write_steps(void)
{
	unsigned i;

	for (i = 0; i < world.search->steps; i++)
		switch (explorer_choose(4)) {
		case 0:
			publish();
			break;
		case 1:
			(void)snapshot_reclaim(world.snapshot);
			break;
		case 2:
			ask(world.count);
			break;
		default:
			/* Not published yet. */
			ask(world.count + 1);
			break;
		}
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
	for (i = 0; i < LOOKS; i++)
		look(thread);
}

static void
reset(void *unused)
{
	const struct search *search = world.search;

	(void)unused;
	snapshot_destroy(world.snapshot);
	memset(&world, 0, sizeof(world));
	world.search = search;
	world.snapshot = snapshot_create(NULL, note_release, NULL);
	if (world.snapshot == NULL)
		abort();
}

static void
check(void *unused)
{
	unsigned i;

	(void)unused;
	if (snapshot_reclaim(world.snapshot) != 0)
		explorer_fail("an object is never released");
	for (i = 0; i < world.count; i++)
		if ((world.objects[i] == 0) != (i + 1 < world.count))
			explorer_fail("the wrong object is released");
	if (world.count > 0 &&
	    snapshot_current(world.snapshot) != &world.objects[world.count - 1])
		explorer_fail("the wrong object is current");
}

static const char *
explore(const struct search *search)
{
	const struct explorer_case explored = {
		.threads = READERS + 1,
		.preemptions = search->preemptions,
		.delays = search->delays,
		.reset = reset,
		.main = thread_main,
		.check = check,
		.touch = touch,
		.weakens = weakens,
	};
	const char *failure;

	world.search = search;
	failure =
		search_run(&explored, "seed %d, %u steps: ", (int)search->seed,
			   search->steps);
	snapshot_destroy(world.snapshot);
	world.snapshot = NULL;
	return failure;
}

static unsigned preemptions = 2;

static void
no_order_breaks_the_snapshot(void **unused)
{
	const struct search searches[] = {
		{preemptions, 0, 4, SEED_NONE},
		{preemptions - 1, 1, 4, SEED_NONE},
		{preemptions, 1, 3, SEED_NONE},
	};

	(void)unused;
	SEARCHES_FIND_NOTHING(explore, searches);
}

static void
every_seeded_fault_is_found(void **unused)
{
	const struct search searches[] = {
		{2, 0, 3, SEED_NO_SLOT},          {2, 1, 3, SEED_WEAK_SLOT},
		{2, 1, 3, SEED_WEAK_POINTER},     {2, 0, 3, SEED_EARLY_LEAVE},
		{1, 0, 3, SEED_NO_POINTER_STORE},
	};

	(void)unused;
	SEARCHES_FIND_FAULTS(explore, searches);
}

int
main(int argc, char **argv)
{
	unsigned *const numbers[] = {&preemptions, NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_breaks_the_snapshot),
		cmocka_unit_test(every_seeded_fault_is_found),
	};

	search_parse(argc, argv, numbers);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A writer publishes as fast as it can and reclaims; three readers look. The
 * release function spoils the object with plain stores and gives it back to
 * the writer, so that a reader that still holds it sees the spoil, and
 * ThreadSanitizer the race. No reader may see an object older than what was
 * published before it entered. */
#include "lib/sync/snapshot.h"

#include "tests/kit/crew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { READERS = 3, OBJECTS = 64, PUBLICATIONS = 20 * 1000, WORDS = 16 };

struct object {
	uint64_t words[WORDS]; /* all the generation; 0: spoilt */
	struct object *next_free;
};

struct shared {
	struct snapshot *snapshot;
	struct object objects[OBJECTS];
	struct object *free; /* the writer's */
	ATOMIC(uint64_t) published;
	ATOMIC(uint32_t) done;
};

static void
spoil(void *released, void *context)
{
	struct shared *shared = context;
	struct object *object = released;
	size_t i;

	crew_check(object != snapshot_current(shared->snapshot) ||
		   atomic_load(&shared->done) != 0);
	for (i = 0; i < WORDS; i++)
		object->words[i] = 0;
	object->next_free = shared->free;
	shared->free = object;
}

static void
publish(void *argument, unsigned index)
{
	struct shared *shared = argument;
	uint64_t generation = 0;

	(void)index;
	while (generation < PUBLICATIONS) {
		struct object *object = shared->free;
		size_t i;

		(void)snapshot_reclaim(shared->snapshot);
		if (object == NULL) {
			crew_dawdle();
			continue;
		}
		shared->free = object->next_free;
		for (i = 0; i < WORDS; i++)
			object->words[i] = generation + 1;
		generation = snapshot_publish(shared->snapshot, object);
		crew_check(generation == object->words[0]);
		atomic_store(&shared->published, generation);
	}
	atomic_store(&shared->done, 1);
}

static void
look(void *argument, unsigned index)
{
	struct shared *shared = argument;
	uint64_t last = 0;
	uint32_t looks = 0;

	while (atomic_load(&shared->done) == 0) {
		const uint64_t least = atomic_load(&shared->published);
		const struct object *object =
			snapshot_enter(shared->snapshot, index);
		size_t i;

		if (object != NULL) {
			const uint64_t generation = object->words[0];

			crew_check(generation >= least && generation >= last);
			for (i = 0; i < WORDS; i++)
				crew_check(object->words[i] == generation);
			last = generation;
		} else {
			crew_check(least == 0 && last == 0);
		}
		snapshot_leave(shared->snapshot, index);
		looks++;
		if (looks % 64 == 0)
			crew_dawdle();
	}
}

static void
no_object_is_read_after_its_release(void **state)
{
	static struct shared shared;
	const struct crew_member crew[] = {
		{publish, &shared},
		{look, &shared},
		{look, &shared},
		{look, &shared},
	};
	size_t i;

	(void)state;
	for (i = 0; i < OBJECTS; i++) {
		shared.objects[i].next_free = shared.free;
		shared.free = &shared.objects[i];
	}
	shared.snapshot = snapshot_create(NULL, spoil, &shared);
	assert_non_null(shared.snapshot);
	crew_run(crew, READERS + 1, CREW_JOLTED);
	assert_int_equal(snapshot_reclaim(shared.snapshot), 0);
	assert_true(snapshot_passed(shared.snapshot, PUBLICATIONS));
	snapshot_destroy(shared.snapshot);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_object_is_read_after_its_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

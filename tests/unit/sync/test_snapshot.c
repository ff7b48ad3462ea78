/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which objects are released when, with readers standing where a test puts
 * them; generations; no memory. */
#include "lib/sync/snapshot.h"

#include "tests/kit/failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* What release() was called with, in order. */
struct released {
	int *objects[16];
	size_t count;
};

static int object[8];

static void
note_release(void *released, void *context)
{
	struct released *list = context;

	list->objects[list->count] = released;
	list->count++;
}

static void
generations_count_from_one(void **state)
{
	struct released released = {0};
	struct snapshot *snapshot =
		snapshot_create(NULL, note_release, &released);

	(void)state;
	assert_null(snapshot_current(snapshot));
	assert_null(snapshot_enter(snapshot, 0));
	snapshot_leave(snapshot, 0);
	assert_int_equal(snapshot_publish(snapshot, &object[0]), 1);
	assert_int_equal(snapshot_publish(snapshot, &object[1]), 2);
	assert_ptr_equal(snapshot_current(snapshot), &object[1]);
	assert_ptr_equal(snapshot_enter(snapshot, 3), &object[1]);
	snapshot_leave(snapshot, 3);
	snapshot_destroy(snapshot);
	assert_int_equal(released.count, 2);
}

static void
retired_ones_go_oldest_first_and_the_current_stays(void **state)
{
	struct released released = {0};
	struct snapshot *snapshot =
		snapshot_create(NULL, note_release, &released);
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(snapshot_publish(snapshot, &object[i]), i + 1);
	assert_int_equal(released.count, 0);
	assert_int_equal(snapshot_reclaim(snapshot), 0);
	assert_int_equal(released.count, 3);
	for (i = 0; i < 3; i++)
		assert_ptr_equal(released.objects[i], &object[i]);
	assert_int_equal(snapshot_reclaim(snapshot), 0);
	assert_int_equal(released.count, 3);
	snapshot_destroy(snapshot);
	assert_int_equal(released.count, 4);
	assert_ptr_equal(released.objects[3], &object[3]);
}

static void
a_reader_keeps_its_object_and_all_later_ones(void **state)
{
	struct released released = {0};
	struct snapshot *snapshot =
		snapshot_create(NULL, note_release, &released);

	(void)state;
	(void)!snapshot_publish(snapshot, &object[0]);
	(void)!snapshot_publish(snapshot, &object[1]);
	assert_ptr_equal(snapshot_enter(snapshot, SNAPSHOT_READERS_MAX - 1),
			 &object[1]);
	(void)!snapshot_publish(snapshot, &object[2]);
	(void)!snapshot_publish(snapshot, &object[3]);
	assert_ptr_equal(snapshot_enter(snapshot, 0), &object[3]);
	assert_int_equal(snapshot_reclaim(snapshot), 2);
	assert_int_equal(released.count, 1);
	assert_ptr_equal(released.objects[0], &object[0]);
	snapshot_leave(snapshot, SNAPSHOT_READERS_MAX - 1);
	assert_int_equal(snapshot_reclaim(snapshot), 0);
	assert_int_equal(released.count, 3);
	snapshot_leave(snapshot, 0);
	snapshot_destroy(snapshot);
	assert_int_equal(released.count, 4);
}

/* Its slot says generation 1 while the pointer may yield it: nothing may be
 * released that it could have met. */
static void
a_reader_of_the_empty_snapshot_keeps_what_may_come(void **state)
{
	struct released released = {0};
	struct snapshot *snapshot =
		snapshot_create(NULL, note_release, &released);

	(void)state;
	assert_null(snapshot_enter(snapshot, 0));
	(void)!snapshot_publish(snapshot, &object[0]);
	(void)!snapshot_publish(snapshot, &object[1]);
	assert_int_equal(snapshot_reclaim(snapshot), 1);
	snapshot_leave(snapshot, 0);
	assert_int_equal(snapshot_reclaim(snapshot), 0);
	snapshot_destroy(snapshot);
}

static void
passed_means_nobody_can_hold_an_older_one(void **state)
{
	struct released released = {0};
	struct snapshot *snapshot =
		snapshot_create(NULL, note_release, &released);

	(void)state;
	assert_false(snapshot_passed(snapshot, 1));
	(void)!snapshot_publish(snapshot, &object[0]);
	assert_true(snapshot_passed(snapshot, 1));
	assert_false(snapshot_passed(snapshot, 2));
	(void)snapshot_enter(snapshot, 5);
	(void)!snapshot_publish(snapshot, &object[1]);
	assert_true(snapshot_passed(snapshot, 1));
	assert_false(snapshot_passed(snapshot, 2));
	snapshot_leave(snapshot, 5);
	assert_true(snapshot_passed(snapshot, 2));
	snapshot_destroy(snapshot);
}

static void
no_memory_changes_nothing(void **state)
{
	struct released released = {0};
	struct failing_allocator allocator;
	struct snapshot *snapshot;
	size_t calls;
	size_t i;

	(void)state;
	failing_allocator_init(&allocator, 0);
	snapshot = snapshot_create(&allocator.base, note_release, &released);
	assert_non_null(snapshot);
	calls = allocator.calls;
	snapshot_destroy(snapshot);
	for (i = 1; i <= calls; i++) {
		failing_allocator_init(&allocator, i);
		assert_null(snapshot_create(&allocator.base, note_release,
					    &released));
		assert_int_equal(allocator.live, 0);
	}
	failing_allocator_init(&allocator, calls + 2);
	snapshot = snapshot_create(&allocator.base, note_release, &released);
	assert_int_equal(snapshot_publish(snapshot, &object[0]), 1);
	assert_int_equal(snapshot_publish(snapshot, &object[1]), 0);
	assert_ptr_equal(snapshot_current(snapshot), &object[0]);
	assert_int_equal(snapshot_publish(snapshot, &object[2]), 2);
	snapshot_destroy(snapshot);
	assert_int_equal(allocator.live, 0);
	assert_int_equal(released.count, 2);
	snapshot_destroy(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generations_count_from_one),
		cmocka_unit_test(
			retired_ones_go_oldest_first_and_the_current_stays),
		cmocka_unit_test(a_reader_keeps_its_object_and_all_later_ones),
		cmocka_unit_test(
			a_reader_of_the_empty_snapshot_keeps_what_may_come),
		cmocka_unit_test(passed_means_nobody_can_hold_an_older_one),
		cmocka_unit_test(no_memory_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

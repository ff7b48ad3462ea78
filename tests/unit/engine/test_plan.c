/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_plan.c - an empty plan, its look-up, and its end by generations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/plan.h"
#include "daemon/engine/stream.h"
#include "lib/sync/snapshot.h"
#include "tests/kit/failing_allocator.h"

#include <stdlib.h>

static void
begins_empty_and_loud(void **state)
{
	struct plan *plan = plan_create(NULL);
	unsigned lane;

	(void)state;
	assert_non_null(plan);
	assert_true(plan->mix.volume == 1.0F);
	assert_int_equal(plan->decks, 0);
	for (lane = 0; lane < LANE_COUNT; lane++) {
		assert_true(plan->mix.lanes[lane].gain == 1.0F);
		assert_int_equal(plan->mix.lanes[lane].cut, 0);
		assert_int_equal(plan_find(&plan->lanes[lane], 1), -1);
	}
	plan_release(plan, NULL);
}

static void
finds_a_stream_by_id(void **state)
{
	const struct source_ref ref = {"a.flac", 0};
	struct stream *first = stream_create(11, LANE_MUSIC, &ref);
	struct stream *second = stream_create(12, LANE_MUSIC, &ref);
	struct plan_lane lane = {.count = 2};

	(void)state;
	assert_non_null(first);
	assert_non_null(second);
	lane.entries[0].stream = first;
	lane.entries[1].stream = second;
	assert_int_equal(plan_find(&lane, 11), 0);
	assert_int_equal(plan_find(&lane, 12), 1);
	assert_int_equal(plan_find(&lane, 13), -1);
	stream_destroy(first);
	stream_destroy(second);
}

/* A plan that a reader is in lives until the reader has left it. */
static void
lives_as_long_as_it_is_read(void **state)
{
	struct snapshot *plans = snapshot_create(NULL, plan_release, NULL);
	struct plan *first = plan_create(NULL);
	struct plan *second = plan_create(NULL);
	const struct plan *read;
	uint64_t generation;

	(void)state;
	assert_non_null(plans);
	first->decks = 1;
	second->decks = 2;
	assert_int_equal(snapshot_publish(plans, first), 1);
	read = snapshot_enter(plans, 3);
	generation = snapshot_publish(plans, second);
	assert_int_equal(generation, 2);
	assert_int_equal(snapshot_reclaim(plans), 1);
	assert_false(snapshot_passed(plans, generation));
	assert_int_equal(read->decks, 1);
	snapshot_leave(plans, 3);
	assert_true(snapshot_passed(plans, generation));
	assert_int_equal(snapshot_reclaim(plans), 0);
	snapshot_destroy(plans);
}

static void
says_when_memory_is_out(void **state)
{
	struct failing_allocator allocator;

	(void)state;
	failing_allocator_init(&allocator, 1);
	assert_null(plan_create(&allocator.base));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_empty_and_loud),
		cmocka_unit_test(finds_a_stream_by_id),
		cmocka_unit_test(lives_as_long_as_it_is_read),
		cmocka_unit_test(says_when_memory_is_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

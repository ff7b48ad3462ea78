/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/decode/stage.h"
#include "tests/kit/failing_allocator.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void
put(struct stage *stage, uint64_t at, uint32_t frames)
{
	for (uint32_t i = 0; i < frames; i++)
		stage->samples[i] = (uint32_t)at + i + 1;
	stage_put(stage, at, frames);
}

/* Takes frames and checks that each is its place + 1, or silence. */
static void
expect(struct stage *stage, uint64_t count, bool silence)
{
	while (count > 0) {
		uint32_t samples[3];
		const uint64_t next = stage->next;
		const size_t got = stage_take(stage, samples, 3);

		assert_in_range(got, 1, count);
		for (size_t i = 0; i < got; i++)
			assert_int_equal(samples[i],
					 silence ? 0 : next + i + 1);
		count -= got;
	}
}

static void
test_blocks_gaps_and_overlaps(void **state)
{
	struct stage stage;
	uint32_t sample;

	(void)state;
	assert_int_equal(stage_init(&stage, NULL, 1, 10), 0);
	assert_false(stage_holds(&stage));
	assert_int_equal(stage_take(&stage, &sample, 1), 0);
	put(&stage, 0, 10);
	expect(&stage, 10, false);
	assert_false(stage_holds(&stage));
	put(&stage, 17, 4);
	expect(&stage, 7, true);
	expect(&stage, 4, false);
	assert_int_equal(stage.gap_frames, 7);
	put(&stage, 15, 10);
	expect(&stage, 4, false);
	put(&stage, 3, 5);
	assert_false(stage_holds(&stage));
	put(&stage, 30, 0);
	expect(&stage, 5, true);
	assert_false(stage_holds(&stage));
	stage_move(&stage, 105);
	assert_false(stage_holds(&stage));
	put(&stage, 100, 10);
	expect(&stage, 5, false);
	assert_int_equal(stage.next, 110);
	stage_finish(&stage);
}

/* A block of frames whose samples tell their place, written where it is to be;
 * returns true if that is the aim. */
static bool
make_block(struct stage *stage, uint64_t at, uint32_t frames)
{
	uint32_t *samples = stage_block(stage, frames);
	const bool aimed = samples != stage->samples;

	for (uint32_t i = 0; i < frames; i++)
		samples[i] = (uint32_t)at + i + 1;
	stage_put(stage, at, frames);
	return aimed;
}

static void
test_aim(void **state)
{
	uint32_t aim[8] = {0};
	struct stage stage;

	(void)state;
	assert_int_equal(stage_init(&stage, NULL, 1, 10), 0);
	assert_false(make_block(&stage, 0, 2));
	expect(&stage, 2, false);
	/* What goes on from here is there at once, and only once. */
	stage_aim(&stage, aim, 8);
	stage_ahead(&stage, 1);
	assert_true(make_block(&stage, 2, 8));
	assert_int_equal(aim[0], 3);
	assert_int_equal(aim[7], 10);
	stage_aim(&stage, NULL, 0);
	assert_true(stage_holds(&stage));
	assert_int_equal(stage_take(&stage, aim, 8), 8);
	assert_int_equal(stage_take(&stage, aim, 8), 0);
	/* It does not fit. */
	stage_aim(&stage, aim, 8);
	assert_false(make_block(&stage, 10, 9));
	stage_aim(&stage, NULL, 0);
	expect(&stage, 9, false);
	/* Silence lies before it. */
	stage_aim(&stage, aim, 8);
	assert_true(make_block(&stage, 22, 8));
	stage_aim(&stage, NULL, 0);
	memset(aim, 0, sizeof(aim));
	expect(&stage, 3, true);
	expect(&stage, 8, false);
	assert_int_equal(stage.gap_frames, 3);
	/* Some of it was given before. */
	stage_aim(&stage, aim, 8);
	assert_true(make_block(&stage, 27, 8));
	stage_aim(&stage, NULL, 0);
	expect(&stage, 5, false);
	/* The first block is no good, and never put: the next one is. */
	stage_aim(&stage, aim, 8);
	(void)stage_block(&stage, 8);
	assert_false(stage_holds(&stage));
	stage_put(&stage, 37, 0);
	stage_aim(&stage, NULL, 0);
	expect(&stage, 2, true);
	/* A seek forgets what was aimed. */
	stage_aim(&stage, aim, 8);
	assert_true(make_block(&stage, 37, 8));
	stage_move(&stage, 100);
	assert_false(stage_holds(&stage));
	assert_false(make_block(&stage, 100, 8));
	expect(&stage, 8, false);
	stage_finish(&stage);
}

static void
test_memory(void **state)
{
	struct failing_allocator allocator;
	struct stage stage;

	(void)state;
	failing_allocator_init(&allocator, 1);
	assert_int_equal(stage_init(&stage, &allocator.base, 2, 10), -ENOMEM);
	stage_finish(&stage);
	failing_allocator_init(&allocator, 2);
	assert_int_equal(stage_init(&stage, &allocator.base, 2, 10), 0);
	assert_int_equal(stage_reserve(&stage, 11), -ENOMEM);
	assert_int_equal(stage.capacity, 10);
	assert_int_equal(stage_reserve(&stage, 11), 0);
	stage_finish(&stage);
	assert_int_equal(allocator.live, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_gaps_and_overlaps),
		cmocka_unit_test(test_aim),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

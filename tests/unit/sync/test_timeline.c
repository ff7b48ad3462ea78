/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is heard, from what was written: carried on by the clock, never past
 * what was written, per lane, at the stream's own rate. */
#include "lib/sync/timeline.h"

#include "lib/base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* 48 kHz, 1 s written, 500 ms of it not heard at t = 10 s. */
static struct timeline_view
playing(void)
{
	return (struct timeline_view){
		.time_ns = 10 * NS_PER_S,
		.written_frames = 48000,
		.delay_frames = 24000,
		.rate_hz = 48000,
		.running = 1,
	};
}

static void
what_was_published_is_read(void **state)
{
	struct timeline timeline;
	struct timeline_view view = playing();
	struct timeline_view read;

	(void)state;
	timeline_init(&timeline);
	memset(&read, 0xff, sizeof(read));
	timeline_read(&timeline, &read);
	assert_int_equal(read.rate_hz, 0);
	assert_int_equal(read.point_count, 0);
	view.point_count = TIMELINE_POINTS;
	view.points[TIMELINE_POINTS - 1].lane = 7;
	view.points[0].stream_id = UINT64_C(0x123456789abcdef0);
	timeline_publish(&timeline, &view);
	timeline_publish(&timeline, &view);
	timeline_read(&timeline, &read);
	assert_memory_equal(&read, &view, sizeof(view));
}

static void
the_clock_carries_on_but_not_past_what_was_written(void **state)
{
	struct timeline_view view = playing();

	(void)state;
	assert_int_equal(timeline_heard_frame(&view, 0), 24000);
	assert_int_equal(timeline_heard_frame(&view, 10 * NS_PER_S), 24000);
	assert_int_equal(
		timeline_heard_frame(&view, 10 * NS_PER_S + 250 * NS_PER_MS),
		36000);
	assert_int_equal(timeline_heard_frame(&view, 11 * NS_PER_S), 48000);
	assert_int_equal(timeline_heard_frame(&view, INT64_MAX), 48000);
	view.running = 0;
	assert_int_equal(timeline_heard_frame(&view, 11 * NS_PER_S), 24000);
	view.running = 1;
	view.rate_hz = 0;
	assert_int_equal(timeline_heard_frame(&view, 11 * NS_PER_S), 24000);
	view.delay_frames = 50000;
	assert_int_equal(timeline_heard_frame(&view, 0), 0);
}

static void
a_lane_is_heard_in_its_last_point_before_now(void **state)
{
	struct timeline_view view = playing();
	const struct timeline_point points[] = {
		{1000, 11, 500, 44100, 0},
		{20000, 21, 0, 48000, 2},
		{24100, 12, 0, 44100, 0},
	};
	struct timeline_point heard = {0};

	(void)state;
	view.point_count = 3;
	memcpy(view.points, points, sizeof(points));
	assert_true(timeline_heard(&view, 0, 0, &heard));
	assert_int_equal(heard.stream_id, 11);
	assert_int_equal(heard.output_frame, 1000);
	/* 23000 frames of 48 kHz are 21131.25 of 44.1 kHz */
	assert_int_equal(heard.stream_frame, 500 + 21131);
	assert_true(timeline_heard(&view, 2, 0, &heard));
	assert_int_equal(heard.stream_id, 21);
	assert_int_equal(heard.stream_frame, 4000);
	assert_true(timeline_heard(&view, 0, 11 * NS_PER_S, &heard));
	assert_int_equal(heard.stream_id, 12);
	assert_int_equal(heard.stream_frame, 23900 * 441 / 480);
	heard.stream_id = 77;
	assert_false(timeline_heard(&view, 1, 0, &heard));
	assert_int_equal(heard.stream_id, 77);
}

static void
silence_and_the_time_before_the_first_point_are_not_heard(void **state)
{
	struct timeline_view view = playing();
	struct timeline_point heard = {0};

	(void)state;
	assert_false(timeline_heard(&view, 0, 0, &heard));
	view.point_count = 2;
	view.points[0] = (struct timeline_point){24001, 5, 0, 48000, 0};
	view.points[1] = (struct timeline_point){36000, 0, 0, 0, 0};
	assert_false(timeline_heard(&view, 0, 0, &heard));
	assert_true(timeline_heard(&view, 0, 10 * NS_PER_S + 100 * NS_PER_MS,
				   &heard));
	assert_int_equal(heard.stream_frame, 4799);
	assert_false(timeline_heard(&view, 0, 11 * NS_PER_S, &heard));
}

static void
hours_do_not_overflow(void **state)
{
	struct timeline_view view = playing();
	struct timeline_point heard = {0};
	const uint64_t frames = UINT64_C(1) << 50;

	(void)state;
	view.written_frames = frames;
	view.delay_frames = 0;
	view.point_count = 1;
	view.points[0] = (struct timeline_point){0, 5, 0, 192000, 0};
	assert_true(timeline_heard(&view, 0, 0, &heard));
	assert_int_equal(heard.stream_frame, 4 * frames);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_published_is_read),
		cmocka_unit_test(
			the_clock_carries_on_but_not_past_what_was_written),
		cmocka_unit_test(a_lane_is_heard_in_its_last_point_before_now),
		cmocka_unit_test(
			silence_and_the_time_before_the_first_point_are_not_heard),
		cmocka_unit_test(hours_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An ALSA card that underruns, sleeps, goes away, is busy, or stands still. */
#include "tests/unit/output/desk.h"

#include "lib/base/text.h"

/* Goes on where it was heard last, and is counted. */
static void
test_xrun(void **state)
{
	struct desk *desk = desk_new("", 1);
	uint64_t frames;
	int32_t *heard;

	(void)state;
	assert_true(stage_play(&desk->stage, &stereo16));
	play_song(desk, 20000, 16);
	stage_await_heard(&desk->stage, 4000);
	write_file(desk, "fault", "xrun");
	finish_song(desk);
	assert_int_equal(xruns(desk), 1);
	assert_int_equal(count_in_log(desk, " xrun "), 1 + 1);
	heard = read_heard(desk, 1, &frames);
	expect(heard, 0, 4000, 0);
	expect(heard, frames - 5000, frames, 15000);
	free(heard);
	desk_free(desk);
}

static void
test_suspend_and_resume(void **state)
{
	static const char *const params[] = {"resume yes\n", "resume no\n"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct desk *desk = desk_new(params[i], 1);
		uint64_t frames;
		int32_t *heard;

		assert_true(stage_play(&desk->stage, &stereo16));
		play_song(desk, 20000, 16);
		stage_await_heard(&desk->stage, 4000);
		write_file(desk, "fault", "suspend");
		await_in_log(desk, " suspend ");
		write_file(desk, "fault", "");
		finish_song(desk);
		heard = read_heard(desk, 1, &frames);
		expect(heard, 0, 4000, 0);
		expect(heard, frames - 5000, frames, 15000);
		/* Nothing is lost, whichever way it came back. */
		assert_true(frames >= 20000);
		if (i == 0)
			expect(heard, 0, 20000, 0);
		assert_int_equal(xruns(desk), 0);
		free(heard);
		desk_free(desk);
	}
}

static void
test_a_card_that_is_gone_comes_back(void **state)
{
	struct desk *desk = desk_new("", -1);
	struct stage *stage = &desk->stage;
	struct timeline_view view;
	uint64_t frames;
	int32_t *heard;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	play_song(desk, 200000, 16);
	stage_await_heard(stage, 4000);
	write_file(desk, "fault", "gone");
	assert_true(stage_await_state(stage, OUTPUT_RETRY));
	assert_true(stage->failed >= 1);
	assert_non_null(
		stage_find(stage, RT_EVENT_CARD, (uint64_t)(int64_t)-ENODEV));
	/* It stands still where it was. */
	timeline_read(&stage->timeline, &view);
	assert_int_equal(view.running, 0);
	assert_true(timeline_heard_frame(&view, INT64_MAX) >= 4000);
	assert_true(timeline_heard_frame(&view, INT64_MAX) < 200000);
	assert_null(output_info(stage->output));
	stage_stop_feeder(stage);
	write_file(desk, "fault", "");
	assert_true(stage_await_state(stage, OUTPUT_OPEN));
	assert_int_equal(stage->opened, 2);
	/* The engine begins a new cut on new decks. */
	stage_go_on(stage);
	stage_begin_cut(stage, &(struct stage_song){.cut = 2,
						    .stream = 1,
						    .frames = 3000,
						    .bits = 16,
						    .last = true});
	assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, 2));
	assert_true(stage_close(stage, true));
	heard = read_heard(desk, 2, &frames);
	assert_int_equal(frames, 3000);
	expect(heard, 0, 3000, 0);
	free(heard);
	desk_free(desk);
}

/* Asked before anybody polled: alsa-lib knows nothing of it yet, and the
 * plug-in says that all was played. */
static void
test_a_card_that_is_gone_says_nothing_more(void **state)
{
	struct desk *desk = desk_new("", 1);
	const struct card_request request = {.device = desk->device,
					     .spec = stereo16,
					     .buffer_ms = 4000,
					     .period_ms = 10,
					     .rewind = 1};
	struct card_status status = {0}, before;
	struct text reason = {0};
	struct card *card = NULL;
	void *memory = NULL;
	size_t frames = RATE * 4;

	(void)state;
	assert_int_equal(card_alsa.open(&request, &card, &reason), 0);
	assert_int_equal(card_alsa.begin(card, &memory, &frames), 0);
	memset(memory, 0, frames * sizeof(int32_t) * 2);
	assert_int_equal(card_alsa.commit(card, frames), 0);
	assert_int_equal(card_alsa.start(card), 0);
	assert_int_equal(card_alsa.status(card, &status), 0);
	before = status;
	write_file(desk, "fault", "gone");
	await_in_log(desk, " fault gone");
	assert_int_equal(card_alsa.status(card, &status), -ENODEV);
	assert_int_equal(status.delay_frames, before.delay_frames);
	assert_int_equal(status.time_ns, before.time_ns);
	card_alsa.close(card);
	text_finish(&reason);
	desk_free(desk);
}

static void
test_a_busy_card_is_tried_again(void **state)
{
	struct desk *desk = desk_new("", -1);
	struct stage *stage = &desk->stage;

	(void)state;
	write_file(desk, "fault", "busy");
	output_open(stage->output, &stereo16);
	assert_true(stage_await_state(stage, OUTPUT_RETRY));
	assert_non_null(strstr(stage->reason, "in use"));
	write_file(desk, "fault", "");
	assert_true(stage_await_state(stage, OUTPUT_OPEN));
	assert_int_equal(stage->failed, 1);
	output_close(stage->output, true);
	assert_true(stage_await_state(stage, OUTPUT_CLOSED));
	desk_free(desk);
}

/* Its clock stands: it can never be drained, and is closed all the same. */
static void
test_a_card_that_stands_still_is_closed(void **state)
{
	struct desk *desk = desk_new("", 1);

	(void)state;
	assert_true(stage_play(&desk->stage, &stereo16));
	play_song(desk, 4000, 16);
	stage_await_heard(&desk->stage, 100);
	write_file(desk, "fault", "stall");
	assert_true(stage_close(&desk->stage, true));
	desk_free(desk);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_xrun),
		cmocka_unit_test(test_suspend_and_resume),
		cmocka_unit_test(test_a_card_that_is_gone_comes_back),
		cmocka_unit_test(test_a_card_that_is_gone_says_nothing_more),
		cmocka_unit_test(test_a_busy_card_is_tried_again),
		cmocka_unit_test(test_a_card_that_stands_still_is_closed),
	};

	desk_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

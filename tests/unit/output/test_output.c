/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The device: opening, closing, trying again, and other specs. */
#include "tests/unit/output/box.h"

static void
test_null_plays_to_the_end(void **state)
{
	struct box *box = box_new(&card_null, 100);
	struct stage *stage = &box->stage;
	const struct rt_event *first, *second, *drained;
	struct timeline_view view;
	struct timeline_point point;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	assert_int_equal(stage->info.spec.rate_hz, RATE);
	stage_add(stage,
		  &(struct stage_song){
			  .cut = 1, .stream = 7, .frames = 9000, .bits = 16});
	stage_begin_cut(stage, &(struct stage_song){.cut = 1,
						    .stream = 8,
						    .frames = 5000,
						    .bits = 16,
						    .last = true});
	assert_non_null(stage_await(stage, RT_EVENT_CUT, 1));
	stage_await_heard(stage, 100);
	timeline_read(&stage->timeline, &view);
	assert_true(timeline_heard(&view, LANE_MUSIC, clock_now_ns(), &point));
	assert_int_equal(point.stream_id, 7);
	drained = stage_await(stage, RT_EVENT_LANE_DRAINED, 1);
	first = stage_find(stage, RT_EVENT_STRETCH, 7);
	second = stage_find(stage, RT_EVENT_STRETCH, 8);
	assert_non_null(first);
	assert_non_null(second);
	assert_non_null(drained);
	assert_true(first->time_ns < second->time_ns);
	assert_true(second->time_ns < drained->time_ns);
	assert_true(stage_close(stage, true));
	/* Not before the last frame was heard. */
	assert_true(clock_now_ns() >= drained->time_ns - NS_PER_MS);
	assert_int_equal(stage->closed, 1);
	box_free(box);
}

static void
test_other_specs_get_other_files(void **state)
{
	static const uint32_t rates[] = {RATE, 44100, 44100, RATE};
	struct box *box = box_new(&card_wav, 60);
	struct stage *stage = &box->stage;
	uint64_t frames;

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		const struct audio_spec spec = {rates[i], 2, SAMPLE_S32, 16};

		assert_true(stage_play(stage, &spec));
		stage_begin_cut(stage, &(struct stage_song){.cut = i + 1,
							    .stream = i + 1,
							    .frames = 1000 + i,
							    .bits = 16,
							    .last = true});
		assert_non_null(
			stage_await(stage, RT_EVENT_LANE_DRAINED, i + 1));
		assert_true(stage_close(stage, true));
	}
	free(read_wav(box, "out.wav", CARD_S16, &frames));
	assert_int_equal(frames, 1000);
	free(read_wav(box, "out-2.wav", CARD_S16, &frames));
	assert_int_equal(frames, 1001 + 1002);
	free(read_wav(box, "out-3.wav", CARD_S16, &frames));
	assert_int_equal(frames, 1003);
	box_free(box);
}

/* Open with another spec while it plays: drained, closed, opened anew. */
static void
test_open_again_with_another_spec(void **state)
{
	const struct audio_spec other = {44100, 1, SAMPLE_S32, 24};
	struct box *box = box_new(&card_null, 50);
	struct stage *stage = &box->stage;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	stage_begin_cut(stage, &(struct stage_song){.cut = 1,
						    .stream = 1,
						    .frames = 1000000,
						    .bits = 16});
	assert_non_null(stage_await(stage, RT_EVENT_STRETCH, 1));
	output_open(stage->output, &other);
	assert_int_equal(output_state(stage->output), OUTPUT_DRAINING);
	while (stage->opened < 2)
		stage_turn(stage);
	assert_int_equal(stage->info.spec.rate_hz, 44100);
	assert_int_equal(stage->info.spec.channels, 1);
	assert_int_equal(stage->failed, 0);
	box_free(box);
}

static void
test_failure_is_tried_again(void **state)
{
	struct box *box = box_new(&card_wav, 50);
	struct stage *stage = &box->stage;
	char away[80];

	(void)state;
	snprintf(away, sizeof(away), "%s-away", box->dir);
	assert_int_equal(rename(box->dir, away), 0);
	output_open(stage->output, &stereo16);
	assert_true(stage_await_state(stage, OUTPUT_RETRY));
	assert_int_equal(stage->failed, 1);
	assert_non_null(strstr(stage->reason, "No such file"));
	assert_string_equal(output_error(stage->output), stage->reason);
	assert_null(output_info(stage->output));
	assert_int_equal(rename(away, box->dir), 0);
	assert_true(stage_await_state(stage, OUTPUT_OPEN));
	assert_int_equal(stage->failed, 1);
	assert_int_equal(stage->opened, 1);
	assert_string_equal(output_error(stage->output), "");
	/* Never run: closes all the same. */
	output_close(stage->output, true);
	assert_true(stage_await_state(stage, OUTPUT_CLOSED));
	assert_int_equal(stage->closed, 1);
	box_free(box);
}

static void
test_close_while_opening_or_retrying(void **state)
{
	struct box *box = box_new(&card_null, 50);
	struct stage *stage = &box->stage;

	(void)state;
	output_open(stage->output, &stereo16);
	assert_int_equal(output_state(stage->output), OUTPUT_OPENING);
	output_close(stage->output, false);
	assert_true(stage_await_state(stage, OUTPUT_CLOSED));
	assert_int_equal(stage->closed, 1);
	assert_int_equal(stage->opened, 0);
	/* And destroyed while opening, by box_free(). */
	output_open(stage->output, &stereo16);
	box_free(box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_null_plays_to_the_end),
		cmocka_unit_test(test_other_specs_get_other_files),
		cmocka_unit_test(test_open_again_with_another_spec),
		cmocka_unit_test(test_failure_is_tried_again),
		cmocka_unit_test(test_close_while_opening_or_retrying),
	};

	log_init(LOG_LEVEL_ERROR);
	if (rt_fence_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

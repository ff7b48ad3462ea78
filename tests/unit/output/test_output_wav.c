/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From decks to a file, through the real thread, sample by sample. */
#include "tests/unit/output/box.h"

static void
test_wav_is_bit_perfect(void **state)
{
	static const struct {
		uint32_t bits;
		enum card_format format;
	} cases[] = {{16, CARD_S16}, {24, CARD_S24_3}, {32, CARD_S32}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct box *box = box_new(&card_wav, 60);
		struct stage *stage = &box->stage;
		struct audio_spec spec = stereo16;
		uint64_t frames;
		int32_t *samples;

		spec.bits = cases[i].bits;
		assert_true(stage_play(stage, &spec));
		for (uint64_t song = 0; song < 2; song++)
			stage_begin_cut(stage, &(struct stage_song){
						       .cut = 1,
						       .stream = 1 + song,
						       .frames = 4001,
						       .bits = cases[i].bits,
						       .last = song == 1});
		samples = hear_to_the_end(box, 1, cases[i].format, &frames);
		assert_int_equal(frames, 8002);
		for (uint64_t f = 0; f < frames; f++)
			assert_int_equal(samples[f * 2 + 1],
					 tape_s32(1 + f / 4001, f % 4001, 1,
						  cases[i].bits));
		free(samples);
		box_free(box);
	}
}

static void
test_float_wav(void **state)
{
	struct box *box = box_new(&card_wav, 60);
	struct stage *stage = &box->stage;
	const struct audio_spec spec = {RATE, 2, SAMPLE_F32, 0};
	uint64_t frames;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &spec));
	stage_begin_cut(stage, &(struct stage_song){.cut = 1,
						    .stream = 1,
						    .frames = 3000,
						    .kind = SAMPLE_F32,
						    .last = true});
	samples = hear_to_the_end(box, 1, CARD_F32, &frames);
	assert_int_equal(frames, 3000);
	for (uint64_t i = 0; i < frames * 2; i++) {
		float value;

		memcpy(&value, &samples[i], sizeof(value));
		assert_true(value == tape_f32(1, i / 2, (uint32_t)(i % 2)));
	}
	free(samples);
	box_free(box);
}

/* What is in the file is what was heard, rewinds and all: the song up to the
 * frame where it was told to stand, a fade, a fade, and on from that frame. */
static void
test_pause_and_go_on(void **state)
{
	struct box *box = box_new(&card_wav, 200);
	struct stage *stage = &box->stage;
	uint64_t frames, at;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	stage_begin_cut(stage, &(struct stage_song){.cut = 1,
						    .stream = 1,
						    .frames = 20000,
						    .bits = 16,
						    .last = true});
	stage_await_heard(stage, 3000);
	stage->plan.lanes[LANE_MUSIC].paused = 1;
	stage_publish(stage);
	at = stage_await(stage, RT_EVENT_LANE_PAUSED, 1)->value;
	stage_await_heard(stage, at + FADE);
	stage->plan.lanes[LANE_MUSIC].paused = 0;
	stage_publish(stage);
	samples = hear_to_the_end(box, 1, CARD_S16, &frames);
	assert_int_equal(frames, 20000 + FADE);
	expect(samples, 0, at, 1, 0);
	expect(samples, at + 2 * FADE, frames, 1, at + FADE);
	assert_true(abs(samples[(at + FADE - 1) * 2]) < 1 << 24);
	assert_true(abs(samples[(at + FADE) * 2]) < 1 << 18);
	free(samples);
	box_free(box);
}

static void
test_cut_and_stop(void **state)
{
	struct box *box = box_new(&card_wav, 200);
	struct stage *stage = &box->stage;
	uint64_t frames, at;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	stage_begin_cut(stage, &(struct stage_song){.cut = 1,
						    .stream = 1,
						    .frames = 100000,
						    .bits = 16});
	stage_await_heard(stage, 2000);
	stage_begin_cut(stage, &(struct stage_song){.cut = 2,
						    .stream = 2,
						    .frames = 100000,
						    .bits = 16});
	assert_non_null(stage_await(stage, RT_EVENT_STRETCH, 2));
	stage_await_heard(stage, 6000);
	/* To nothing: the first cut's deck is free again by now. */
	stage_begin_cut(stage, &(struct stage_song){.cut = 3, .last = true});
	samples = hear_to_the_end(box, 3, CARD_S16, &frames);
	for (at = 0; samples[at * 2] == tape_s32(1, at, 0, 16); at++)
		continue;
	assert_true(at >= 2000 && at < frames - 2 * FADE);
	expect(samples, at + FADE, frames - FADE, 2, FADE);
	assert_true(abs(samples[(frames - 1) * 2]) < 1 << 24);
	free(samples);
	box_free(box);
}

static void
test_settle_silence_comes_first(void **state)
{
	struct box *box = box_with((struct output_config){
		.driver = &card_wav,
		.buffer_ms = 60,
		.period_ms = 20,
		.rewind = -1,
		.settle_ms = 40,
		.priority = 45,
	});
	struct stage *stage = &box->stage;
	uint64_t frames;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	stage_begin_cut(stage, &(struct stage_song){.cut = 1,
						    .stream = 1,
						    .frames = 3000,
						    .bits = 16,
						    .last = true});
	samples = hear_to_the_end(box, 1, CARD_S16, &frames);
	assert_int_equal(frames, RATE * 40 / 1000 + 3000);
	for (uint64_t i = 0; i < RATE * 40 / 1000 * 2; i++)
		assert_int_equal(samples[i], 0);
	expect(samples, RATE * 40 / 1000, frames, 1, 0);
	free(samples);
	box_free(box);
}

/* A lane that runs dry is counted once; the file has no hole for it, since a
 * file can wait. */
static void
test_a_dry_lane_is_waited_for(void **state)
{
	struct box *box = box_new(&card_wav, 60);
	struct stage *stage = &box->stage;
	uint64_t frames;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	stage_begin_cut(stage, &(struct stage_song){.cut = 1,
						    .stream = 1,
						    .frames = 6000,
						    .bits = 16});
	await_dry(stage, 6000);
	stage_add(stage, &(struct stage_song){.cut = 1,
					      .stream = 1,
					      .stream_frame = 6000,
					      .frames = 5000,
					      .bits = 16,
					      .last = true});
	samples = hear_to_the_end(box, 1, CARD_S16, &frames);
	assert_int_equal(frames, 11000);
	expect(samples, 0, 11000, 1, 0);
	free(samples);
	box_free(box);
}

/* Speech is heard while the music starves. */
static void
test_a_dry_lane_holds_up_no_other(void **state)
{
	struct box *box = box_new(&card_wav, 60);
	struct stage *stage = &box->stage;
	uint64_t frames, at = 0;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	stage_begin_cut(stage, &(struct stage_song){.cut = 1,
						    .stream = 1,
						    .frames = 4000,
						    .bits = 16});
	await_dry(stage, 4000);
	stage_begin_cut(stage, &(struct stage_song){.lane = LANE_SPEECH,
						    .cut = 1,
						    .stream = 9,
						    .frames = 4000,
						    .bits = 16,
						    .last = true});
	assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, 1));
	assert_int_equal(stage_find(stage, RT_EVENT_LANE_DRAINED, 1)->lane,
			 LANE_SPEECH);
	assert_true(stage_close(stage, true));
	samples = read_wav(box, "out.wav", CARD_S16, &frames);
	while (at < frames && samples[at * 2] != tape_s32(9, 0, 0, 16))
		at++;
	assert_true(at >= 4000 && at + 4000 <= frames);
	expect(samples, 0, 4000, 1, 0);
	for (uint64_t i = 0; i < 4000; i++)
		assert_int_equal(samples[(at + i) * 2], tape_s32(9, i, 0, 16));
	free(samples);
	box_free(box);
}

/* Between songs the card is fed with silence and goes on. */
static void
test_a_card_that_is_kept_open(void **state)
{
	struct box *box = box_with((struct output_config){
		.driver = &card_wav,
		.buffer_ms = 60,
		.period_ms = 20,
		.rewind = -1,
		.keep_open = true,
		.priority = 45,
	});
	struct stage *stage = &box->stage;
	uint64_t frames, at;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	for (uint64_t cut = 1; cut <= 2; cut++) {
		stage_begin_cut(stage, &(struct stage_song){.cut = cut,
							    .stream = cut,
							    .frames = 3000,
							    .bits = 16,
							    .last = true});
		assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, cut));
		stage_await_heard(stage, 6000 * cut);
	}
	assert_int_equal(xruns(stage), 0);
	assert_true(stage_close(stage, true));
	samples = read_wav(box, "out.wav", CARD_S16, &frames);
	for (at = 0; samples[at * 2] == 0; at++)
		continue;
	expect(samples, at, at + 3000, 1, 0);
	for (at += 3000; samples[at * 2] == 0; at++)
		continue;
	expect(samples, at, at + 3000, 2, 0);
	assert_true(at + 3000 <= frames);
	free(samples);
	box_free(box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wav_is_bit_perfect),
		cmocka_unit_test(test_float_wav),
		cmocka_unit_test(test_pause_and_go_on),
		cmocka_unit_test(test_cut_and_stop),
		cmocka_unit_test(test_settle_silence_comes_first),
		cmocka_unit_test(test_a_dry_lane_is_waited_for),
		cmocka_unit_test(test_a_dry_lane_holds_up_no_other),
		cmocka_unit_test(test_a_card_that_is_kept_open),
	};

	log_init(LOG_LEVEL_ERROR);
	if (rt_fence_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

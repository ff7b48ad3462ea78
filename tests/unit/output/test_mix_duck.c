/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_mix_duck.c - music under what is said: how far it goes down, how fast,
 * for how long, and never with a click. Music is on the left, constant, and
 * what is said on the right: so the left, divided by what it was, is the gain.
 */
#include "daemon/output/mix.h"
#include "tests/unit/output/tape.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
	RATE = TAPE_RATE_HZ,
	MS = RATE / 1000,
	FRAMES = 1600 * MS,
	CAPACITY = FRAMES + 1000 * MS,
	HISTORY = 900 * MS,
	SAID_AT = 200 * MS,
	SAID = 300 * MS,
	CELL = 10 * MS,
};

struct scene {
	struct tape tape;
	struct mix mix;
	struct mix_plan plan;
	float out[FRAMES * TAPE_CHANNELS];
	float again[FRAMES * TAPE_CHANNELS];
};

static struct scene *
scene_new(void)
{
	const struct card_spec spec = {RATE, TAPE_CHANNELS, CARD_F32, 32};
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	tape_init(&scene->tape, CAPACITY, HISTORY, TAPE_CHANNELS);
	mix_init(&scene->mix, scene->tape.bus, &spec);
	scene->plan.volume = 1.0F;
	for (unsigned i = 0; i < LANE_COUNT; i++)
		scene->plan.lanes[i].gain = 1.0F;
	return scene;
}

static void
scene_free(struct scene *scene)
{
	tape_finish(&scene->tape);
	free(scene);
}

/* level on one channel for so many frames, as the lane's cut 1. */
static void
sound(struct scene *scene, unsigned lane, float level, uint32_t channel,
      size_t frames)
{
	struct deck *deck = tape_begin(&scene->tape, lane, 1);
	size_t done = 0;

	tape_stretch(deck, 10 + lane, 0, SAMPLE_F32, 24);
	while (done < frames) {
		size_t span;
		float *memory = pcm_ring_write_span(&deck->ring, &span);

		assert_true(span > 0);
		span = span < frames - done ? span : frames - done;
		for (size_t i = 0; i < span * TAPE_CHANNELS; i++)
			memory[i] = i % TAPE_CHANNELS == channel ? level : 0.0F;
		pcm_ring_commit(&deck->ring, span);
		done += span;
	}
	pcm_ring_end(&deck->ring);
}

static void
mix_to(struct scene *scene, float *out, uint64_t until, size_t piece)
{
	while (scene->mix.frame < until) {
		const uint64_t left = until - scene->mix.frame;
		size_t done;

		assert_int_equal(mix_run(&scene->mix, &scene->plan,
					 &out[scene->mix.frame * TAPE_CHANNELS],
					 left < piece ? (size_t)left : piece,
					 false, &done),
				 MIX_FULL);
	}
}

/* Music alone, then something said over it, then music alone. */
static void
play_scene(struct scene *scene, float music, unsigned lane, float said)
{
	sound(scene, LANE_MUSIC, music, 0, FRAMES + 100 * MS);
	sound(scene, lane, said, 1, SAID);
	scene->plan.lanes[LANE_MUSIC].cut = 1;
	mix_to(scene, scene->out, SAID_AT, 480);
	scene->plan.lanes[lane].cut = 1;
	mix_to(scene, scene->out, FRAMES, 480);
}

static double
gain_db(const struct scene *scene, uint64_t frame, float music)
{
	return 20.0 *
	       log10((double)scene->out[frame * TAPE_CHANNELS] / (double)music);
}

static void
test_it_stands_so_far_below(void **state)
{
	static const struct {
		float music, said;
		unsigned below_db;
		double depth_db;
	} cases[] = {
		{0.25F, 0.1F, 15, 15 + 7.959},
		{0.05F, 0.25F, 15, 15 - 13.979},
		{0.2F, 0.2F, 15, 15},
		{0.02F, 0.5F, 15, 0},
		{0.5F, 0.05F, 15, 24},
		{0.5F, 0.0001F, 15, 0},
		/* Another depth is wanted; 24 dB stay the most. */
		{0.2F, 0.2F, 6, 6},
		{0.2F, 0.2F, 1, 1},
		{0.2F, 0.2F, 40, 24},
		{0.02F, 0.5F, 40, 40 - 27.959},
		{0.5F, 0.05F, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene *scene = scene_new();
		const uint64_t said[] = {SAID_AT + 31 * MS, SAID_AT + SAID - 1,
					 SAID_AT + SAID + 280 * MS};

		scene->tape.bus->duck_db = cases[i].below_db;
		play_scene(scene, cases[i].music, LANE_SPEECH, cases[i].said);
		for (size_t j = 0; j < 3; j++) {
			const double got =
				gain_db(scene, said[j], cases[i].music);

			assert_true(fabs(got + cases[i].depth_db) < 0.05);
		}
		assert_true(scene->out[(SAID_AT + 100) * TAPE_CHANNELS + 1] ==
			    cases[i].said);
		/* The levels before and after are the music's own. */
		assert_true(scene->out[(SAID_AT - 1) * TAPE_CHANNELS] ==
			    cases[i].music);
		assert_true(scene->out[(FRAMES - 1) * TAPE_CHANNELS] ==
			    cases[i].music);
		scene_free(scene);
	}
}

/* Within 30 ms and the cell that it begins in down, 300 ms there, and back in
 * 300 ms, to a cell. */
static void
test_attack_hold_and_release(void **state)
{
	struct scene *scene = scene_new();
	const float music = 0.5F;
	uint64_t frame = SAID_AT, down, up, whole;

	(void)state;
	play_scene(scene, music, LANE_SPEECH, 0.05F);
	while (gain_db(scene, frame, music) > -23.99)
		frame++;
	down = frame;
	while (gain_db(scene, frame, music) < -23.99)
		frame++;
	up = frame;
	while (gain_db(scene, frame, music) < -0.001)
		frame++;
	whole = frame;
	assert_in_range(down - SAID_AT, 20 * MS, 30 * MS + CELL);
	assert_in_range(up - (SAID_AT + SAID), 300 * MS - CELL,
			300 * MS + CELL);
	assert_in_range(whole - up, 300 * MS - CELL, 300 * MS + CELL);
	scene_free(scene);
}

/* No step larger than that of 8 dB in 10 ms, which is 0.0019 of what it was. */
static void
test_no_change_is_a_click(void **state)
{
	struct scene *scene = scene_new();
	double largest = 0;

	(void)state;
	play_scene(scene, 0.5F, LANE_SPEECH, 0.1F);
	for (uint64_t frame = 1; frame < FRAMES; frame++)
		largest = fmax(
			largest,
			fabs((double)scene->out[frame * TAPE_CHANNELS] -
			     (double)scene->out[(frame - 1) * TAPE_CHANNELS]));
	assert_true(largest > 0 && largest < 0.5 * 0.00195);
	scene_free(scene);
}

static void
test_a_rewind_gives_the_same(void **state)
{
	struct scene *scene = scene_new();

	(void)state;
	play_scene(scene, 0.5F, LANE_SPEECH, 0.1F);
	for (uint64_t to = FRAMES - HISTORY + 1000; to < FRAMES; to += 997) {
		/* As far as a while later, in other pieces. */
		const uint64_t end = to + 9000 < FRAMES ? to + 9000 : FRAMES;

		assert_true(mix_lowest(&scene->mix, &scene->plan) <= to);
		mix_rewind(&scene->mix, to);
		mix_to(scene, scene->again, end, 1 + to % 701);
		assert_memory_equal(&scene->again[to * TAPE_CHANNELS],
				    &scene->out[to * TAPE_CHANNELS],
				    (end - to) * TAPE_CHANNELS * sizeof(float));
		mix_to(scene, scene->again, FRAMES, 4096);
	}
	scene_free(scene);
}

/* A word taken back before it was heard leaves no trace of itself. */
static void
test_what_was_taken_back_ducks_nothing(void **state)
{
	struct scene *scene = scene_new();

	(void)state;
	sound(scene, LANE_MUSIC, 0.5F, 0, FRAMES + 100 * MS);
	sound(scene, LANE_SPEECH, 0.1F, 1, SAID);
	scene->plan.lanes[LANE_MUSIC].cut = 1;
	mix_to(scene, scene->out, SAID_AT, 480);
	scene->plan.lanes[LANE_SPEECH].cut = 1;
	mix_to(scene, scene->out, SAID_AT + 60 * MS, 480);
	mix_rewind(&scene->mix, SAID_AT);
	scene->plan.lanes[LANE_SPEECH].cut = 0;
	mix_to(scene, scene->out, SAID_AT + 200 * MS, 480);
	for (uint64_t i = 0; i < SAID_AT + 200 * MS; i++)
		assert_true(scene->out[i * TAPE_CHANNELS] == 0.5F);
	scene_free(scene);
}

/* A preview lowers music; what is said lowers a preview; a chime nothing. */
static void
test_who_lowers_whom(void **state)
{
	struct scene *scene = scene_new();

	(void)state;
	play_scene(scene, 0.2F, LANE_PREVIEW, 0.2F);
	assert_true(fabs(gain_db(scene, SAID_AT + SAID - 1, 0.2F) + 15) < 0.05);
	scene_free(scene);
	scene = scene_new();
	play_scene(scene, 0.2F, LANE_CHIME, 0.2F);
	assert_true(scene->out[(SAID_AT + SAID - 1) * TAPE_CHANNELS] == 0.2F);
	scene_free(scene);
	scene = scene_new();
	sound(scene, LANE_PREVIEW, 0.2F, 0, FRAMES + 100 * MS);
	sound(scene, LANE_SPEECH, 0.2F, 1, SAID);
	scene->plan.lanes[LANE_PREVIEW].cut = 1;
	scene->plan.lanes[LANE_SPEECH].cut = 1;
	mix_to(scene, scene->out, SAID, 480);
	assert_true(fabs(gain_db(scene, SAID - 1, 0.2F) + 15) < 0.05);
	scene_free(scene);
}

static void
test_what_is_said_is_heard_at_volume_0(void **state)
{
	struct scene *scene = scene_new();
	const uint64_t at = SAID_AT + 100 * MS;
	double db;

	(void)state;
	scene->plan.volume = 0.0F;
	play_scene(scene, 0.5F, LANE_SPEECH, 0.5F);
	db = 20 * log10((double)scene->out[at * TAPE_CHANNELS + 1] / 0.5);
	assert_true(scene->out[at * TAPE_CHANNELS] == 0.0F);
	assert_true(fabs(db + 30) < 0.1);
	scene_free(scene);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_stands_so_far_below),
		cmocka_unit_test(test_attack_hold_and_release),
		cmocka_unit_test(test_no_change_is_a_click),
		cmocka_unit_test(test_a_rewind_gives_the_same),
		cmocka_unit_test(test_what_was_taken_back_ducks_nothing),
		cmocka_unit_test(test_who_lowers_whom),
		cmocka_unit_test(test_what_is_said_is_heard_at_volume_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

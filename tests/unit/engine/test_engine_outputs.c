/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_outputs.c - two outputs of one engine, one of which hears music
 * alone: none of what is said, nor that music goes down for it. The music is a
 * sine, which obeys x[n+1] + x[n-1] = 2 cos(w) x[n], whatever its place in a
 * frame; what is said is noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/engine_parts.h"
#include "daemon/output/follower.h"
#include "daemon/output/output.h"
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "tests/kit/rig/rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MUSIC = RIG_RATE * 2, SAID = 6000, NOISE = 7, TRIES = 4 };

static const double TURN = 0.05; /* radians a frame */
static const double LOUD = 0.25;

static int16_t
tone(size_t frame)
{
	return (int16_t)lrint(LOUD * 32768 * sin(TURN * (double)frame));
}

static void
put(uint8_t *at, uint32_t value, unsigned bytes)
{
	while (bytes-- > 0) {
		*at++ = (uint8_t)value;
		value >>= 8;
	}
}

static void
make_tone(const struct rig *rig)
{
	enum { HEAD = 44, FRAME = 4 };
	const size_t length = HEAD + MUSIC * FRAME;
	uint8_t *wav = calloc(1, length);

	assert_non_null(wav);
	memcpy(wav, "RIFF....WAVEfmt ", 16);
	put(wav + 4, (uint32_t)length - 8, 4);
	put(wav + 16, 16, 4);
	put(wav + 20, 1, 2);
	put(wav + 22, 2, 2);
	put(wav + 24, RIG_RATE, 4);
	put(wav + 28, RIG_RATE * FRAME, 4);
	put(wav + 32, FRAME, 2);
	put(wav + 34, 16, 2);
	memcpy(wav + 36, "data", 4);
	put(wav + 40, MUSIC * FRAME, 4);
	for (size_t i = 0; i < MUSIC; i++) {
		put(wav + HEAD + i * FRAME, (uint32_t)tone(i), 2);
		put(wav + HEAD + i * FRAME + 2, (uint32_t)tone(i), 2);
	}
	rig_write(rig, "music.wav", wav, length);
	free(wav);
}

/* Neither ran dry, which is the machine's affair. */
static bool
has_kept_up(const struct rig *rig)
{
	const struct follower *follower = rig->engine->outputs[1].follower;
	bool kept_up = follower == NULL ||
		       (atomic_load(&follower->breaks) == 0 &&
			atomic_load(&follower->dropped_frames) == 0);
	unsigned i;

	for (i = 0; i < 2; i++)
		kept_up &= atomic_load(&output_figures(
						rig->engine->outputs[i].output)
						->xruns) == 0;
	return kept_up;
}

static bool
both_play(const struct rig *rig)
{
	const struct follower *follower = rig->engine->outputs[1].follower;

	return follower != NULL && atomic_load(&follower->lag_ns) != 0;
}

/* Something is said twice over music, which is heard to its end. False: the
 * machine was too slow for it. */
static bool
play(struct rig *rig)
{
	const struct source_ref ref = {"said.flac", getuid()};
	const uint64_t music = rig_open_ready(rig, "music.wav", 0);
	uint64_t said;
	bool kept_up = true;

	rig_play(rig, music);
	while (!both_play(rig))
		rig_turn(rig, clock_now_ns() + NS_PER_MS);
	for (unsigned i = 0; i < 2; i++) {
		const enum lane_id lane = i == 0 ? LANE_CHIME : LANE_SPEECH;

		assert_int_equal(engine_open(rig->engine, lane, &ref, 0, &said),
				 0);
		rig_wait(rig, RIG_READY, said);
		assert_int_equal(engine_play(rig->engine, lane, said), 0);
		rig_wait(rig, RIG_ENDED, said);
	}
	rig_wait(rig, RIG_ENDED, music);
	/* What follows is heard to the end, too. */
	while (both_play(rig)) {
		kept_up &= has_kept_up(rig);
		rig_turn(rig, clock_now_ns() + NS_PER_MS);
	}
	kept_up &= has_kept_up(rig);
	rig_stop(rig);
	return kept_up;
}

/* Tried anew on a machine that was too slow; false: it always was. */
static bool
play_with(struct rig *rig, const struct rig_options *options)
{
	unsigned i;

	for (i = 0; i < TRIES; i++) {
		rig_init_with(rig, options);
		make_tone(rig);
		rig_make(rig, "said.flac", NOISE, SAID);
		if (play(rig))
			return true;
		rig_finish(rig);
	}
	return false;
}

/* How far a wav of floats is from a sine, at most, and how loud it is in each
 * 10 ms, at least, but for the edges. */
static void
judge(const char *path, double *ret_step, double *ret_lowest)
{
	enum { EDGE = 400, CELL = RIG_RATE / 100 };
	struct rig_wav wav;
	size_t first = 0, last, i;

	rig_read_wav(path, &wav);
	assert_non_null(wav.floats);
	last = wav.frames - 1;
	while (first < last && wav.floats[2 * first] == 0)
		first++;
	while (last > first && wav.floats[2 * last] == 0)
		last--;
	assert_true(last - first > MUSIC / 2);
	*ret_step = 0;
	*ret_lowest = 1;
	for (i = first + EDGE; i + EDGE < last; i++)
		*ret_step = fmax(*ret_step,
				 fabs((double)wav.floats[2 * i - 2] +
				      wav.floats[2 * i + 2] -
				      2 * cos(TURN) * wav.floats[2 * i]));
	for (i = first + EDGE; i + EDGE + CELL < last; i += CELL) {
		double loudest = 0;

		for (size_t k = i; k < i + CELL; k++)
			loudest = fmax(loudest, fabs(wav.floats[2 * k]));
		*ret_lowest = fmin(*ret_lowest, loudest);
	}
	free(wav.samples);
	free(wav.floats);
}

static bool
is_the_song(const char *path)
{
	struct rig_wav wav;
	size_t i = 0;

	rig_read_wav(path, &wav);
	assert_non_null(wav.samples);
	while (i < MUSIC && i < wav.frames && wav.samples[2 * i] == tone(i) &&
	       wav.samples[2 * i + 1] == tone(i))
		i++;
	free(wav.samples);
	return i == MUSIC;
}

static void
who_follows_hears_music_alone(void **state)
{
	const struct rig_options options = {.driver = &card_wav,
					    .buffer_ms = 500,
					    .second = true,
					    .second_hears_music_only = true};
	static struct rig rig;
	double step = 0, lowest = 0;

	(void)state;
	if (!play_with(&rig, &options))
		skip();
	judge(rig.second, &step, &lowest);
	print_message("largest step %.6f, lowest %.4f\n", step, lowest);
	/* 16 bits of the song, and nothing else. */
	assert_true(step < 2e-4);
	assert_true(lowest > 0.98 * LOUD);
	assert_false(is_the_song(rig.wav));
	rig_finish(&rig);
}

static void
the_clock_hears_music_alone(void **state)
{
	const struct rig_options options = {.driver = &card_wav,
					    .buffer_ms = 500,
					    .music_only = true,
					    .second = true};
	static struct rig rig;
	double step = 0, lowest = 0;

	(void)state;
	if (!play_with(&rig, &options))
		skip();
	assert_true(is_the_song(rig.wav));
	judge(rig.second, &step, &lowest);
	assert_true(step > 0.1);
	rig_finish(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_follows_hears_music_alone),
		cmocka_unit_test(the_clock_hears_music_alone),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

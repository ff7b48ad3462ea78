/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_play.c - the engine with real decoders into a wav file: what is
 * written is what the files hold, sample by sample. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/engine_parts.h"
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "tests/kit/rig/rig.h"

#include <errno.h>
#include <stdlib.h>

enum { SHORT = 8000, LONG = 20000 };

static void
one_song_is_written_as_it_is(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t song;
	int ready;

	rig_make(rig, "a.flac", 1, SHORT);
	song = rig_open(rig, "a.flac", 0);
	ready = rig_wait(rig, RIG_READY, song);
	assert_int_equal(rig->events[ready].info.spec.rate_hz, RIG_RATE);
	assert_int_equal(rig->events[ready].info.frames, SHORT);
	rig_play(rig, song);
	rig_wait(rig, RIG_ENDED, song);
	assert_true(rig_find(rig, RIG_STARTED, song) >= 0);
	assert_true(rig_find(rig, RIG_STARTED, song) <
		    rig_find(rig, RIG_ENDED, song));
	engine_release(rig->engine, song);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, SHORT);
	assert_int_equal(wav.rate_hz, RIG_RATE);
	assert_int_equal(rig_same(&wav, 0, 1, 0, SHORT), SHORT);
	free(wav.samples);
}

static void
songs_join_without_a_gap(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t first, second, third;

	rig_make(rig, "a.flac", 1, SHORT);
	rig_make(rig, "b.flac", 2, SHORT + 1);
	rig_make(rig, "c.flac", 3, SHORT - 1);
	first = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, first);
	second = rig_open_ready(rig, "b.flac", 0);
	rig_follow(rig, first, second);
	rig_wait(rig, RIG_STARTED, second);
	engine_release(rig->engine, first);
	third = rig_open_ready(rig, "c.flac", 0);
	rig_follow(rig, second, third);
	rig_wait(rig, RIG_ENDED, third);
	assert_int_equal(rig_find(rig, RIG_ENDED, first), -1);
	assert_int_equal(rig_find(rig, RIG_ENDED, second), -1);
	assert_int_equal(rig_count(rig, RIG_STARTED), 3);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, 3 * SHORT);
	assert_int_equal(rig_same(&wav, 0, 1, 0, SHORT), SHORT);
	assert_int_equal(rig_same(&wav, SHORT, 2, 0, SHORT + 1), SHORT + 1);
	assert_int_equal(rig_same(&wav, 2 * SHORT + 1, 3, 0, SHORT - 1),
			 SHORT - 1);
	free(wav.samples);
}

static void
songs_of_one_sample_are_heard_in_order(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t songs[4];
	unsigned i;

	rig_make(rig, "0.flac", 10, SHORT);
	rig_make(rig, "1.flac", 11, 1);
	rig_make(rig, "2.flac", 12, 1);
	rig_make(rig, "3.flac", 13, 1);
	songs[0] = rig_open_ready(rig, "0.flac", 0);
	songs[1] = rig_open_ready(rig, "1.flac", 0);
	songs[2] = rig_open_ready(rig, "2.flac", 0);
	songs[3] = rig_open_ready(rig, "3.flac", 0);
	rig_play(rig, songs[0]);
	for (i = 0; i < 3; i++)
		rig_follow(rig, songs[i], songs[i + 1]);
	rig_wait(rig, RIG_ENDED, songs[3]);
	for (i = 0; i < 3; i++)
		assert_true(rig_find(rig, RIG_STARTED, songs[i]) <
			    rig_find(rig, RIG_STARTED, songs[i + 1]));
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, SHORT + 3);
	assert_int_equal(rig_same(&wav, 0, 10, 0, SHORT), SHORT);
	for (i = 0; i < 3; i++)
		assert_int_equal(rig_same(&wav, SHORT + i, 11 + i, 0, 1), 1);
	free(wav.samples);
}

static void
a_start_in_the_middle_is_exact(void **state)
{
	struct rig *rig = *state;
	/* Half a frame past a frame: rounds down. */
	const uint64_t frame = 4321;
	const int64_t start_ns = clock_frames_to_ns(frame, RIG_RATE) + 2000;
	const uint32_t fade = RIG_RATE / 200 + 1;
	struct engine_position position;
	struct rig_wav wav;
	uint64_t song;

	rig_make(rig, "a.flac", 1, LONG);
	song = rig_open_ready(rig, "a.flac", start_ns);
	rig_play(rig, song);
	engine_position(rig->engine, LANE_MUSIC, &position);
	assert_int_equal(position.stream, song);
	assert_int_equal(clock_ns_to_frames(position.elapsed_ns + 1, RIG_RATE),
			 frame);
	rig_wait(rig, RIG_ENDED, song);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, LONG - frame);
	/* Faded in: it does not begin with the song. */
	assert_int_equal(
		rig_same(&wav, fade, 1, frame + fade, LONG - frame - fade),
		LONG - frame - fade);
	free(wav.samples);
}

static void
a_start_past_the_end_ends_at_once(void **state)
{
	struct rig *rig = *state;
	uint64_t song;

	rig_make(rig, "a.flac", 1, SHORT);
	song = rig_open_ready(rig, "a.flac", 5 * NS_PER_S);
	rig_play(rig, song);
	rig_wait(rig, RIG_ENDED, song);
}

/* Where the song with this seed begins at its frame 0 in the wav. */
static size_t
find_song(const struct rig_wav *wav, unsigned seed, uint64_t frame)
{
	size_t at;

	for (at = 0; at < wav->frames; at++)
		if (rig_same(wav, at, seed, frame, 64) == 64)
			return at;
	return SIZE_MAX;
}

static void
next_crosses_over(void **state)
{
	struct rig *rig = *state;
	const size_t fade = RIG_RATE / 200 + 1;
	struct rig_wav wav;
	uint64_t first, second;
	size_t at;

	rig_make(rig, "a.flac", 1, RIG_RATE);
	rig_make(rig, "b.flac", 2, SHORT);
	first = rig_open_ready(rig, "a.flac", 0);
	second = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, first);
	rig_follow(rig, first, second);
	rig_wait_position(rig, first, 50 * NS_PER_MS);
	rig_play(rig, second);
	rig_wait(rig, RIG_ENDED, second);
	assert_int_equal(rig_count(rig, RIG_STARTED), 2);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	/* The second to its end; the first exact up to the crossing. */
	at = find_song(&wav, 2, fade);
	assert_true(at != SIZE_MAX);
	at -= fade;
	assert_int_equal(wav.frames, at + SHORT);
	assert_int_equal(rig_same(&wav, at + fade, 2, fade, SHORT - fade),
			 SHORT - fade);
	assert_int_equal(rig_same(&wav, 0, 1, 0, at), at);
	/* Heard at once: far from the end of the first. */
	assert_true(at < RIG_RATE / 2);
	free(wav.samples);
}

static void
stop_fades_out(void **state)
{
	struct rig *rig = *state;
	struct engine_position position;
	const size_t fade = RIG_RATE / 200 + 1;
	struct rig_wav wav;
	uint64_t song;
	size_t same;

	rig_make(rig, "a.flac", 1, RIG_RATE);
	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait_position(rig, song, 50 * NS_PER_MS);
	engine_stop(rig->engine, LANE_MUSIC);
	do {
		rig_run(rig, 5 * NS_PER_MS);
		engine_position(rig->engine, LANE_MUSIC, &position);
	} while (position.stream != 0);
	assert_int_equal(rig_find(rig, RIG_ENDED, song), -1);
	engine_release(rig->engine, song);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	same = rig_same(&wav, 0, 1, 0, wav.frames);
	assert_true(same >= RIG_RATE / 20);
	assert_true(wav.frames >= same && wav.frames - same <= 2 * fade);
	assert_true(wav.frames < RIG_RATE / 2);
	assert_true(abs(wav.samples[2 * wav.frames - 2]) < 400);
	free(wav.samples);
}

/* The cut to nothing drains at the frame at which the lane finds itself paused
 * again. */
static void
stop_in_a_pause_is_the_end(void **state)
{
	struct rig *rig = *state;
	const struct line *line = &rig->engine->lines[LANE_MUSIC];
	const int64_t until_ns = clock_now_ns() + RIG_PATIENCE_NS;
	struct engine_output output;
	uint64_t song;

	rig_make(rig, "a.flac", 1, 8 * LONG);
	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait_position(rig, song, 50 * NS_PER_MS);
	engine_pause(rig->engine, LANE_MUSIC, true);
	while (line->paused_ns == 0 && clock_now_ns() < until_ns)
		rig_turn(rig, until_ns);
	engine_stop(rig->engine, LANE_MUSIC);
	while (line->sounding_cut != line->cut && clock_now_ns() < until_ns)
		rig_turn(rig, until_ns);
	/* So that it is not given back as in a long pause. */
	engine_pause(rig->engine, LANE_MUSIC, false);
	do {
		rig_turn(rig, until_ns);
		engine_output(rig->engine, &output);
	} while (output.state != OUTPUT_CLOSED && clock_now_ns() < until_ns);
	assert_int_equal(output.state, OUTPUT_CLOSED);
	assert_true(line->silent);
}

static void
pause_stands_still_and_goes_on_at_that_frame(void **state)
{
	struct rig *rig = *state;
	struct engine_position paused, later;
	const size_t fade = RIG_RATE / 200 + 1;
	struct rig_wav wav;
	uint64_t song;
	size_t same;

	rig_make(rig, "a.flac", 1, LONG);
	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait_position(rig, song, 50 * NS_PER_MS);
	engine_pause(rig->engine, LANE_MUSIC, true);
	do {
		engine_position(rig->engine, LANE_MUSIC, &paused);
		assert_int_equal(paused.stream, song);
		rig_run(rig, 50 * NS_PER_MS);
		engine_position(rig->engine, LANE_MUSIC, &later);
	} while (later.elapsed_ns != paused.elapsed_ns);
	engine_pause(rig->engine, LANE_MUSIC, false);
	rig_wait(rig, RIG_ENDED, song);
	assert_int_equal(rig_count(rig, RIG_STARTED), 1);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	same = rig_same(&wav, 0, 1, 0, wav.frames);
	/* A fade's first frames can be the same by chance. */
	assert_in_range(
		same, clock_ns_to_frames(paused.elapsed_ns + 1, RIG_RATE),
		clock_ns_to_frames(paused.elapsed_ns + 1, RIG_RATE) + 4);
	/* Out, in, and on to the end without a missing frame. */
	assert_true(wav.frames >= LONG);
	assert_int_equal(rig_same(&wav, wav.frames - (LONG - same - fade), 1,
				  same + fade, LONG - same - fade),
			 LONG - same - fade);
	free(wav.samples);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_song_is_written_as_it_is,
						rig_set_up_wav, rig_tear_down),
		cmocka_unit_test_setup_teardown(songs_join_without_a_gap,
						rig_set_up_wav, rig_tear_down),
		cmocka_unit_test_setup_teardown(
			songs_of_one_sample_are_heard_in_order, rig_set_up_wav,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(a_start_in_the_middle_is_exact,
						rig_set_up_wav, rig_tear_down),
		cmocka_unit_test_setup_teardown(
			a_start_past_the_end_ends_at_once, rig_set_up_wav,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(next_crosses_over,
						rig_set_up_wav, rig_tear_down),
		cmocka_unit_test_setup_teardown(stop_fades_out, rig_set_up_wav,
						rig_tear_down),
		cmocka_unit_test_setup_teardown(stop_in_a_pause_is_the_end,
						rig_set_up_wav, rig_tear_down),
		cmocka_unit_test_setup_teardown(
			pause_stands_still_and_goes_on_at_that_frame,
			rig_set_up_wav, rig_tear_down),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

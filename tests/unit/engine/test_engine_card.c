/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_card.c - what happens to the music when something happens to the
 * card: gone and back, busy, given back in a long pause and after the end. The
 * card is the wav file with a switch; what it holds tells what was heard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/engine_parts.h"
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "tests/kit/rig/rig.h"
#include "tests/kit/rig/shaky.h"

#include <errno.h>
#include <stdlib.h>

enum { LENGTH = 30000, FADE = RIG_RATE / 200 + 1 };

static int
set_up(void **state)
{
	return rig_set_up(state, shaky_card(&card_wav));
}

static void
assert_stands_still(struct rig *rig, uint64_t song, int64_t *ret_elapsed_ns)
{
	struct engine_position before, after;

	engine_position(rig->engine, LANE_MUSIC, &before);
	rig_run(rig, 30 * NS_PER_MS);
	engine_position(rig->engine, LANE_MUSIC, &after);
	assert_int_equal(before.stream, song);
	assert_int_equal(after.stream, song);
	assert_int_equal(before.elapsed_ns, after.elapsed_ns);
	*ret_elapsed_ns = after.elapsed_ns;
}

/* The wav is the song up to some frame, then, after a break that holds no
 * other sound, the song to its end, from a frame that is not far from it. */
static void
assert_whole_but_for_a_break(const char *path, uint64_t stood_at)
{
	struct rig_wav wav;
	size_t head, tail;

	rig_read_wav(path, &wav);
	head = rig_same(&wav, 0, 1, 0, LENGTH);
	assert_true(head + FADE >= stood_at);
	tail = LENGTH - stood_at - FADE;
	assert_true(wav.frames >= tail);
	assert_int_equal(
		rig_same(&wav, wav.frames - tail, 1, LENGTH - tail, tail),
		tail);
	free(wav.samples);
}

static void
music_goes_on_when_the_card_is_back(void **state)
{
	struct rig *rig = *state;
	int64_t elapsed_ns;
	uint64_t song;

	rig_make(rig, "a.flac", 1, LENGTH);
	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait_position(rig, song, 100 * NS_PER_MS);
	shaky_plug(false);
	rig_wait_output(rig, OUTPUT_RETRY);
	assert_stands_still(rig, song, &elapsed_ns);
	assert_in_range(elapsed_ns, 90 * NS_PER_MS, 600 * NS_PER_MS);
	shaky_plug(true);
	rig_wait(rig, RIG_ENDED, song);
	assert_int_equal(rig_count(rig, RIG_STARTED), 1);
	assert_int_equal(rig_count(rig, RIG_FAILED), 0);
	assert_int_equal(shaky_opens(), 2);
	rig_stop(rig);
	assert_whole_but_for_a_break(
		rig->wav, clock_ns_to_frames(elapsed_ns + 1, RIG_RATE));
}

/* The next song had been mixed behind the first: it is played from its
 * beginning all the same. */
static void
what_was_mixed_and_not_heard_is_not_lost(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t first, second;

	rig_make(rig, "a.flac", 1, LENGTH / 3);
	rig_make(rig, "b.flac", 2, LENGTH / 3);
	first = rig_open_ready(rig, "a.flac", 0);
	second = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, first);
	rig_follow(rig, first, second);
	rig_wait_position(rig, first, 50 * NS_PER_MS);
	shaky_plug(false);
	rig_wait_output(rig, OUTPUT_RETRY);
	shaky_plug(true);
	rig_wait(rig, RIG_ENDED, second);
	assert_int_equal(rig_count(rig, RIG_STARTED), 2);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(
		rig_same(&wav, wav.frames - LENGTH / 3, 2, 0, LENGTH / 3),
		LENGTH / 3);
	free(wav.samples);
}

static void
a_card_that_is_not_there_is_waited_for(void **state)
{
	struct rig *rig = *state;
	struct engine_position position;
	struct engine_output output;
	uint64_t song;

	shaky_plug(false);
	rig_make(rig, "a.flac", 1, LENGTH / 4);
	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait_output(rig, OUTPUT_RETRY);
	engine_output(rig->engine, &output);
	assert_string_equal(output.error, "unplugged");
	assert_null(output.card);
	engine_position(rig->engine, LANE_MUSIC, &position);
	assert_int_equal(position.stream, song);
	assert_int_equal(position.elapsed_ns, 0);
	shaky_plug(true);
	rig_wait(rig, RIG_ENDED, song);
	/* And a stop while waiting ends the waiting. */
	shaky_plug(false);
	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait_output(rig, OUTPUT_RETRY);
	engine_stop(rig->engine, LANE_MUSIC);
	rig_wait_output(rig, OUTPUT_CLOSED);
}

static void
a_long_pause_gives_the_card_back(void **state)
{
	struct rig *rig = *state;
	int64_t elapsed_ns;
	uint64_t song;

	rig->engine->pause_close_ns = 30 * NS_PER_MS;
	rig_make(rig, "a.flac", 1, LENGTH);
	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait_position(rig, song, 100 * NS_PER_MS);
	engine_pause(rig->engine, LANE_MUSIC, true);
	rig_wait_output(rig, OUTPUT_CLOSED);
	assert_stands_still(rig, song, &elapsed_ns);
	engine_pause(rig->engine, LANE_MUSIC, false);
	rig_wait(rig, RIG_ENDED, song);
	assert_int_equal(rig_count(rig, RIG_STARTED), 1);
	assert_int_equal(shaky_opens(), 2);
	rig_stop(rig);
	assert_whole_but_for_a_break(
		rig->wav, clock_ns_to_frames(elapsed_ns + 1, RIG_RATE));
}

static void
the_card_is_closed_after_the_end(void **state)
{
	struct rig *rig = *state;
	struct pool_usage usage;
	uint64_t song;

	rig_make(rig, "a.flac", 1, LENGTH / 10);
	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait(rig, RIG_ENDED, song);
	engine_release(rig->engine, song);
	assert_int_equal(rig_output_state(rig), OUTPUT_OPEN);
	rig_wait_output(rig, OUTPUT_CLOSED);
	while (rig->engine->stream_count > 0)
		rig_turn(rig, clock_now_ns() + 20 * NS_PER_MS);
	/* All memory is back. */
	pool_get_usage(rig->engine->commons->pool, &usage);
	assert_int_equal(usage.used_bytes, 0);
	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait(rig, RIG_ENDED, song);
	assert_int_equal(shaky_opens(), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			music_goes_on_when_the_card_is_back, set_up,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(
			what_was_mixed_and_not_heard_is_not_lost, set_up,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(
			a_card_that_is_not_there_is_waited_for, set_up,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(
			a_long_pause_gives_the_card_back, set_up,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(
			the_card_is_closed_after_the_end, set_up,
			rig_tear_down),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

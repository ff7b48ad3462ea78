/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_hold.c - the only output is disabled and enabled again: its card
 * is given back, what plays stands still, and goes on at that frame. The card
 * is the wav file, which tells what was heard, or one that swallows all. */
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

enum { LENGTH = 15000, FADE = RIG_RATE / 200 + 1 };

static int
set_up(void **state)
{
	return rig_set_up(state, shaky_card(&card_wav));
}

static struct engine_output_info
info_of(const struct rig *rig)
{
	struct engine_output_info info;

	assert_int_equal(engine_output_info(rig->engine, 0, &info), 0);
	return info;
}

static void
set_enabled(struct rig *rig, bool enabled)
{
	assert_int_equal(engine_output_enable(rig->engine, 0, enabled), 0);
}

static uint64_t
frame_of(const struct rig *rig, uint64_t song)
{
	struct engine_position position;

	engine_position(rig->engine, LANE_MUSIC, &position);
	assert_int_equal(position.stream, song);
	return clock_ns_to_frames(position.elapsed_ns + 1, RIG_RATE);
}

static uint64_t
play_for_a_while(struct rig *rig)
{
	uint64_t song;

	rig_make(rig, "a.flac", 1, LENGTH);
	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait_position(rig, song, 100 * NS_PER_MS);
	return song;
}

/* The song up to the frame where it stood, and from there to its end. */
static void
assert_goes_on_at(const char *path, uint64_t stood_at)
{
	const size_t tail = LENGTH - stood_at - FADE;
	struct rig_wav wav;
	size_t head;

	rig_read_wav(path, &wav);
	head = rig_same(&wav, 0, 1, 0, LENGTH);
	assert_in_range(head, stood_at - FADE, stood_at + FADE);
	assert_true(wav.frames >= tail);
	assert_int_equal(
		rig_same(&wav, wav.frames - tail, 1, LENGTH - tail, tail),
		tail);
	/* Fade, silence of less than two buffers, fade. */
	assert_in_range(wav.frames, LENGTH,
			LENGTH + 2 * RIG_BUFFER_MS * RIG_RATE / 1000);
	free(wav.samples);
}

static void
music_stands_still_and_goes_on(void **state)
{
	struct rig *rig = *state;
	struct engine_output output;
	const uint64_t song = play_for_a_while(rig);
	uint64_t frame;

	set_enabled(rig, false);
	assert_false(info_of(rig).enabled);
	rig_wait_output(rig, OUTPUT_CLOSED);
	assert_int_equal(shaky_closes(), 1);
	engine_output(rig->engine, &output);
	assert_true(output.held);
	assert_null(output.card);
	frame = frame_of(rig, song);
	rig_run(rig, 30 * NS_PER_MS);
	assert_int_equal(frame_of(rig, song), frame);
	assert_int_equal(shaky_opens(), 1);
	set_enabled(rig, true);
	assert_true(info_of(rig).enabled);
	rig_wait(rig, RIG_ENDED, song);
	assert_int_equal(rig_count(rig, RIG_STARTED), 1);
	assert_int_equal(rig_count(rig, RIG_FAILED), 0);
	assert_int_equal(shaky_opens(), 2);
	rig_stop(rig);
	assert_goes_on_at(rig->wav, frame);
}

/* Enabled again before the card was given back, or just while it is. */
static void
a_short_while_changes_nothing(void **state)
{
	struct rig *rig = *state;
	const uint64_t song = play_for_a_while(rig);
	unsigned i;

	for (i = 0; i < 20; i += 2) {
		set_enabled(rig, false);
		rig_run(rig, (int64_t)i * NS_PER_MS);
		set_enabled(rig, true);
		rig_run(rig, (int64_t)i * NS_PER_MS);
	}
	rig_wait(rig, RIG_ENDED, song);
	assert_int_equal(rig_count(rig, RIG_STARTED), 1);
	assert_int_equal(rig_count(rig, RIG_FAILED), 0);
}

static void
what_begins_meanwhile_waits(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t song;

	set_enabled(rig, false);
	rig_make(rig, "a.flac", 1, LENGTH);
	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_run(rig, 50 * NS_PER_MS);
	assert_int_equal(rig_output_state(rig), OUTPUT_CLOSED);
	assert_int_equal(shaky_opens(), 0);
	assert_int_equal(frame_of(rig, song), 0);
	set_enabled(rig, true);
	rig_wait(rig, RIG_ENDED, song);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(rig_same(&wav, 0, 1, 0, LENGTH), LENGTH);
	free(wav.samples);
}

/* A pause made before, or meanwhile, is one afterwards. */
static void
paused_music_stays_paused(void **state)
{
	struct rig *rig = *state;
	const uint64_t song = play_for_a_while(rig);
	uint64_t frame;

	engine_pause(rig->engine, LANE_MUSIC, true);
	set_enabled(rig, false);
	rig_wait_output(rig, OUTPUT_CLOSED);
	frame = frame_of(rig, song);
	set_enabled(rig, true);
	rig_run(rig, 50 * NS_PER_MS);
	assert_int_equal(frame_of(rig, song), frame);
	assert_int_equal(shaky_opens(), 1);
	engine_pause(rig->engine, LANE_MUSIC, false);
	rig_wait(rig, RIG_ENDED, song);
	rig_stop(rig);
	assert_goes_on_at(rig->wav, frame);
}

/* What the user wants meanwhile is what goes on: another song, or nothing. */
static void
stop_and_play_count_while_held(void **state)
{
	struct rig *rig = *state;
	const uint64_t song = play_for_a_while(rig);
	uint64_t other;

	set_enabled(rig, false);
	rig_wait_output(rig, OUTPUT_CLOSED);
	rig_make(rig, "b.flac", 2, LENGTH / 4);
	other = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, other);
	engine_release(rig->engine, song);
	set_enabled(rig, true);
	rig_wait(rig, RIG_ENDED, other);
	assert_int_equal(rig_find(rig, RIG_ENDED, song), -1);
	other = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, other);
	rig_wait_position(rig, other, 10 * NS_PER_MS);
	set_enabled(rig, false);
	engine_stop(rig->engine, LANE_MUSIC);
	rig_wait_output(rig, OUTPUT_CLOSED);
	set_enabled(rig, true);
	rig_run(rig, 50 * NS_PER_MS);
	assert_int_equal(rig_output_state(rig), OUTPUT_CLOSED);
}

/* A card that is away is not tried any more. */
static void
a_lost_card_is_given_up(void **state)
{
	struct rig *rig = *state;
	uint64_t song;

	shaky_plug(false);
	rig_make(rig, "a.flac", 1, LENGTH / 4);
	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait_output(rig, OUTPUT_RETRY);
	set_enabled(rig, false);
	rig_wait_output(rig, OUTPUT_CLOSED);
	assert_string_equal(info_of(rig).error, "");
	shaky_plug(true);
	set_enabled(rig, true);
	rig_wait(rig, RIG_ENDED, song);
}

static void
ids_are_looked_at(void **state)
{
	struct rig *rig = *state;
	struct engine_output_info info;
	unsigned news;

	assert_int_equal(engine_output_count(rig->engine), 1);
	assert_int_equal(engine_output_info(rig->engine, 1, &info), -ENOENT);
	assert_int_equal(engine_output_enable(rig->engine, 1, true), -ENOENT);
	info = info_of(rig);
	assert_string_equal(info.name, "wav");
	assert_string_equal(info.driver, "wav");
	assert_string_equal(info.device, rig->wav);
	assert_true(info.enabled && info.is_clock && info.speech);
	rig_run(rig, 0);
	news = rig_count(rig, RIG_OUTPUT);
	set_enabled(rig, true);
	rig_run(rig, 5 * NS_PER_MS);
	assert_int_equal(rig_count(rig, RIG_OUTPUT), news);
	set_enabled(rig, false);
	rig_run(rig, 5 * NS_PER_MS);
	assert_true(rig_count(rig, RIG_OUTPUT) > news);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, rig_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(music_stands_still_and_goes_on),
		TEST(a_short_while_changes_nothing),
		TEST(what_begins_meanwhile_waits),
		TEST(paused_music_stays_paused),
		TEST(stop_and_play_count_while_held),
		TEST(a_lost_card_is_given_up),
		TEST(ids_are_looked_at),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

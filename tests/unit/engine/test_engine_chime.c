/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_chime.c - speech and chimes beside music: with music paused or
 * stopped they are heard as they are, music stays where it is, and the card is
 * kept for what may be said next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/engine_parts.h"
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "tests/kit/rig/rig.h"

#include <stdlib.h>

enum {
	SHORT = 6000,
	LONG = 24000,
	FADE = RIG_RATE * MIX_FADE_US / 1000000,
	MUSIC = 1, /* seeds */
	CHIME = 2,
};

static int
set_up(void **state)
{
	rig_set_up_wav(state);
	rig_make(*state, "music.flac", MUSIC, LONG);
	rig_make(*state, "chime.flac", CHIME, SHORT);
	return 0;
}

static void
say(struct rig *rig, enum lane_id lane)
{
	const uint64_t stream = rig_open_ready_on(rig, lane, "chime.flac");

	rig_play_on(rig, lane, stream);
	rig_wait(rig, RIG_ENDED, stream);
}

/* The frame of the wav from which on all of the chime is heard; music may still
 * fade out under its beginning. */
static size_t
find_chime(const struct rig_wav *wav)
{
	size_t at;

	for (at = 0; at + SHORT <= wav->frames; at++)
		if (rig_same(wav, at + FADE + 1, CHIME, FADE + 1,
			     SHORT - FADE - 1) == SHORT - FADE - 1)
			return at;
	fail_msg("the chime is not heard as it is");
	return 0;
}

/* Every sample of it; then music from the frame at which it fell silent. */
static void
heard_while_paused(struct rig *rig, enum lane_id lane)
{
	const uint64_t music = rig_open_ready(rig, "music.flac", 0);
	struct rig_wav wav;
	size_t chime, stop, go;

	rig_play(rig, music);
	rig_wait_position(rig, music, 50 * NS_PER_MS);
	engine_pause(rig->engine, LANE_MUSIC, true);
	say(rig, lane);
	engine_pause(rig->engine, LANE_MUSIC, false);
	rig_wait(rig, RIG_ENDED, music);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	/* Of the fade the first frame is whole still, if it is alone. */
	stop = rig_same(&wav, 0, MUSIC, 0, LONG) - 1;
	chime = find_chime(&wav);
	assert_true(chime >= stop);
	/* What is left of music ends the wav, but for the fade-in. */
	go = wav.frames - (LONG - stop);
	assert_true(go + 1 >= chime + SHORT);
	assert_int_equal(rig_same(&wav, go + FADE + 1, MUSIC, stop + FADE + 1,
				  LONG - stop - FADE - 1),
			 LONG - stop - FADE - 1);
	free(wav.samples);
}

static void
a_chime_is_heard_while_music_is_paused(void **state)
{
	heard_while_paused(*state, LANE_CHIME);
}

static void
speech_is_heard_while_music_is_paused(void **state)
{
	heard_while_paused(*state, LANE_SPEECH);
}

/* Music goes away under it, and it goes on. */
static void
music_pauses_under_speech(void **state)
{
	struct rig *rig = *state;
	const uint64_t music = rig_open_ready(rig, "music.flac", 0);
	struct rig_wav wav;
	uint64_t speech;
	size_t at;

	rig_play(rig, music);
	rig_wait_position(rig, music, 50 * NS_PER_MS);
	speech = rig_open_ready_on(rig, LANE_SPEECH, "chime.flac");
	rig_play_on(rig, LANE_SPEECH, speech);
	engine_pause(rig->engine, LANE_MUSIC, true);
	rig_wait(rig, RIG_ENDED, speech);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	/* Its end is heard by itself, with no music under it. */
	for (at = wav.frames; at > 0; at--)
		if (wav.samples[(at - 1) * 2] != 0)
			break;
	assert_true(at >= SHORT / 4);
	assert_int_equal(rig_same(&wav, at - SHORT / 4, CHIME,
				  SHORT - SHORT / 4, SHORT / 4),
			 SHORT / 4);
	free(wav.samples);
}

static void
the_card_is_kept_after_speech(void **state)
{
	struct rig *rig = *state;
	const struct card_side *card = &rig->engine->card;
	uint64_t music;

	say(rig, LANE_CHIME);
	assert_int_equal(card->phase, CARD_UP);
	assert_true(card->idle_ns != 0);
	assert_int_equal(card->due_ns - card->idle_ns, ENGINE_SPEECH_CLOSE_NS);
	music = rig_open_ready(rig, "music.flac", 0);
	rig_play(rig, music);
	rig_wait(rig, RIG_ENDED, music);
	assert_int_equal(card->due_ns - card->idle_ns, ENGINE_IDLE_CLOSE_NS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_chime_is_heard_while_music_is_paused),
		TEST(speech_is_heard_while_music_is_paused),
		TEST(music_pauses_under_speech),
		TEST(the_card_is_kept_after_speech),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#undef TEST

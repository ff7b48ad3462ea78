/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_lanes.c - more lanes than music: a preview over it, alone, and at
 * another rate; and what the engine says about itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/engine_parts.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/base/thread.h"
#include "tests/kit/rig/rig.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT = 8000, LONG = 24000 };

static void
a_preview_opens_the_card_by_itself(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t preview;

	rig_make(rig, "a.flac", 1, SHORT);
	preview = rig_open_ready_on(rig, LANE_PREVIEW, "a.flac");
	rig_play_on(rig, LANE_PREVIEW, preview);
	rig_wait(rig, RIG_ENDED, preview);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, SHORT);
	assert_int_equal(rig_same(&wav, 0, 1, 0, SHORT), SHORT);
	free(wav.samples);
}

/* At another rate: resampled to the card that music has opened. */
static void
a_preview_sounds_over_music(void **state)
{
	/* Long enough for it to have come up again behind the preview. */
	enum { WHOLE = 60000 };
	struct rig *rig = *state;
	const struct rig_song other = {"b.flac", 2, SHORT, 32000, 1};
	struct rig_wav wav;
	uint64_t music, preview;
	size_t head;

	rig_make(rig, "a.flac", 1, WHOLE);
	rig_make_flac(rig, &other);
	music = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, music);
	rig_wait_position(rig, music, 50 * NS_PER_MS);
	preview = rig_open_ready_on(rig, LANE_PREVIEW, "b.flac");
	rig_play_on(rig, LANE_PREVIEW, preview);
	rig_wait(rig, RIG_STARTED, preview);
	rig_wait(rig, RIG_ENDED, preview);
	rig_wait(rig, RIG_ENDED, music);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.rate_hz, RIG_RATE);
	assert_int_equal(wav.frames, WHOLE);
	/* Music alone, then both, then music alone to the end. */
	head = rig_same(&wav, 0, 1, 0, WHOLE);
	assert_in_range(head, RIG_RATE / 20, WHOLE - 1);
	assert_int_equal(rig_same(&wav, WHOLE - 500, 1, WHOLE - 500, 500), 500);
	free(wav.samples);
}

/* While the preview sounds the card is not opened anew. */
static void
music_is_resampled_under_a_preview(void **state)
{
	struct rig *rig = *state;
	const struct rig_song other = {"b.flac", 2, SHORT, 48000, 2};
	struct rig_wav wav;
	uint64_t music, preview;

	rig_make(rig, "a.flac", 1, LONG);
	rig_make_flac(rig, &other);
	preview = rig_open_ready_on(rig, LANE_PREVIEW, "a.flac");
	music = rig_open_ready(rig, "b.flac", 0);
	rig_play_on(rig, LANE_PREVIEW, preview);
	rig_wait(rig, RIG_STARTED, preview);
	rig_play(rig, music);
	rig_wait(rig, RIG_STARTED, music);
	assert_int_equal(rig_find(rig, RIG_ENDED, preview), -1);
	rig_wait(rig, RIG_ENDED, music);
	rig_wait(rig, RIG_ENDED, preview);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.rate_hz, RIG_RATE);
	assert_int_equal(wav.frames, LONG);
	free(wav.samples);
}

static bool
has_line(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	return at != NULL && (at == text || at[-1] == '\n');
}

static void
it_tells_about_itself(void **state)
{
	struct rig *rig = *state;
	struct engine_output output;
	struct text text = {0};
	uint64_t song;

	rig_make(rig, "a.flac", 1, LONG);
	song = rig_open_ready(rig, "a.flac", 0);
	engine_output(rig->engine, &output);
	assert_int_equal(output.state, OUTPUT_CLOSED);
	assert_null(output.card);
	assert_false(output.bit_perfect);
	rig_play(rig, song);
	rig_wait(rig, RIG_STARTED, song);
	engine_output(rig->engine, &output);
	assert_int_equal(output.state, OUTPUT_OPEN);
	assert_string_equal(output.driver, "wav");
	assert_string_equal(output.error, "");
	assert_non_null(output.card);
	assert_true(output.bit_perfect);
	engine_set_volume(rig->engine, 0.5F);
	engine_output(rig->engine, &output);
	assert_false(output.bit_perfect);
	engine_add_rtstats(rig->engine, &text);
	assert_true(has_line(text_string(&text), "thread: decoder-0\n"));
	assert_true(has_line(text_string(&text), "thread: decoder-2\n"));
	assert_true(has_line(text_string(&text), "thread: output\n"));
	assert_true(has_line(text_string(&text), "output_driver: wav\n"));
	assert_true(has_line(text_string(&text), "output_format: 44100:"));
	assert_true(has_line(text_string(&text), "pool_bytes: 6291456\n"));
	assert_true(has_line(text_string(&text), "events_dropped: 0\n"));
	text_finish(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_preview_opens_the_card_by_itself, rig_set_up_wav,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(a_preview_sounds_over_music,
						rig_set_up_wav, rig_tear_down),
		cmocka_unit_test_setup_teardown(
			music_is_resampled_under_a_preview, rig_set_up_wav,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(it_tells_about_itself,
						rig_set_up_wav, rig_tear_down),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

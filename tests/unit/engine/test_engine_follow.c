/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_follow.c - songs that follow each other in other than the plain
 * way: changed late, told late, at another rate, with other channels, broken.
 */
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
#include <sched.h>
#include <stdlib.h>

enum { SHORT = 8000, LONG = 36000 };

static int
set_up(void **state)
{
	/* The lane runs ahead of what is heard by three buffers: so long is
	 * there to change one's mind, whatever else the machine does. */
	return rig_set_up_with(state, &(struct rig_options){.driver = &card_wav,
							    .buffer_ms = 250});
}

/* All of its frames are in the deck. */
static void
wait_until_left(struct rig *rig, uint64_t stream)
{
	while (atomic_load(&streams_find(rig->engine, stream)->left) == 0)
		rig_turn(rig, clock_now_ns() + NS_PER_MS);
}

/* The old next is mixed already; the new one comes to the very sample. */
static void
follow_may_change_late(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t first, old, new;

	rig_make(rig, "a.flac", 1, LONG);
	rig_make(rig, "b.flac", 2, LONG);
	rig_make(rig, "c.flac", 3, SHORT);
	first = rig_open_ready(rig, "a.flac", 0);
	old = rig_open_ready(rig, "b.flac", 0);
	new = rig_open_ready(rig, "c.flac", 0);
	rig_play(rig, first);
	rig_follow(rig, first, old);
	wait_until_left(rig, first);
	rig_follow(rig, first, new);
	engine_release(rig->engine, old);
	rig_wait(rig, RIG_ENDED, new);
	assert_int_equal(rig_find(rig, RIG_STARTED, old), -1);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(rig_same(&wav, 0, 1, 0, LONG), LONG);
	assert_int_equal(rig_same(&wav, LONG, 3, 0, SHORT), SHORT);
	assert_int_equal(wav.frames, LONG + SHORT);
	free(wav.samples);
}

static void
follow_may_come_late_or_be_taken_back(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t first, second, third;

	rig_make(rig, "a.flac", 1, LONG);
	rig_make(rig, "b.flac", 2, LONG);
	rig_make(rig, "c.flac", 3, SHORT);
	first = rig_open_ready(rig, "a.flac", 0);
	second = rig_open_ready(rig, "b.flac", 0);
	third = rig_open_ready(rig, "c.flac", 0);
	rig_play(rig, first);
	/* All of it is in the deck, which has ended. */
	wait_until_left(rig, first);
	rig_follow(rig, first, second);
	rig_wait(rig, RIG_STARTED, second);
	rig_follow(rig, second, third);
	wait_until_left(rig, third);
	rig_follow(rig, second, 0);
	rig_wait(rig, RIG_ENDED, second);
	assert_int_equal(rig_find(rig, RIG_STARTED, third), -1);
	assert_int_equal(engine_follow(rig->engine, LANE_MUSIC, second, third),
			 -ENOENT);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(rig_same(&wav, 0, 1, 0, LONG), LONG);
	assert_int_equal(rig_same(&wav, LONG, 2, 0, LONG), LONG);
	assert_int_equal(wav.frames, 2 * LONG);
	free(wav.samples);
}

static void
another_rate_reopens_the_card(void **state)
{
	struct rig *rig = *state;
	const struct rig_song other = {"b.flac", 2, SHORT, 48000, 2};
	struct rig_wav wav;
	uint64_t first, second;
	char path[160];

	rig_make(rig, "a.flac", 1, SHORT);
	rig_make_flac(rig, &other);
	first = rig_open_ready(rig, "a.flac", 0);
	second = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, first);
	rig_follow(rig, first, second);
	rig_wait(rig, RIG_ENDED, second);
	assert_int_equal(rig_find(rig, RIG_ENDED, first), -1);
	assert_true(rig_find(rig, RIG_STARTED, second) >= 0);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, SHORT);
	assert_int_equal(rig_same(&wav, 0, 1, 0, SHORT), SHORT);
	free(wav.samples);
	rig_path(rig, "heard-2.wav", path, sizeof(path));
	rig_read_wav(path, &wav);
	assert_int_equal(wav.rate_hz, 48000);
	assert_int_equal(wav.frames, SHORT);
	assert_int_equal(rig_same(&wav, 0, 2, 0, SHORT), SHORT);
	free(wav.samples);
}

static void
mono_joins_stereo(void **state)
{
	struct rig *rig = *state;
	const struct rig_song mono = {"b.flac", 2, SHORT, RIG_RATE, 1};
	struct rig_wav wav;
	uint64_t first, second;
	size_t i;

	rig_make(rig, "a.flac", 1, SHORT);
	rig_make_flac(rig, &mono);
	first = rig_open_ready(rig, "a.flac", 0);
	second = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, first);
	rig_follow(rig, first, second);
	rig_wait(rig, RIG_ENDED, second);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, 2 * SHORT);
	assert_int_equal(rig_same(&wav, 0, 1, 0, SHORT), SHORT);
	for (i = 0; i < SHORT; i++) {
		assert_int_equal(wav.samples[2 * (SHORT + i)],
				 rig_sample(2, i, 0));
		assert_int_equal(wav.samples[2 * (SHORT + i) + 1],
				 rig_sample(2, i, 0));
	}
	free(wav.samples);
}

/* The player asks for what follows just when it begins to be heard, before it
 * was told so: it is begun anew, and told to start before it ends. */
static void
what_is_heard_may_be_played_anew(void **state)
{
	struct rig *rig = *state;
	struct engine_position position;
	uint64_t first, second;

	rig_make(rig, "a.flac", 1, SHORT);
	rig_make(rig, "b.flac", 2, LONG);
	first = rig_open_ready(rig, "a.flac", 0);
	second = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, first);
	rig_follow(rig, first, second);
	rig_wait(rig, RIG_STARTED, first);
	/* Without a turn of the loop. */
	do {
		sched_yield();
		engine_position(rig->engine, LANE_MUSIC, &position);
	} while (position.stream != second);
	assert_int_equal(rig_find(rig, RIG_STARTED, second), -1);
	rig_play(rig, second);
	rig_wait(rig, RIG_ENDED, second);
	assert_in_range(rig_find(rig, RIG_STARTED, second), 0,
			rig_find(rig, RIG_ENDED, second));
}

/* What follows a song of which nothing is heard yet, on a deck of its own,
 * might make the output thread take that song back. */
static void
a_cut_waits_for_the_one_before_to_be_heard(void **state)
{
	struct rig *rig = *state;
	struct line *line = &rig->engine->lines[LANE_MUSIC];
	uint64_t first, second, cut;

	rig_make(rig, "a.flac", 1, LONG);
	rig_make(rig, "b.flac", 2, SHORT);
	first = rig_open_ready(rig, "a.flac", 0);
	second = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, first);
	while (line->cut == 0 || line->sounding_cut != line->cut ||
	       atomic_load(&streams_find(rig->engine, first)->left) == 0)
		rig_turn(rig, clock_now_ns() + NS_PER_MS);
	/* As if more of what was before were in the card. */
	cut = line->cut;
	line->sounding_ns = clock_now_ns() + 150 * NS_PER_MS;
	rig_follow(rig, first, second);
	while (line->cut == cut)
		rig_turn(rig, clock_now_ns() + NS_PER_S);
	assert_true(clock_now_ns() >= line->sounding_ns);
	rig_wait(rig, RIG_ENDED, second);
	assert_in_range(rig_find(rig, RIG_STARTED, first), 0,
			rig_find(rig, RIG_STARTED, second));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(follow_may_change_late, set_up,
						rig_tear_down),
		cmocka_unit_test_setup_teardown(
			follow_may_come_late_or_be_taken_back, set_up,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(another_rate_reopens_the_card,
						set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(mono_joins_stereo, set_up,
						rig_tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_heard_may_be_played_anew, set_up,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(
			a_cut_waits_for_the_one_before_to_be_heard, set_up,
			rig_tear_down),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

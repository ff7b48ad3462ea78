/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_expect.c - a lane whose end stays open for what is not there yet.
 *
 * The card's time passes as the test says, so what is heard does not depend on
 * how long anything takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/engine_parts.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/base/thread.h"
#include "tests/kit/rig/hasty.h"
#include "tests/kit/rig/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST = RIG_RATE * 3 / 2, /* more than a deck and the card hold */
	SHORT = RIG_RATE * 30 / 1000,
	SONGS = 50,
};

static int
set_up(void **state)
{
	hasty_forget();
	return rig_set_up(state, &card_hasty);
}

static int
tear_down(void **state)
{
	rig_tear_down(state);
	hasty_forget();
	return 0;
}

static void
pass(struct rig *rig, uint32_t ms)
{
	hasty_pass(ms);
	output_wake(rig->engine->output);
	rig_turn(rig, clock_now_ns() + NS_PER_MS);
}

static uint64_t
open_song(struct rig *rig, unsigned seed, uint32_t frames)
{
	char name[16];

	snprintf(name, sizeof(name), "%u.flac", seed);
	rig_make(rig, name, seed, frames);
	return rig_open_ready(rig, name, 0);
}

/* The first song, of which something is heard. */
static uint64_t
play_first(struct rig *rig)
{
	const uint64_t first = open_song(rig, 0, FIRST);

	engine_expect(rig->engine, LANE_MUSIC, true);
	rig_play(rig, first);
	rig_wait(rig, RIG_STARTED, first);
	return first;
}

/* All of it is in the deck, whose end is open. */
static bool
is_awaiting(struct rig *rig, uint64_t id)
{
	const uint64_t cut = rig->engine->lines[LANE_MUSIC].cut;
	struct stream *stream = streams_find(rig->engine, id);

	assert_non_null(stream);
	return line_taken_cut(stream) == cut &&
	       atomic_load(&rig->engine->bus->lane_awaits[LANE_MUSIC]) == cut;
}

/* So much that it may be heard before more is decoded. */
static bool
has_plenty(const struct rig *rig)
{
	struct mix_bus *bus = rig->engine->bus;
	const uint32_t filling = atomic_load(&bus->lane_filling[LANE_MUSIC]);

	return pcm_ring_readable(&bus->decks[LANE_MUSIC][filling].ring) >
	       RIG_RATE / 4;
}

static void
wait_until_awaiting(struct rig *rig, uint64_t id)
{
	const int64_t until_ns = clock_now_ns() + RIG_PATIENCE_NS;

	while (!is_awaiting(rig, id)) {
		assert_true(clock_now_ns() < until_ns);
		pass(rig, has_plenty(rig) ? 10 : 0);
	}
}

static void
wait_until_spent(struct rig *rig, uint64_t id)
{
	const int64_t until_ns = clock_now_ns() + RIG_PATIENCE_NS;

	while (!streams_is_spent(streams_find(rig->engine, id))) {
		assert_true(clock_now_ns() < until_ns);
		pass(rig, 0);
	}
}

static void
pass_until_ended(struct rig *rig, uint64_t id)
{
	const int64_t until_ns = clock_now_ns() + RIG_PATIENCE_NS;

	while (rig_find(rig, RIG_ENDED, id) < 0) {
		assert_true(clock_now_ns() < until_ns);
		pass(rig, 40);
	}
}

/* From frame at of the take on: the song, whole. */
static size_t
check_song(const struct hasty_take *take, size_t at, unsigned seed,
	   uint32_t frames)
{
	assert_true(at + frames <= take->frames);
	for (size_t i = 0; i < frames; i++)
		for (unsigned c = 0; c < 2; c++)
			assert_true(take->samples[2 * (at + i) + c] * 32768 ==
				    (float)rig_sample(seed, i, c));
	return at + frames;
}

static size_t
skip_silence(const struct hasty_take *take, size_t at)
{
	while (at < take->frames && take->samples[2 * at] == 0.0F &&
	       take->samples[2 * at + 1] == 0.0F)
		at++;
	return at;
}

/* Of any thread. */
static void
assert_no_xrun(struct rig *rig)
{
	struct text stats = {0};
	const char *line;
	unsigned lines = 0;

	engine_add_rtstats(rig->engine, &stats);
	line = text_string(&stats);
	while ((line = strstr(line, "\nxruns: ")) != NULL) {
		line += strlen("\nxruns: ");
		assert_int_equal(*line, '0');
		lines++;
	}
	assert_true(lines > 0);
	text_finish(&stats);
}

/* Each is opened when all before it is in the deck. */
static void
short_songs_join_though_each_comes_late(void **state)
{
	struct rig *rig = *state;
	uint64_t last = play_first(rig);
	const uint64_t cut = rig->engine->lines[LANE_MUSIC].cut;
	const struct hasty_take *take;
	size_t at = 0;

	for (unsigned i = 1; i <= SONGS; i++) {
		uint64_t next;

		wait_until_awaiting(rig, last);
		next = open_song(rig, i, SHORT);
		rig_follow(rig, last, next);
		engine_release(rig->engine, last);
		last = next;
		pass(rig, has_plenty(rig) ? 20 : 0);
	}
	wait_until_awaiting(rig, last);
	assert_int_equal(rig->engine->lines[LANE_MUSIC].cut, cut);
	engine_expect(rig->engine, LANE_MUSIC, false);
	pass_until_ended(rig, last);
	assert_no_xrun(rig);
	rig_stop(rig);
	assert_int_equal(hasty_count(), 1);
	take = hasty_take(0);
	at = check_song(take, skip_silence(take, 0), 0, FIRST);
	for (unsigned i = 1; i <= SONGS; i++)
		at = check_song(take, at, i, SHORT);
	assert_int_equal(skip_silence(take, at), take->frames);
}

/* The end is heard when nothing has come; what then comes is whole. */
static void
what_comes_too_late_begins_after_a_silence(void **state)
{
	struct rig *rig = *state;
	const uint64_t first = play_first(rig);
	uint64_t second;
	const struct hasty_take *take;
	size_t at;

	wait_until_awaiting(rig, first);
	pass_until_ended(rig, first);
	assert_no_xrun(rig);
	engine_expect(rig->engine, LANE_MUSIC, false);
	second = open_song(rig, 1, 10 * SHORT);
	rig_play(rig, second);
	wait_until_spent(rig, second);
	pass_until_ended(rig, second);
	rig_stop(rig);
	take = hasty_take(0);
	at = check_song(take, skip_silence(take, 0), 0, FIRST);
	/* A card that stood idle for long was closed. */
	if (hasty_count() > 1) {
		take = hasty_take(1);
		at = 0;
	}
	at = check_song(take, skip_silence(take, at), 1, 10 * SHORT);
	assert_int_equal(skip_silence(take, at), take->frames);
}

static void
nothing_may_come_after_all(void **state)
{
	struct rig *rig = *state;
	const uint64_t first = play_first(rig);
	const uint64_t cut = rig->engine->lines[LANE_MUSIC].cut;
	const struct hasty_take *take;
	size_t at;

	wait_until_awaiting(rig, first);
	engine_expect(rig->engine, LANE_MUSIC, false);
	wait_until_spent(rig, first);
	assert_int_equal(atomic_load(&rig->engine->bus->lane_spent[LANE_MUSIC]),
			 0);
	assert_int_equal(rig->engine->lines[LANE_MUSIC].cut, cut);
	pass_until_ended(rig, first);
	rig_stop(rig);
	take = hasty_take(0);
	at = check_song(take, skip_silence(take, 0), 0, FIRST);
	assert_int_equal(skip_silence(take, at), take->frames);
}

/* It is too short for the card to begin with it, and is not kept back. */
static void
a_short_song_does_not_wait_for_long(void **state)
{
	struct rig *rig = *state;
	const uint64_t song = open_song(rig, 1, SHORT);
	const struct hasty_take *take;
	size_t at;

	engine_expect(rig->engine, LANE_MUSIC, true);
	rig_play(rig, song);
	pass_until_ended(rig, song);
	rig_stop(rig);
	take = hasty_take(0);
	at = check_song(take, skip_silence(take, 0), 1, SHORT);
	assert_int_equal(skip_silence(take, at), take->frames);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			short_songs_join_though_each_comes_late, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			what_comes_too_late_begins_after_a_silence, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(nothing_may_come_after_all,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_short_song_does_not_wait_for_long, set_up, tear_down),
	};

	thread_assert_control();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

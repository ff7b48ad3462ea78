/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_overlap_change.c - songs that are heard together, when that turns
 * out otherwise: the next is taken back or is another, or the listener pauses,
 * skips and seeks. */
#include "tests/unit/engine/overlapping.h"

#include "daemon/engine/engine_parts.h"
#include "lib/base/thread.h"

enum {
	A = 12000,
	B = 12000,
	FADE = RIG_RATE / 8,
	SEEKS = 30,
};

/* Until some of it is in the deck. */
static void
wait_overlapped(struct rig *rig, uint64_t stream)
{
	while (!line_is_overlapped(streams_find(rig->engine, stream)))
		rig_turn(rig, clock_now_ns() + NS_PER_MS);
}

/* What is mixed already is taken back to the sample; the song that was going
 * out is heard to its end. */
static void
the_next_may_be_taken_back(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t a, b;

	rig_make(rig, "a.flac", 1, A);
	rig_make(rig, "b.flac", 2, B);
	a = rig_open_ready(rig, "a.flac", 0);
	b = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, a);
	overlap(rig, a, b, FADE);
	wait_overlapped(rig, a);
	rig_follow(rig, a, 0);
	engine_release(rig->engine, b);
	rig_wait(rig, RIG_ENDED, a);
	assert_int_equal(rig_find(rig, RIG_STARTED, b), -1);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, A);
	assert_int_equal(rig_same(&wav, 0, 1, 0, A), A);
	free(wav.samples);
}

/* Likewise, and another one takes its place: half of what is left of the
 * first is heard alone. */
static void
the_next_may_be_another(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t a, b, c;

	rig_make(rig, "a.flac", 1, A);
	rig_make(rig, "b.flac", 3, B);
	rig_make(rig, "c.flac", 2, B);
	a = rig_open_ready(rig, "a.flac", 0);
	b = rig_open_ready(rig, "b.flac", 0);
	c = rig_open_ready(rig, "c.flac", 0);
	rig_play(rig, a);
	overlap(rig, a, b, FADE);
	wait_overlapped(rig, a);
	overlap(rig, a, c, FADE);
	engine_release(rig->engine, b);
	rig_wait(rig, RIG_ENDED, c);
	assert_int_equal(rig_find(rig, RIG_STARTED, b), -1);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, A + B - FADE / 2);
	assert_int_equal(rig_same(&wav, 0, 1, 0, A - FADE / 2), A - FADE / 2);
	check_mix(&wav, A - FADE / 2, A - FADE / 2, FADE / 2);
	free(wav.samples);
}

/* Before any of it was mixed: the songs are joined as they are. */
static void
it_may_be_given_up(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t a, b;

	rig_make(rig, "a.flac", 1, A);
	rig_make(rig, "b.flac", 2, B);
	a = rig_open_ready(rig, "a.flac", 0);
	b = rig_open_ready(rig, "b.flac", 0);
	engine_overlap(rig->engine, b, frames_ns(FADE));
	engine_overlap(rig->engine, b, 0);
	rig_play(rig, a);
	rig_follow(rig, a, b);
	rig_wait(rig, RIG_ENDED, b);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, A + B);
	assert_int_equal(rig_same(&wav, 0, 1, 0, A), A);
	assert_int_equal(rig_same(&wav, A, 2, 0, B), B);
	free(wav.samples);
}

/* The one that comes is asked for at once, in the midst of the overlap: it is
 * begun anew, and from then on heard alone. */
static void
a_skip_does_not_wait_for_it(void **state)
{
	struct rig *rig = *state;
	enum { OVER = RIG_RATE / 100 }; /* to cross over takes 5 ms */
	struct rig_wav wav;
	uint64_t a, b, c;

	rig_make(rig, "a.flac", 1, A);
	rig_make(rig, "b.flac", 2, B);
	rig_make(rig, "c.flac", 3, B);
	a = rig_open_ready(rig, "a.flac", 0);
	b = rig_open_ready(rig, "b.flac", 0);
	c = rig_open_ready(rig, "c.flac", 0);
	rig_play(rig, a);
	overlap(rig, a, b, FADE);
	engine_overlap(rig->engine, c, frames_ns(FADE));
	rig_wait(rig, RIG_STARTED, b);
	rig_play(rig, c);
	engine_release(rig->engine, a);
	engine_release(rig->engine, b);
	rig_wait(rig, RIG_ENDED, c);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(
		rig_same(&wav, wav.frames - B + OVER, 3, OVER, B - OVER),
		B - OVER);
	free(wav.samples);
}

static bool
is_bit_perfect(const struct rig *rig)
{
	struct engine_output output;

	engine_output(rig->engine, &output);
	return output.bit_perfect;
}

/* It says what it does; stands still in the midst of it; and goes on. */
static void
it_stands_still_in_the_midst(void **state)
{
	struct rig *rig = *state;
	enum { LONG = RIG_RATE / 2, REST = LONG / 2 };
	const int64_t within_ns = frames_ns(FADE) / 3;
	struct engine_position position;
	struct rig_wav wav;
	uint64_t a, b;

	rig_make(rig, "a.flac", 1, A);
	rig_make(rig, "b.flac", 2, LONG);
	a = rig_open_ready(rig, "a.flac", 0);
	b = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, a);
	overlap(rig, a, b, FADE);
	rig_wait_position(rig, a, frames_ns(A) / 8);
	assert_true(is_bit_perfect(rig));
	rig_wait_position(rig, b, within_ns);
	engine_position(rig->engine, LANE_MUSIC, &position);
	if (position.elapsed_ns < frames_ns(FADE))
		assert_false(is_bit_perfect(rig));
	engine_pause(rig->engine, LANE_MUSIC, true);
	rig_run(rig, 50 * NS_PER_MS);
	engine_pause(rig->engine, LANE_MUSIC, false);
	rig_wait_position(rig, b, frames_ns(2 * FADE));
	assert_true(is_bit_perfect(rig));
	rig_wait(rig, RIG_ENDED, b);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(rig_same(&wav, 0, 1, 0, A - FADE), A - FADE);
	assert_int_equal(
		rig_same(&wav, wav.frames - REST, 2, LONG - REST, REST), REST);
	assert_true(wav.frames >= A + LONG - FADE);
	free(wav.samples);
}

/* Wherever in it the song is begun anew: what comes out ends as it should. */
static void
seeks_in_the_midst(void **state)
{
	struct rig *rig = *state;
	const int64_t begin_ns = frames_ns(A - FADE);
	uint64_t a, b;
	unsigned i;

	rig_make(rig, "a.flac", 1, A);
	rig_make(rig, "b.flac", 2, B);
	a = rig_open_ready(rig, "a.flac", 0);
	b = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, a);
	overlap(rig, a, b, FADE);
	for (i = 0; i < SEEKS; i++) {
		const int64_t at_ns = begin_ns + frames_ns(FADE) * i / SEEKS;
		const uint64_t to =
			rig_open_ready(rig, i % 3 == 2 ? "b.flac" : "a.flac",
				       i % 3 == 2 ? at_ns - begin_ns : at_ns);
		const uint64_t next = rig_open_ready(rig, "b.flac", 0);

		rig_play(rig, to);
		engine_release(rig->engine, a);
		engine_release(rig->engine, b);
		overlap(rig, to, next, FADE);
		a = to;
		b = next;
		if (i % 8 == 0)
			rig_run(rig, 20 * NS_PER_MS);
	}
	rig_wait(rig, RIG_ENDED, b);
	assert_true(rig_find(rig, RIG_STARTED, b) >= 0);
	assert_int_equal(rig_count(rig, RIG_FAILED), 0);
}

#define OVERLAP_TEST(name)                                                     \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		OVERLAP_TEST(the_next_may_be_taken_back),
		OVERLAP_TEST(the_next_may_be_another),
		OVERLAP_TEST(it_may_be_given_up),
		OVERLAP_TEST(a_skip_does_not_wait_for_it),
		OVERLAP_TEST(it_stands_still_in_the_midst),
		OVERLAP_TEST(seeks_in_the_midst),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#undef OVERLAP_TEST

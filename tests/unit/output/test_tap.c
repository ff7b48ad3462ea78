/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tap keeps, and what the mixer puts into it: all that sounds, or the
 * music alone, at its own level whatever the card hears. */
#include "daemon/output/tap.h"

#include "lib/base/clock.h"
#include "tests/unit/output/bench.h"

enum { RATE = TAPE_RATE_HZ, AHEAD = 4000 };

static float seen[FRAMES_MAX * TAPE_CHANNELS];

static struct tap *
new_tap(struct bench *bench)
{
	struct tap *tap = tap_create(RATE, TAPE_CHANNELS, AHEAD, true);

	assert_non_null(tap);
	tap_want(tap, TAP_ALL, true);
	tap_want(tap, TAP_MUSIC, true);
	bench->tape.bus->tap = tap;
	return tap;
}

/* Frames [first, end) of the mix are the sum of two streams at these gains. */
static void
expect_tap(const struct tap *tap, enum tap_mix mix, uint64_t first,
	   uint64_t end, double gain, uint64_t stream, double other_gain,
	   uint64_t other)
{
	assert_true(tap_read(tap, mix, (int64_t)first, end, seen,
			     (size_t)(end - first)));
	for (uint64_t i = first; i < end; i++)
		for (uint32_t c = 0; c < TAPE_CHANNELS; c++) {
			const double want = gain * tape_f32(stream, i, c) +
					    other_gain * tape_f32(other, i, c);
			const double got =
				seen[(i - first) * TAPE_CHANNELS + c];

			if (fabs(want - got) > 1e-6)
				fail_msg("frame %llu: %g, not %g",
					 (unsigned long long)i, got, want);
		}
}

static void
test_it_keeps_what_it_has_room_for(void **state)
{
	struct tap *tap = tap_create(RATE, 1, AHEAD, false);
	const uint64_t capacity = tap->capacity_frames;
	float frames[256], out[256];
	uint64_t frame = 0;

	(void)state;
	assert_false(tap_wants(tap, TAP_ALL));
	tap_want(tap, TAP_ALL, true);
	tap_want(tap, TAP_MUSIC, true);
	assert_true(tap_wants(tap, TAP_ALL));
	assert_false(tap_wants(tap, TAP_MUSIC));
	assert_true(capacity >= AHEAD + RATE);
	for (frame = 0; frame < 3 * capacity; frame += 256) {
		for (unsigned i = 0; i < 256; i++)
			frames[i] = (float)(frame + i);
		tap_write(tap, TAP_ALL, frame, frames, 256);
	}
	assert_false(tap_read(tap, TAP_ALL, (int64_t)(frame - capacity - 1),
			      frame, out, 256));
	assert_true(tap_read(tap, TAP_ALL, (int64_t)(frame - capacity), frame,
			     out, 256));
	for (unsigned i = 0; i < 256; i++)
		assert_true(out[i] == (float)(frame - capacity + i));
	/* Silence where there is nothing yet. */
	assert_true(
		tap_read(tap, TAP_ALL, (int64_t)frame - 100, frame, out, 200));
	assert_true(out[99] == (float)(frame - 1));
	assert_true(out[100] == 0 && out[199] == 0);
	/* And where nobody listened. */
	tap_pass(tap, TAP_ALL);
	tap_write(tap, TAP_ALL, frame, frames, 256);
	assert_true(tap_read(tap, TAP_ALL, (int64_t)frame - 100, frame + 256,
			     out, 200));
	assert_true(out[99] == 0);
	assert_true(out[100] == frames[0]);
	tap_destroy(tap);
}

static void
test_what_is_heard_is_reckoned(void **state)
{
	struct tap *tap = tap_create(RATE, 1, AHEAD, false);
	struct tap_view view = {.mixed = 20000,
				.heard = 10000,
				.time_ns = NS_PER_S,
				.running = true};
	struct tap_view got;

	(void)state;
	tap_publish(tap, &view);
	assert_true(tap_look(tap, &got));
	assert_int_equal(got.mixed, 20000);
	assert_true(got.running && !got.ended);
	assert_int_equal(tap_heard(tap, &got, 0), 10000);
	assert_int_equal(tap_heard(tap, &got, NS_PER_S + NS_PER_S / 10), 14800);
	assert_int_equal(tap_heard(tap, &got, 3 * NS_PER_S), 20000);
	view.running = false;
	view.ended = true;
	tap_publish(tap, &view);
	assert_true(tap_look(tap, &got));
	assert_true(got.ended);
	assert_int_equal(tap_heard(tap, &got, 3 * NS_PER_S), 10000);
	/* A writer that stands still in the midst of telling. */
	atomic_fetch_add(&tap->sequence, 1);
	assert_false(tap_look(tap, &got));
	tap_destroy(tap);
}

static void
test_turns_are_told(void **state)
{
	struct tap *tap = tap_create(RATE, 1, AHEAD, false);
	struct tap_view got;
	const float frame = 1;

	(void)state;
	/* Nothing was written yet. */
	tap_turn_back(tap, 0);
	assert_int_equal(tap_turns(tap), 0);
	assert_int_equal(tap_turned_to(tap, 0), UINT64_MAX);
	tap_write(tap, TAP_ALL, 999, &frame, 1);
	tap_turn_back(tap, 500);
	tap_turn_back(tap, 700);
	assert_int_equal(tap_turned_to(tap, 0), 500);
	assert_int_equal(tap_turned_to(tap, 1), 700);
	assert_int_equal(tap_turned_to(tap, 2), UINT64_MAX);
	/* Told with the next publication. */
	assert_true(tap_look(tap, &got));
	assert_int_equal(got.turns, 0);
	tap_publish(tap, &(struct tap_view){.mixed = 1000, .lead_frames = 7});
	assert_true(tap_look(tap, &got));
	assert_int_equal(got.turns, 2);
	assert_int_equal(got.lead_frames, 7);
	/* More than are remembered: all of it may be new. */
	for (unsigned i = 0; i < TAP_TURNS; i++)
		tap_turn_back(tap, 800);
	assert_int_equal(tap_turned_to(tap, 2), 0);
	assert_int_equal(tap_turned_to(tap, 3), 800);
	tap_destroy(tap);
}

/* The volume and its limiter are the card's own. */
static void
test_the_mix_is_tapped_before_the_volume(void **state)
{
	struct bench *bench = bench_playing(6000);
	struct tap *tap = new_tap(bench);

	(void)state;
	bench->plan.volume = 0.125F;
	mix_until(bench, 5000, 333);
	expect_tap(tap, TAP_ALL, 0, 5000, 1, 1, 0, 1);
	expect_tap(tap, TAP_MUSIC, 0, 5000, 1, 1, 0, 1);
	assert_true(fabs(bench->out[9000] - 0.125 * tape_s32(1, 4500, 0, 24)) <
		    1024);
	mix_silence(&bench->mix, bench->out, 100);
	expect_tap(tap, TAP_ALL, 5000, 5100, 0, 1, 0, 1);
	tap_destroy(tap);
	bench_free(bench);
}

/* Speech begins, and the music is lowered for it: so far that it need not go
 * down by itself. */
static void
speak(struct bench *bench)
{
	tape_song(tape_begin(&bench->tape, LANE_SPEECH, 9), 3, 0, 6000, 24);
	bench->plan.lanes[LANE_SPEECH].cut = 9;
	bench->plan.lanes[LANE_MUSIC].gain = 0.125F;
}

static void
test_music_alone_is_heard_at_its_own_level(void **state)
{
	struct bench *bench = bench_playing(6000);
	struct tap *tap = new_tap(bench);

	(void)state;
	speak(bench);
	mix_until(bench, 5000, 256);
	expect_tap(tap, TAP_MUSIC, 0, 5000, 1, 1, 0, 1);
	expect_tap(tap, TAP_ALL, RAMP, 5000, 0.125, 1, 1, 3);
	tap_destroy(tap);
	bench_free(bench);
}

/* The clock itself may be the output that hears only music: then its integers
 * are the song's own, and the others hear all. */
static void
test_the_card_may_hear_music_alone(void **state)
{
	struct bench *bench = bench_playing(6000);
	struct tap *tap = new_tap(bench);

	(void)state;
	bench->tape.bus->music_only = true;
	speak(bench);
	mix_until(bench, 5000, 256);
	expect_stream(bench, 0, 5000, 1, 0);
	expect_tap(tap, TAP_ALL, RAMP, 5000, 0.125, 1, 1, 3);
	expect_tap(tap, TAP_MUSIC, 0, 5000, 1, 1, 0, 1);
	tap_destroy(tap);
	bench_free(bench);
}

/* Frames that are mixed again are written again. */
static void
test_a_rewind_is_honoured(void **state)
{
	struct bench *bench = bench_playing(6000);
	struct tap *tap = new_tap(bench);

	(void)state;
	mix_until(bench, 4000, 256);
	mix_rewind(&bench->mix, 1000);
	assert_int_equal(tap_turned_to(tap, 0), 1000);
	tape_song(tape_begin(&bench->tape, MUSIC, 2), 2, 1000, 5000, 24);
	bench->plan.lanes[MUSIC].cut = 2;
	mix_until(bench, 4000, 256);
	expect_tap(tap, TAP_ALL, 0, 1000, 1, 1, 0, 1);
	expect_tap(tap, TAP_ALL, 1000 + FADE, 4000, 1, 2, 0, 1);
	tap_destroy(tap);
	bench_free(bench);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_keeps_what_it_has_room_for),
		cmocka_unit_test(test_what_is_heard_is_reckoned),
		cmocka_unit_test(test_turns_are_told),
		cmocka_unit_test(test_the_mix_is_tapped_before_the_volume),
		cmocka_unit_test(test_music_alone_is_heard_at_its_own_level),
		cmocka_unit_test(test_the_card_may_hear_music_alone),
		cmocka_unit_test(test_a_rewind_is_honoured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

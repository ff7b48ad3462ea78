/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is heard of songs, cuts, pauses and volumes, frame for frame. */
#include "tests/unit/output/bench.h"

static void
test_integers_pass_unchanged(void **state)
{
	static const size_t pieces[] = {1, 7, 255, 256, 257, 4096};

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct bench *bench = bench_playing(6000);

		assert_int_equal(mix_until(bench, 6000, pieces[i]), MIX_FULL);
		expect_stream(bench, 0, 6000, 1, 0);
		assert_int_equal(mix_until(bench, 6001, 1), MIX_WAIT);
		bench_free(bench);
	}
}

static void
test_streams_join_inside_a_deck(void **state)
{
	struct bench *bench = bench_playing(5000);
	struct deck *deck = tape_deck(&bench->tape, MUSIC, 1);

	(void)state;
	tape_song(deck, 2, 0, 3001, 24);
	pcm_ring_end(&deck->ring);
	assert_int_equal(mix_until(bench, 9000, 333), MIX_IDLE);
	assert_int_equal(bench->mix.frame, 8001);
	expect_stream(bench, 0, 5000, 1, 0);
	expect_stream(bench, 5000, 8001, 2, 0);
	assert_int_equal(find_note(bench, RT_EVENT_STRETCH, 1)->frame, 0);
	assert_int_equal(find_note(bench, RT_EVENT_STRETCH, 2)->frame, 5000);
	assert_int_equal(find_note(bench, RT_EVENT_LANE_DRAINED, 1)->frame,
			 8001);
	assert_int_equal(bench->mix.point_count, 3);
	assert_int_equal(bench->mix.points[1].output_frame, 5000);
	assert_int_equal(bench->mix.points[2].stream_id, 0);
	bench_free(bench);
}

/* The new cut is a seek: it begins inside a song, so it fades in. */
static void
test_cut_now_at_every_offset(void **state)
{
	(void)state;
	for (uint64_t at = 1; at < 700; at += 3) {
		struct bench *bench = bench_playing(6000);

		mix_until(bench, at, 256);
		tape_song(tape_begin(&bench->tape, MUSIC, 2), 2, 77, 5000, 24);
		bench->plan.lanes[MUSIC].cut = 2;
		assert_int_equal(mix_until(bench, at + 4000, 311), MIX_FULL);
		expect_stream(bench, 0, at, 1, 0);
		expect_fade(bench, at,
			    (const struct side[]){{1, at, 1, 0}, {2, 77, 0, 1}},
			    2);
		expect_stream(bench, at + FADE, at + 4000, 2, 77 + FADE);
		assert_int_equal(find_note(bench, RT_EVENT_CUT, 2)->frame, at);
		bench_free(bench);
	}
}

/* A song's first sample is heard as it is, whatever goes out under it. */
static void
test_a_song_is_never_faded_in(void **state)
{
	struct bench *bench = bench_playing(6000);

	(void)state;
	mix_until(bench, 1000, 256);
	tape_song(tape_begin(&bench->tape, MUSIC, 2), 2, 0, 5000, 24);
	bench->plan.lanes[MUSIC].cut = 2;
	mix_until(bench, 3000, 256);
	expect_fade(bench, 1000,
		    (const struct side[]){{1, 1000, 1, 0}, {2, 0, 1, 1}}, 2);
	expect_stream(bench, 1000 + FADE, 3000, 2, FADE);
	bench_free(bench);
}

static void
test_old_cut_goes_on_until_the_new_is_primed(void **state)
{
	struct bench *bench = bench_playing(9000);
	struct deck *deck = tape_begin(&bench->tape, MUSIC, 2);

	(void)state;
	mix_until(bench, 256, 256);
	bench->plan.lanes[MUSIC].cut = 2;
	tape_stretch(deck, 2, 500, SAMPLE_S32, 24);
	tape_write(deck, 2, 500, bench->mix.prime_frames - 1, SAMPLE_S32, 24);
	mix_until(bench, 3000, 256);
	expect_stream(bench, 256, 3000, 1, 256);
	assert_false(mix_pending(&bench->mix, &bench->plan));
	tape_write(deck, 2, 500 + bench->mix.prime_frames - 1, 1000, SAMPLE_S32,
		   24);
	assert_true(mix_pending(&bench->mix, &bench->plan));
	mix_until(bench, 4000, 256);
	expect_stream(bench, 3000 + FADE, 4000, 2, 500 + FADE);
	bench_free(bench);
}

static void
test_pause_at_every_offset(void **state)
{
	(void)state;
	for (uint64_t at = 1; at < 700; at += 3) {
		struct bench *bench = bench_playing(9000);
		const uint64_t again = at + FADE + 100;

		mix_until(bench, at, 256);
		bench->plan.lanes[MUSIC].paused = 1;
		assert_int_equal(mix_until(bench, again, 311), MIX_IDLE);
		assert_int_equal(bench->mix.frame, at + FADE);
		assert_int_equal(
			find_note(bench, RT_EVENT_LANE_PAUSED, 1)->value, at);
		mix_silence(&bench->mix, &bench->out[(at + FADE) * 2], 100);
		bench->plan.lanes[MUSIC].paused = 0;
		assert_int_equal(mix_until(bench, again + 2000, 311), MIX_FULL);
		expect_stream(bench, 0, at, 1, 0);
		expect_fade(bench, at, (const struct side[]){{1, at, 1, 0}}, 1);
		expect_fade(bench, again, (const struct side[]){{1, at, 0, 1}},
			    1);
		expect_stream(bench, again + FADE, again + 2000, 1, at + FADE);
		bench_free(bench);
	}
}

/* Going on while the fade-out still runs: both sound, from the same deck. */
static void
test_resume_inside_the_fade(void **state)
{
	struct bench *bench = bench_playing(9000);

	(void)state;
	mix_until(bench, 1000, 256);
	bench->plan.lanes[MUSIC].paused = 1;
	mix_until(bench, 1000 + FADE / 2, 256);
	bench->plan.lanes[MUSIC].paused = 0;
	assert_int_equal(mix_until(bench, 3000, 256), MIX_FULL);
	expect_stream(bench, 1000 + FADE / 2 + FADE, 3000, 1, 1000 + FADE);
	bench_free(bench);
}

static void
test_paused_before_the_first_sample(void **state)
{
	struct bench *bench = bench_playing(9000);

	(void)state;
	bench->plan.lanes[MUSIC].paused = 1;
	assert_int_equal(mix_until(bench, 100, 100), MIX_IDLE);
	assert_int_equal(bench->mix.frame, 0);
	assert_int_equal(find_note(bench, RT_EVENT_LANE_PAUSED, 1)->value, 0);
	bench->plan.lanes[MUSIC].paused = 0;
	assert_int_equal(mix_until(bench, 2000, 256), MIX_FULL);
	expect_stream(bench, 0, 2000, 1, 0);
	bench_free(bench);
}

static void
test_cut_while_paused_moves_the_place(void **state)
{
	struct bench *bench = bench_playing(9000);

	(void)state;
	mix_until(bench, 1000, 256);
	bench->plan.lanes[MUSIC].paused = 1;
	mix_until(bench, 2000, 256);
	tape_song(tape_begin(&bench->tape, MUSIC, 2), 2, 4321, 5000, 24);
	bench->plan.lanes[MUSIC].cut = 2;
	assert_int_equal(mix_until(bench, 2000, 256), MIX_IDLE);
	assert_int_equal(find_note(bench, RT_EVENT_LANE_PAUSED, 2)->value,
			 4321);
	bench->plan.lanes[MUSIC].paused = 0;
	assert_int_equal(mix_until(bench, 3000, 256), MIX_FULL);
	expect_fade(bench, 1000 + FADE, (const struct side[]){{2, 4321, 0, 1}},
		    1);
	expect_stream(bench, 1000 + 2 * FADE, 3000, 2, 4321 + FADE);
	bench_free(bench);
}

static void
test_cut_to_nothing_fades_out(void **state)
{
	struct bench *bench = bench_playing(9000);

	(void)state;
	mix_until(bench, 1000, 256);
	pcm_ring_end(&tape_begin(&bench->tape, MUSIC, 2)->ring);
	bench->plan.lanes[MUSIC].cut = 2;
	assert_int_equal(mix_until(bench, 3000, 256), MIX_IDLE);
	assert_int_equal(bench->mix.frame, 1000 + FADE);
	expect_fade(bench, 1000, (const struct side[]){{1, 1000, 1, 0}}, 1);
	assert_non_null(find_note(bench, RT_EVENT_LANE_DRAINED, 2));
	assert_false(mix_pending(&bench->mix, &bench->plan));
	bench_free(bench);
}

static void
test_volume_ramps_and_comes_back_exact(void **state)
{
	struct bench *bench = bench_playing(9000);

	(void)state;
	bench->plan.volume = 0.5F;
	mix_until(bench, 1000, 256);
	/* Applied before the first sample, without a ramp. */
	for (unsigned i = 0; i < 2000; i++)
		assert_true(fabs(bench->out[i] -
				 0.5 * tape_s32(1, i / 2, i % 2, 24)) < 256);
	bench->plan.volume = 1.0F;
	assert_true(mix_pending(&bench->mix, &bench->plan));
	mix_until(bench, 3000, 256);
	for (unsigned i = 0; i < RAMP; i++)
		assert_true(fabs(bench->out[(1000 + i) * 2] -
				 (0.5 + 0.5 * i / RAMP) *
					 tape_s32(1, 1000 + i, 0, 24)) < 1024);
	expect_stream(bench, 1000 + RAMP, 3000, 1, 1000 + RAMP);
	bench_free(bench);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers_pass_unchanged),
		cmocka_unit_test(test_streams_join_inside_a_deck),
		cmocka_unit_test(test_cut_now_at_every_offset),
		cmocka_unit_test(test_a_song_is_never_faded_in),
		cmocka_unit_test(test_old_cut_goes_on_until_the_new_is_primed),
		cmocka_unit_test(test_pause_at_every_offset),
		cmocka_unit_test(test_resume_inside_the_fade),
		cmocka_unit_test(test_paused_before_the_first_sample),
		cmocka_unit_test(test_cut_while_paused_moves_the_place),
		cmocka_unit_test(test_cut_to_nothing_fades_out),
		cmocka_unit_test(test_volume_ramps_and_comes_back_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cuts that wait for their place, and what is taken back and mixed again. */
#include "tests/unit/output/bench.h"

/* Stream 2, wrongly, follows stream 1 on the old deck; 3 is to follow. */
static void
test_after_joins_to_the_sample(void **state)
{
	(void)state;
	for (uint64_t end = 1000; end < 1600; end += 7) {
		struct bench *bench = bench_playing((size_t)end);

		tape_song(tape_deck(&bench->tape, MUSIC, 1), 2, 0, 3000, 24);
		mix_until(bench, 600, 256);
		bench->plan.lanes[MUSIC].cut = 2;
		bench->plan.lanes[MUSIC].start = PLAN_AFTER;
		bench->plan.lanes[MUSIC].after_stream = 1;
		/* Not there yet: waits at the very end of stream 1. */
		assert_int_equal(mix_until(bench, 5000, 299), MIX_WAIT);
		assert_int_equal(bench->mix.frame, end);
		tape_song(tape_begin(&bench->tape, MUSIC, 2), 3, 0, 4000, 24);
		assert_int_equal(mix_until(bench, 5000, 299), MIX_FULL);
		expect_stream(bench, 0, end, 1, 0);
		expect_stream(bench, end, 5000, 3, 0);
		assert_null(find_note(bench, RT_EVENT_STRETCH, 2));
		bench_free(bench);
	}
}

static void
test_after_an_end_not_known_yet(void **state)
{
	struct bench *bench = bench_playing(3000);
	struct deck *deck = tape_deck(&bench->tape, MUSIC, 1);

	(void)state;
	mix_until(bench, 256, 256);
	tape_song(tape_begin(&bench->tape, MUSIC, 2), 3, 0, 4000, 24);
	bench->plan.lanes[MUSIC].cut = 2;
	bench->plan.lanes[MUSIC].start = PLAN_AFTER;
	bench->plan.lanes[MUSIC].after_stream = 1;
	assert_int_equal(mix_until(bench, 5000, 299), MIX_WAIT);
	tape_write(deck, 1, 3000, 500, SAMPLE_S32, 24);
	pcm_ring_end(&deck->ring);
	assert_int_equal(mix_until(bench, 5000, 299), MIX_FULL);
	expect_stream(bench, 0, 3500, 1, 0);
	expect_stream(bench, 3500, 5000, 3, 0);
	assert_int_equal(count_notes(bench, RT_EVENT_LANE_DRAINED), 0);
	bench_free(bench);
}

/* It has passed: at once, unless a rewind brings the end back. */
static void
test_after_that_has_passed(void **state)
{
	(void)state;
	for (int rewound = 0; rewound <= 1; rewound++) {
		struct bench *bench = bench_playing(1000);

		tape_song(tape_deck(&bench->tape, MUSIC, 1), 2, 0, 5000, 24);
		mix_until(bench, 1500, 256);
		tape_song(tape_begin(&bench->tape, MUSIC, 2), 3, 0, 4000, 24);
		bench->plan.lanes[MUSIC].cut = 2;
		bench->plan.lanes[MUSIC].start = PLAN_AFTER;
		bench->plan.lanes[MUSIC].after_stream = 1;
		assert_true(mix_pending(&bench->mix, &bench->plan));
		if (rewound)
			mix_rewind(&bench->mix, 900);
		mix_until(bench, 3000, 256);
		assert_false(mix_pending(&bench->mix, &bench->plan));
		expect_stream(bench, 0, 1000, 1, 0);
		if (rewound)
			expect_stream(bench, 1000, 3000, 3, 0);
		else
			expect_stream(bench, 1500 + FADE, 3000, 3, FADE);
		bench_free(bench);
	}
}

static void
test_cut_at_a_frame(void **state)
{
	struct bench *bench = bench_playing(5000);

	(void)state;
	mix_until(bench, 256, 256);
	tape_song(tape_begin(&bench->tape, MUSIC, 2), 2, 9, 4000, 24);
	bench->plan.lanes[MUSIC].cut = 2;
	bench->plan.lanes[MUSIC].start = PLAN_AT;
	bench->plan.lanes[MUSIC].at_frame = 1777;
	mix_until(bench, 4000, 1000);
	expect_stream(bench, 0, 1777, 1, 0);
	expect_fade(bench, 1777,
		    (const struct side[]){{1, 1777, 1, 0}, {2, 9, 0, 1}}, 2);
	expect_stream(bench, 1777 + FADE, 4000, 2, 9 + FADE);
	bench_free(bench);
}

static void
test_dry_deck_waits_then_goes_on_where_it_was(void **state)
{
	struct bench *bench = bench_playing(3000);
	struct deck *deck = tape_deck(&bench->tape, MUSIC, 1);
	size_t done;

	(void)state;
	assert_int_equal(mix_until(bench, 4000, 256), MIX_WAIT);
	assert_int_equal(bench->mix.frame, 3000);
	assert_int_equal(mix_run(&bench->mix, &bench->plan,
				 &bench->out[3000 * 2], 100, true, &done),
			 MIX_IDLE);
	assert_int_equal(done, 0);
	/* Whoever fills the deck is asked to ring. */
	assert_int_equal(atomic_exchange(&bench->mix.bus->lane_dry[MUSIC], 0),
			 1);
	mix_silence(&bench->mix, &bench->out[3000 * 2], 100);
	tape_write(deck, 1, 3000, 5000, SAMPLE_S32, 24);
	mix_until(bench, 5000, 256);
	expect_fade(bench, 3100, (const struct side[]){{1, 3000, 0, 1}}, 1);
	expect_stream(bench, 3100 + FADE, 5000, 1, 3000 + FADE);
	assert_int_equal(atomic_load(&bench->mix.bus->lane_dry[MUSIC]), 0);
	/* Taken back, the hole closes. */
	mix_rewind(&bench->mix, 2990);
	mix_until(bench, 5000, 256);
	expect_stream(bench, 0, 5000, 1, 0);
	bench_free(bench);
}

/* Everything that happens above, in one run of two lanes; then again and
 * again from random frames back, on a 16-bit card, where dither shows too. */
static void
script(struct bench *bench, uint64_t until)
{
	struct mix_plan *plan = &bench->plan;

	if (bench->mix.frame == 0) {
		plan->lanes[MUSIC].cut = 1;
		mix_until(bench, 1000, 256);
		plan->volume = 0.25F;
		mix_until(bench, 2500, 256);
		plan->lanes[LANE_SPEECH].cut = 1;
		plan->lanes[MUSIC].gain = 0.5F;
		mix_until(bench, 4000, 256);
		plan->lanes[MUSIC].cut = 2;
		mix_until(bench, 4100, 256);
	}
	mix_until(bench, until, 256);
}

static void
test_mixing_again_gives_the_same(void **state)
{
	struct bench *bench = bench_new();
	int32_t *first = calloc(FRAMES_MAX, TAPE_CHANNELS * sizeof(int32_t));
	uint32_t seed = 1;
	struct deck *deck;

	(void)state;
	/* A card of 24 bits in 4 bytes: dithers, and fits into out. */
	bench->mix.spec.format = CARD_S24;
	bench->mix.spec.bits = 24;
	tape_song(tape_begin(&bench->tape, MUSIC, 1), 1, 0, 9000, 32);
	deck = tape_begin(&bench->tape, MUSIC, 2);
	tape_song(deck, 2, 50, 3000, 16);
	tape_stretch(deck, 3, 0, SAMPLE_F32, 0);
	tape_write(deck, 3, 0, 1500, SAMPLE_F32, 0);
	tape_song(deck, 4, 0, 1000, 24);
	pcm_ring_end(&deck->ring);
	deck = tape_begin(&bench->tape, LANE_SPEECH, 1);
	tape_song(deck, 9, 0, 2600, 16);
	pcm_ring_end(&deck->ring);
	script(bench, 8000);
	memcpy(first, bench->out, sizeof(bench->out));
	for (unsigned i = 0; i < 300; i++) {
		uint64_t back;

		seed = seed * 1664525U + 1013904223U;
		/* Not before the last command, which would come sooner. */
		back = 4100 + seed % 3900;
		bench->mix.note_count = 0;
		mix_rewind(&bench->mix, back);
		memset(&bench->out[back * 2], 0x55,
		       (8000 - back) * 2 * sizeof(int32_t));
		seed = seed * 1664525U + 1013904223U;
		mix_until(bench, 8000, 1 + seed % 700);
		assert_memory_equal(first, bench->out, sizeof(bench->out));
		assert_int_equal(count_notes(bench, RT_EVENT_CUT), 0);
	}
	free(first);
	bench_free(bench);
}

static void
test_decks_come_back_to_their_lane(void **state)
{
	struct bench *bench = bench_playing(6000);

	(void)state;
	mix_until(bench, 1000, 256);
	tape_song(tape_begin(&bench->tape, MUSIC, 2), 2, 0, 5000, 24);
	bench->plan.lanes[MUSIC].cut = 2;
	mix_until(bench, 2000, 256);
	bench->plan.lanes[MUSIC].cut = 3;
	assert_int_equal(mix_wanted_frame(&bench->mix, &bench->plan),
			 1000 + FADE);
	assert_false(mix_forget(&bench->mix, &bench->plan, 1000 + FADE - 1, 0));
	assert_null(tape_begin(&bench->tape, MUSIC, 3));
	assert_true(mix_forget(&bench->mix, &bench->plan, 1000 + FADE, 0));
	assert_int_equal(mix_lowest(&bench->mix, &bench->plan), 1000 + FADE);
	tape_song(tape_begin(&bench->tape, MUSIC, 3), 3, 0, 5000, 24);
	/* A cut that was never heard gives its deck back at once. */
	bench->plan.lanes[MUSIC].cut = 4;
	assert_true(mix_forget(&bench->mix, &bench->plan, 1000 + FADE, 0));
	assert_non_null(tape_begin(&bench->tape, MUSIC, 4));
	bench_free(bench);
}

static void
test_history_bounds_the_way_back(void **state)
{
	struct bench *bench = bench_playing(CAPACITY);

	(void)state;
	mix_until(bench, 15000, 256);
	assert_int_equal(mix_lowest(&bench->mix, &bench->plan),
			 15000 - HISTORY);
	mix_rewind(&bench->mix, 15000 - HISTORY);
	mix_until(bench, 15000, 999);
	expect_stream(bench, 0, 15000, 1, 0);
	bench_free(bench);
}

/* A pause takes back a song's beginning; going on tells it anew. */
static void
test_a_stream_taken_back_is_told_again(void **state)
{
	struct bench *bench = bench_playing(3000);

	(void)state;
	tape_song(tape_deck(&bench->tape, MUSIC, 1), 2, 0, 5000, 24);
	mix_until(bench, 4000, 256);
	assert_int_equal(find_note(bench, RT_EVENT_STRETCH, 2)->frame, 3000);
	bench->mix.note_count = 0;
	bench->plan.lanes[MUSIC].paused = 1;
	mix_rewind(&bench->mix, 2000);
	mix_until(bench, 4000, 256);
	assert_int_equal(bench->mix.frame, 2000 + FADE);
	assert_int_equal(count_notes(bench, RT_EVENT_STRETCH), 0);
	bench->plan.lanes[MUSIC].paused = 0;
	mix_until(bench, 5000, 256);
	assert_int_equal(count_notes(bench, RT_EVENT_STRETCH), 1);
	assert_int_equal(find_note(bench, RT_EVENT_STRETCH, 2)->frame,
			 3000 + FADE);
	bench_free(bench);
}

static void
test_a_new_cut_of_the_same_stream_is_told(void **state)
{
	struct bench *bench = bench_playing(5000);

	(void)state;
	mix_until(bench, 1000, 256);
	tape_song(tape_begin(&bench->tape, MUSIC, 2), 1, 0, 4000, 24);
	bench->plan.lanes[MUSIC].cut = 2;
	mix_until(bench, 2000, 256);
	assert_int_equal(count_notes(bench, RT_EVENT_STRETCH), 2);
	bench_free(bench);
}

/* Control forgets what lies behind a pause; it is told once more, even if it
 * comes at the very frame at which it would have come without. */
static void
test_what_a_pause_took_back_is_told_again(void **state)
{
	struct bench *bench = bench_playing(1000);
	struct deck *deck = tape_deck(&bench->tape, MUSIC, 1);

	(void)state;
	tape_song(deck, 2, 0, 1000, 24);
	pcm_ring_end(&deck->ring);
	assert_int_equal(mix_until(bench, 3000, 256), MIX_IDLE);
	assert_int_equal(count_notes(bench, RT_EVENT_STRETCH), 2);
	assert_int_equal(count_notes(bench, RT_EVENT_LANE_DRAINED), 1);
	mix_rewind(&bench->mix, 500);
	bench->plan.lanes[MUSIC].paused = 1;
	mix_until(bench, 600, 256);
	assert_int_equal(count_notes(bench, RT_EVENT_LANE_PAUSED), 1);
	mix_rewind(&bench->mix, 500);
	bench->plan.lanes[MUSIC].paused = 0;
	assert_int_equal(mix_until(bench, 3000, 256), MIX_IDLE);
	expect_stream(bench, 1000, 2000, 2, 0);
	assert_int_equal(count_notes(bench, RT_EVENT_STRETCH), 3);
	assert_int_equal(count_notes(bench, RT_EVENT_LANE_DRAINED), 2);
	bench_free(bench);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_after_joins_to_the_sample),
		cmocka_unit_test(test_after_an_end_not_known_yet),
		cmocka_unit_test(test_after_that_has_passed),
		cmocka_unit_test(test_a_new_cut_of_the_same_stream_is_told),
		cmocka_unit_test(test_what_a_pause_took_back_is_told_again),
		cmocka_unit_test(test_cut_at_a_frame),
		cmocka_unit_test(test_dry_deck_waits_then_goes_on_where_it_was),
		cmocka_unit_test(test_mixing_again_gives_the_same),
		cmocka_unit_test(test_decks_come_back_to_their_lane),
		cmocka_unit_test(test_history_bounds_the_way_back),
		cmocka_unit_test(test_a_stream_taken_back_is_told_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mixer against what it must give, frame for frame. Streams have a known
 * value at each frame (tape.h), so an expected output is written down as "which
 * stream, from which of its frames". */
#include "daemon/output/mix.h"

#include "tests/unit/output/tape.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum {
	FRAMES_MAX = 16384,
	CAPACITY = 24000,
	HISTORY = 8000,
	FADE = TAPE_RATE_HZ * MIX_FADE_US / 1000000,
	RAMP = TAPE_RATE_HZ * MIX_VOLUME_RAMP_US / 1000000,
	MUSIC = LANE_MUSIC,
};

struct bench {
	struct tape tape;
	struct mix mix;
	struct mix_plan plan;
	int32_t out[FRAMES_MAX * TAPE_CHANNELS];
};

static struct bench *
bench_new(void)
{
	const struct card_spec spec = {TAPE_RATE_HZ, TAPE_CHANNELS, CARD_S32,
				       32};
	struct bench *bench = calloc(1, sizeof(*bench));

	assert_non_null(bench);
	tape_init(&bench->tape, CAPACITY, HISTORY, TAPE_CHANNELS);
	mix_init(&bench->mix, bench->tape.bus, &spec);
	bench->plan.generation = 1;
	bench->plan.volume = 1.0F;
	for (unsigned i = 0; i < LANE_COUNT; i++)
		bench->plan.lanes[i].gain = 1.0F;
	return bench;
}

static void
bench_free(struct bench *bench)
{
	tape_finish(&bench->tape);
	free(bench);
}

/* Music on cut 1: stream 1 from its first sample on. */
static struct bench *
bench_playing(size_t frames)
{
	struct bench *bench = bench_new();
	struct deck *deck = tape_begin(&bench->tape, MUSIC, 1);

	tape_song(deck, 1, 0, frames, 24);
	bench->plan.lanes[MUSIC].cut = 1;
	return bench;
}

/* Mixes frames up to output frame `until`, in pieces of `piece`, to their
 * place in out. */
static enum mix_result
mix_until(struct bench *bench, uint64_t until, size_t piece)
{
	enum mix_result result = MIX_FULL;

	while (bench->mix.frame < until && result == MIX_FULL) {
		const uint64_t left = until - bench->mix.frame;
		const uint64_t before = bench->mix.frame;
		size_t done;

		result = mix_run(&bench->mix, &bench->plan,
				 &bench->out[before * TAPE_CHANNELS],
				 left < piece ? (size_t)left : piece, false,
				 &done);
		assert_int_equal(bench->mix.frame, before + done);
	}
	return result;
}

static void
expect_stream(const struct bench *bench, uint64_t first, uint64_t end,
	      uint64_t stream, uint64_t stream_frame)
{
	for (uint64_t frame = first; frame < end; frame++) {
		for (uint32_t c = 0; c < TAPE_CHANNELS; c++) {
			const int32_t want = tape_s32(
				stream, stream_frame + frame - first, c, 24);
			const int32_t got =
				bench->out[frame * TAPE_CHANNELS + c];

			if (want != got)
				fail_msg("frame %llu channel %u: %d, not %d",
					 (unsigned long long)frame, c, got,
					 want);
		}
	}
}

/* One side of an expected mix: stream at gain from + (to-from) * i / FADE. */
struct side {
	uint64_t stream, frame;
	float from, to;
};

static void
expect_fade(const struct bench *bench, uint64_t first, const struct side *sides,
	    size_t count)
{
	for (uint64_t i = 0; i < FADE; i++) {
		for (uint32_t c = 0; c < TAPE_CHANNELS; c++) {
			double want = 0;

			for (size_t s = 0; s < count; s++) {
				const double gain =
					sides[s].from +
					(sides[s].to - sides[s].from) *
						(double)i / FADE;

				want += gain * tape_s32(sides[s].stream,
							sides[s].frame + i, c,
							24);
			}
			/* Floats: half a step of 24 bits for each factor. */
			assert_true(
				fabs(want -
				     bench->out[(first + i) * TAPE_CHANNELS +
						c]) < 1024);
		}
	}
}

static const struct mix_note *
find_note(const struct bench *bench, uint32_t kind, uint64_t id)
{
	for (unsigned i = 0; i < bench->mix.note_count; i++) {
		if (bench->mix.notes[i].kind == kind &&
		    bench->mix.notes[i].id == id)
			return &bench->mix.notes[i];
	}
	return NULL;
}

static unsigned
count_notes(const struct bench *bench, uint32_t kind)
{
	unsigned count = 0;

	for (unsigned i = 0; i < bench->mix.note_count; i++)
		count += bench->mix.notes[i].kind == kind;
	return count;
}

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
	mix_silence(&bench->mix, &bench->out[3000 * 2], 100);
	tape_write(deck, 1, 3000, 5000, SAMPLE_S32, 24);
	mix_until(bench, 5000, 256);
	expect_fade(bench, 3100, (const struct side[]){{1, 3000, 0, 1}}, 1);
	expect_stream(bench, 3100 + FADE, 5000, 1, 3000 + FADE);
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
	assert_int_equal(mix_lowest(&bench->mix), 1000 + FADE);
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
	assert_int_equal(mix_lowest(&bench->mix), 15000 - HISTORY);
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
		cmocka_unit_test(test_after_joins_to_the_sample),
		cmocka_unit_test(test_after_an_end_not_known_yet),
		cmocka_unit_test(test_after_that_has_passed),
		cmocka_unit_test(test_cut_at_a_frame),
		cmocka_unit_test(test_dry_deck_waits_then_goes_on_where_it_was),
		cmocka_unit_test(test_mixing_again_gives_the_same),
		cmocka_unit_test(test_volume_ramps_and_comes_back_exact),
		cmocka_unit_test(test_decks_come_back_to_their_lane),
		cmocka_unit_test(test_history_bounds_the_way_back),
		cmocka_unit_test(test_a_stream_taken_back_is_told_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

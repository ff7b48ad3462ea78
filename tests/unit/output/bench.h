/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench.h - the mixer on a bench: streams have a known value at each frame
 * (tape.h), so an expected output is written down as "which stream, from which
 * of its frames". Static functions, for this folder only. */
#ifndef ROTARY_TESTS_OUTPUT_BENCH_H
#define ROTARY_TESTS_OUTPUT_BENCH_H

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

static inline struct bench *
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

static inline void
bench_free(struct bench *bench)
{
	tape_finish(&bench->tape);
	free(bench);
}

/* Music on cut 1: stream 1 from its first sample on. */
static inline struct bench *
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
static inline enum mix_result
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

static inline void
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

static inline void
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

static inline const struct mix_note *
find_note(const struct bench *bench, uint32_t kind, uint64_t id)
{
	for (unsigned i = 0; i < bench->mix.note_count; i++) {
		if (bench->mix.notes[i].kind == kind &&
		    bench->mix.notes[i].id == id)
			return &bench->mix.notes[i];
	}
	return NULL;
}

static inline unsigned
count_notes(const struct bench *bench, uint32_t kind)
{
	unsigned count = 0;

	for (unsigned i = 0; i < bench->mix.note_count; i++)
		count += bench->mix.notes[i].kind == kind;
	return count;
}

#endif

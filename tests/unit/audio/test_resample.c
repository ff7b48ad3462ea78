/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact lengths, no delay, and the same samples however calls are cut up. */
#include "daemon/audio/resample.h"

#include "tests/kit/failing_allocator.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FRAMES = 9001, OUT_MAX = 80000 };

static uint32_t seed = 4711;

static size_t
random_below(size_t most)
{
	seed = seed * 1664525U + 1013904223U;
	return 1 + (seed >> 8) % most;
}

/* Runs all of in through, in pieces of up to piece frames; 0: whole chunks. */
static size_t
run(struct resampler *resampler, const float *in, size_t frames, float *out,
    uint32_t channels, size_t piece)
{
	size_t at = 0, made = 0, given;

	while (at < frames) {
		size_t want =
			piece > 0 ? random_below(piece) : RESAMPLE_CHUNK_FRAMES;
		const size_t room =
			piece > 0 ? random_below(piece) : RESAMPLE_CHUNK_FRAMES;
		size_t taken;

		if (want > frames - at)
			want = frames - at;
		resampler_process(resampler, in + at * channels, want,
				  out + made * channels, room, &taken, &given);
		assert_true(taken <= want && given <= room);
		at += taken;
		made += given;
		assert_int_equal(resampler_taken(resampler), at);
		assert_int_equal(resampler_given(resampler), made);
	}
	do {
		given = resampler_flush(resampler, out + made * channels,
					piece > 0 ? random_below(piece) : 512);
		made += given;
	} while (given > 0);
	return made;
}

static void
test_lengths_are_exact(void **state)
{
	static const uint32_t rates[][2] = {
		{44100, 48000}, {48000, 44100}, {8000, 192000}, {96000, 44100},
		{22050, 44100}, {44101, 48000}, {11025, 8000}};
	float *in = calloc(FRAMES, sizeof(float));
	float *out = calloc(8 * OUT_MAX, sizeof(float));

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		const double ratio = (double)rates[i][1] / rates[i][0];
		struct resampler *resampler;

		assert_int_equal(resampler_create(NULL, rates[i][0],
						  rates[i][1], 1, RESAMPLE_HIGH,
						  &resampler),
				 0);
		for (size_t frames = 1; frames <= FRAMES; frames *= 9) {
			assert_int_equal(
				run(resampler, in, frames, out, 1, 0),
				(size_t)llround((double)frames * ratio));
			assert_int_equal(resampler_restart(resampler), 0);
		}
		resampler_destroy(resampler);
	}
	free(in);
	free(out);
}

/* A sine comes out as the sine at the same instants, right from the start;
 * where the filter's half sees what was never there, nearly so: as silence that
 * would be off by a tenth. */
static void
test_there_is_no_delay(void **state)
{
	static const uint32_t rates[][2] = {
		{44100, 48000}, {48000, 44100}, {44100, 96000}};
	float *in = calloc(FRAMES * 2, sizeof(float));
	float *out = calloc(2 * OUT_MAX, sizeof(float));

	(void)state;
	for (size_t i = 0; i < 3 * 4; i++) {
		const double step = 2 * acos(-1) * 997;
		const uint32_t *pair = rates[i % 3];
		const enum resample_quality quality =
			(enum resample_quality)(i / 3);
		struct resampler *resampler;
		double worst = 0, worst_at_ends = 0;
		size_t made;

		for (size_t k = 0; k < FRAMES; k++) {
			in[2 * k] = (float)(0.5 * sin(1 + step * (double)k /
								  pair[0]));
			in[2 * k + 1] = -in[2 * k];
		}
		assert_int_equal(resampler_create(NULL, pair[0], pair[1], 2,
						  quality, &resampler),
				 0);
		made = run(resampler, in, FRAMES, out, 2, 0);
		for (size_t k = 0; k < made; k++) {
			const double want =
				0.5 * sin(1 + step * (double)k / pair[1]);
			double *error = k < 1000 || made - k <= 1000
						? &worst_at_ends
						: &worst;

			*error = fmax(*error, fabs(out[2 * k] - want));
			*error = fmax(*error, fabs(out[2 * k + 1] + want));
		}
		/* -80 dB, low: -60 dB; a frame off: 0.06. */
		assert_true(worst < (quality == RESAMPLE_LOW ? 1e-3 : 1e-4));
		assert_true(worst_at_ends < 4e-3);
		resampler_destroy(resampler);
	}
	free(in);
	free(out);
}

static void
test_pieces_and_restarts_give_the_same(void **state)
{
	float *in = calloc(FRAMES * 2, sizeof(float));
	float *first = calloc(2 * OUT_MAX, sizeof(float));
	float *again = calloc(2 * OUT_MAX, sizeof(float));
	struct resampler *resampler;
	size_t made;

	(void)state;
	for (size_t k = 0; k < FRAMES * 2; k++)
		in[k] = (float)random_below(1 << 20) * 0x1p-21F;
	assert_int_equal(resampler_create(NULL, 44100, 48000, 2, RESAMPLE_HIGH,
					  &resampler),
			 0);
	made = run(resampler, in, FRAMES, first, 2, 0);
	for (size_t piece = 1; piece < 3000; piece = piece * 7 + 1) {
		assert_int_equal(resampler_restart(resampler), 0);
		assert_int_equal(run(resampler, in, FRAMES, again, 2, piece),
				 made);
		assert_memory_equal(first, again, made * 2 * sizeof(float));
	}
	resampler_destroy(resampler);
	free(in);
	free(first);
	free(again);
}

static void
test_what_it_refuses(void **state)
{
	struct failing_allocator failing;
	struct resampler *resampler = NULL;

	(void)state;
	assert_int_equal(
		resampler_create(NULL, 0, 48000, 2, RESAMPLE_HIGH, &resampler),
		-EINVAL);
	assert_int_equal(resampler_create(NULL, 48000, 48000, 9, RESAMPLE_HIGH,
					  &resampler),
			 -EINVAL);
	for (size_t at = 1; at <= 3; at++) {
		failing_allocator_init(&failing, at);
		assert_int_equal(resampler_create(&failing.base, 44100, 48000,
						  2, RESAMPLE_HIGH, &resampler),
				 -ENOMEM);
		assert_null(resampler);
		assert_int_equal(failing.live, 0);
	}
	resampler_destroy(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths_are_exact),
		cmocka_unit_test(test_there_is_no_delay),
		cmocka_unit_test(test_pieces_and_restarts_give_the_same),
		cmocka_unit_test(test_what_it_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

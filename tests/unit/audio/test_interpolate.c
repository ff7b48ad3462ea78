/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What comes out for a sine is that sine, and what is not is measured: noise,
 * images and distortion together, as what is left when the best sine of its
 * frequency was taken away. */
#include "daemon/audio/interpolate.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { OUT = 8192, PIECE = 100 };

struct signal {
	uint32_t in_hz, out_hz;
	double ppm; /* that the pace is off */
	double hz;
};

/* In pieces, as a follower does: the place goes on from piece to piece. */
static float *
play(const struct signal *signal, double *ret_step)
{
	struct interpolator *interpolator;
	float *in, *out = calloc(OUT, sizeof(*out));
	uint64_t step, place = INTERPOLATE_FRAME / 3;
	size_t frames, i;

	assert_int_equal(interpolator_create(signal->in_hz, signal->out_hz,
					     &interpolator),
			 0);
	step = interpolator_step(interpolator);
	step += (uint64_t)(int64_t)((double)step * signal->ppm * 1e-6);
	frames = (size_t)(OUT * step >> 32) + 2 +
		 interpolator_before(interpolator) +
		 interpolator_after(interpolator);
	in = malloc(frames * sizeof(*in));
	assert_non_null(in);
	assert_non_null(out);
	for (i = 0; i < frames; i++)
		in[i] = (float)(0.5 * sin(2 * M_PI * signal->hz * (double)i /
					  signal->in_hz));
	for (i = 0; i < OUT; i += PIECE) {
		const size_t count = OUT - i < PIECE ? OUT - i : PIECE;

		interpolate(interpolator, in + (place >> 32), (uint32_t)place,
			    step, out + i, count);
		place += count * step;
	}
	*ret_step = (double)step / (double)INTERPOLATE_FRAME;
	interpolator_destroy(interpolator);
	free(in);
	return out;
}

static double
decibels(double part)
{
	return 20 * log10(part + 1e-12);
}

/* Level of the sine (against that of the input), and of all else. */
static void
measure(const struct signal *signal, double *ret_level, double *ret_rest)
{
	double step, ss = 0, cc = 0, sc = 0, ys = 0, yc = 0, rest = 0;
	float *out = play(signal, &step);
	const double pace = 2 * M_PI * signal->hz * step / signal->in_hz;
	double a, b, det;
	size_t i;

	for (i = 0; i < OUT; i++) {
		const double s = sin(pace * (double)i);
		const double c = cos(pace * (double)i);

		ss += s * s;
		cc += c * c;
		sc += s * c;
		ys += out[i] * s;
		yc += out[i] * c;
	}
	det = ss * cc - sc * sc;
	a = (ys * cc - yc * sc) / det;
	b = (yc * ss - ys * sc) / det;
	for (i = 0; i < OUT; i++) {
		const double left = out[i] - a * sin(pace * (double)i) -
				    b * cos(pace * (double)i);

		rest += left * left;
	}
	*ret_level = decibels(sqrt(a * a + b * b) / 0.5);
	*ret_rest = decibels(sqrt(rest / OUT) / (0.5 / sqrt(2)));
	free(out);
}

static void
test_a_sine_comes_out_as_itself(void **state)
{
	static const uint32_t rates[][2] = {
		{44100, 44100}, {48000, 48000},  {44100, 48000}, {48000, 44100},
		{96000, 44100}, {44100, 192000}, {192000, 8000}};
	static const double ppms[] = {0, 300, -500, 17};
	static const double parts[] = {0.003, 0.1, 0.23, 0.43};
	size_t i, j, k;

	(void)state;
	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		for (j = 0; j < 4; j++)
			for (k = 0; k < 4; k++) {
				const uint32_t low = rates[i][0] < rates[i][1]
							     ? rates[i][0]
							     : rates[i][1];
				const struct signal signal = {
					rates[i][0], rates[i][1], ppms[j],
					parts[k] * low};
				double level, rest;

				measure(&signal, &level, &rest);
				if (fabs(level) > 0.01 || rest > -100)
					fail_msg("%u to %u, %g ppm, %g Hz: "
						 "%.3f dB, and %.1f dB",
						 rates[i][0], rates[i][1],
						 ppms[j], signal.hz, level,
						 rest);
			}
}

/* What the lower rate cannot hold is not folded back into it. */
static void
test_what_is_too_high_is_left_out(void **state)
{
	const struct signal signals[] = {{96000, 44100, 0, 25000},
					 {96000, 48000, 100, 40000},
					 {192000, 44100, 0, 60000}};
	size_t i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		double step, power = 0;
		float *out = play(&signals[i], &step);

		for (k = 0; k < OUT; k++)
			power += (double)out[k] * out[k];
		assert_true(decibels(sqrt(power / OUT)) < -100);
		free(out);
	}
}

static void
test_silence_and_a_level_are_exact(void **state)
{
	struct interpolator *interpolator;
	float in[256], out[64];
	size_t i;

	(void)state;
	assert_int_equal(interpolator_create(44100, 44100, &interpolator), 0);
	assert_int_equal(interpolator_before(interpolator) +
				 interpolator_after(interpolator),
			 128);
	for (i = 0; i < 256; i++)
		in[i] = 0.75F;
	interpolate(interpolator, in, 12345, INTERPOLATE_FRAME + 999, out, 64);
	for (i = 0; i < 64; i++)
		assert_true(fabsf(out[i] - 0.75F) < 1e-5F);
	for (i = 0; i < 256; i++)
		in[i] = 0;
	interpolate(interpolator, in, 12345, INTERPOLATE_FRAME + 999, out, 64);
	for (i = 0; i < 64; i++)
		assert_true(out[i] == 0);
	interpolator_destroy(interpolator);
	assert_int_equal(interpolator_create(0, 44100, &interpolator), -EINVAL);
	interpolator_destroy(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sine_comes_out_as_itself),
		cmocka_unit_test(test_what_is_too_high_is_left_out),
		cmocka_unit_test(test_silence_and_a_level_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

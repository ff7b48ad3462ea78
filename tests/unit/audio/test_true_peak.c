/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An estimate is never below the wave of a tone, nor over what its samples can
 * rise to, and is the same wherever in a run it is made. */
#include "daemon/audio/true_peak.h"

#include "tests/kit/dice.h"
#include "tests/unit/audio/meter.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { FRAMES = 1024, FIRST = TRUE_PEAK_BEFORE, LAST = FRAMES - 60 };

static float samples[2 * FRAMES], peaks[FRAMES], parts[FRAMES];

static const double pi = 3.14159265358979323846;

/* Of all from FIRST to LAST, in runs of this many. */
static void
estimate(const float *first, size_t stride, size_t run, float *ret_peaks)
{
	float found[TRUE_PEAK_RUN];

	for (size_t i = FIRST; i < LAST; i += run) {
		const size_t count = LAST - i < run ? LAST - i : run;

		memset(found, 0, sizeof(found));
		true_peak_run(first + i * stride, stride, count, 0, found);
		memcpy(ret_peaks + i, found, count * sizeof(float));
	}
}

static float
largest(void)
{
	float most = 0;

	for (size_t i = FIRST; i < LAST; i++)
		most = fmaxf(most, peaks[i]);
	return most;
}

/* Of 1; up to 21.8 kHz of 44.1. What a meter may over-read is in the standard:
 * more than half a dB near the end. */
static void
test_tones(void **state)
{
	(void)state;
	for (double pitch = 0.01; pitch < 0.99; pitch += 0.0137)
		for (int p = 0; p < 7; p++) {
			float peak;

			for (int i = 0; i < FRAMES; i++)
				samples[i] = (float)sin(pi * pitch * i + p);
			estimate(samples, 1, TRUE_PEAK_RUN, peaks);
			peak = largest();
			assert_true(peak > 0.99F);
			assert_true(peak < (pitch < 0.5 ? 1.03F : 1.13F));
		}
}

/* The peak lies where no sample is: it is found to the eighth. */
static void
test_between_samples(void **state)
{
	(void)state;
	for (int eighth = 0; eighth < 8; eighth++) {
		for (int i = 0; i < FRAMES; i++) {
			const double t = i - 500 - eighth / 8.0;
			const double x = pi * 0.8 * t;

			samples[i] = (float)(t == 0 ? 1 : sin(x) / x);
		}
		estimate(samples, 1, TRUE_PEAK_RUN, peaks);
		assert_true(fabsf(largest() - 1) < 0.06F);
		assert_true(peaks[500] == largest());
	}
}

static void
test_place_makes_no_difference(void **state)
{
	static const size_t runs[] = {1, 3, 17, 63};
	struct dice dice = dice_seeded(3);

	(void)state;
	for (size_t i = 0; i < 2 * (size_t)FRAMES; i++)
		samples[i] = (float)dice_roll(&dice, 1 << 20) * 0x1p-19F - 1;
	for (size_t c = 0; c < 2; c++) {
		estimate(samples + c, 2, TRUE_PEAK_RUN, peaks);
		for (size_t r = 0; r < sizeof(runs) / sizeof(runs[0]); r++) {
			estimate(samples + c, 2, runs[r], parts);
			assert_memory_equal(parts + FIRST, peaks + FIRST,
					    (LAST - FIRST) * sizeof(float));
		}
		for (size_t i = FIRST; i < LAST; i++) {
			assert_true(peaks[i] >= fabsf(samples[2 * i + c]));
			assert_true((double)peaks[i] * 1.00001 >=
				    meter_at(samples + 2 * (i + 6) + c, 2));
			assert_true(peaks[i] <= TRUE_PEAK_RISE_MAX);
		}
	}
}

/* Samples of the signs that the taps have make the most of them: as much as
 * the bound says, which is what a floor is trusted for. */
static void
test_the_most_that_can_be(void **state)
{
	float most = 0;
	float unheard[TRUE_PEAK_RUN] = {0};
	struct dice dice = dice_seeded(7);

	(void)state;
	for (int eighth = 1; eighth < 8; eighth++) {
		for (int i = 0; i < FRAMES; i++) {
			const double t = i - 500 - eighth / 8.0;

			samples[i] = sin(pi * t) / t > 0 ? 1 : -1;
		}
		estimate(samples, 1, TRUE_PEAK_RUN, peaks);
		most = fmaxf(most, largest());
	}
	assert_true(most > 3.3F && most <= TRUE_PEAK_RISE_MAX);
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < FRAMES; i++)
			samples[i] = dice_roll(&dice, 2) ? 1 : -1;
		estimate(samples, 1, TRUE_PEAK_RUN, peaks);
		assert_true(largest() <= TRUE_PEAK_RISE_MAX);
	}
	true_peak_run(samples + 500, 1, TRUE_PEAK_RUN, TRUE_PEAK_RISE_MAX,
		      unheard);
	for (size_t i = 0; i < (size_t)TRUE_PEAK_RUN; i++)
		assert_true(unheard[i] == 0);
}

static void
test_what_is_no_number(void **state)
{
	(void)state;
	memset(samples, 0, sizeof(samples));
	samples[500] = NAN;
	estimate(samples, 1, TRUE_PEAK_RUN, peaks);
	assert_true(largest() == 0);
	samples[500] = -INFINITY;
	samples[510] = INFINITY;
	estimate(samples, 1, TRUE_PEAK_RUN, peaks);
	for (size_t i = FIRST; i < LAST; i++)
		assert_true(peaks[i] == peaks[i]);
	assert_true(peaks[500] > 1e29F && peaks[510] > 1e29F);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tones),
		cmocka_unit_test(test_between_samples),
		cmocka_unit_test(test_place_makes_no_difference),
		cmocka_unit_test(test_the_most_that_can_be),
		cmocka_unit_test(test_what_is_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever goes in, no wave past full scale comes out; what needs no limiter is
 * not touched; and how it is called makes no difference. */
#include "daemon/audio/limiter.h"

#include "tests/kit/dice.h"
#include "tests/unit/audio/meter.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
#ifdef ROTARY_SANITIZED
	FRAMES = 9000,
#else
	FRAMES = 20000,
#endif
	RATE = 44100,
	FINE = 16,
	REACH_TAPS = 64,
	BODY = FRAMES - 500
};

/* 0.05 dB: by so much two long filters differ. */
static const double estimate_allowed = 1.0058;
static const double pi = 3.14159265358979323846;

struct run {
	struct limiter *limiter;
	uint32_t channels;
	enum limiter_watch watch;
	const float *in; /* of FRAMES, and silence behind */
	float *out;
	struct dice dice;
	uint32_t piece; /* at most, by chance; 0: 256 */
};

static size_t
roll(struct run *run)
{
	return run->piece == 0 ? LIMITER_FEED_FRAMES
			       : 1 + dice_roll(&run->dice, run->piece);
}

static void
feed_to(struct run *run, uint64_t end)
{
	struct limiter *limiter = run->limiter;

	while (limiter->fed < end) {
		const float *from = run->in + limiter->fed * run->channels;
		size_t count = roll(run);

		if (count > end - limiter->fed)
			count = (size_t)(end - limiter->fed);
		if (limiter->fed >= FRAMES)
			limiter_feed(limiter, LIMITER_NOTHING, NULL, count);
		else if (limiter->fed + count > FRAMES)
			limiter_feed(limiter, run->watch, from,
				     FRAMES - limiter->fed);
		else
			limiter_feed(limiter, run->watch, from, count);
	}
}

/* Frames from first to end, as the mixer does it. */
static void
run_from(struct run *run, uint64_t first, uint64_t end)
{
	while (first < end) {
		float *out = run->out + first * run->channels;
		size_t count = roll(run);

		if (count > end - first)
			count = (size_t)(end - first);
		feed_to(run, first + count + limiter_reach(run->limiter));
		memcpy(out, run->in + first * run->channels,
		       count * run->channels * sizeof(float));
		limiter_apply(run->limiter, first, out, count);
		first += count;
	}
}

static void
begin(struct run *run, uint32_t channels, uint32_t rate_hz)
{
	*run = (struct run){
		.limiter = malloc(sizeof(struct limiter)),
		.channels = channels,
		.watch = LIMITER_PEAKS,
		.out = calloc((size_t)FRAMES * channels, sizeof(float)),
		.dice = dice_seeded(1),
	};
	assert_non_null(run->limiter);
	assert_non_null(run->out);
	limiter_init(run->limiter, rate_hz, channels);
}

static void
finish(struct run *run)
{
	free(run->limiter);
	free(run->out);
}

static double
meter_peak(const float *samples, uint32_t channels)
{
	double peak = 0;

	for (uint32_t i = 11; i < FRAMES; i++)
		peak = fmax(peak, meter_at(samples + i * channels, channels));
	return peak;
}

/* The largest value of the wave, by a longer filter and finer steps than the
 * limiter's own: twice as long as those of the usual converters. */
static double
true_peak(const float *samples, uint32_t channels)
{
	static double taps[FINE][2 * REACH_TAPS];
	double peak = 0;

	for (int p = 0; p < FINE; p++)
		for (int k = 0; k < 2 * REACH_TAPS; k++) {
			const double t = k - REACH_TAPS + 1 - (double)p / FINE;
			const double window =
				0.5 + 0.5 * cos(pi * t / (REACH_TAPS + 1));

			taps[p][k] =
				t == 0 ? 1 : sin(pi * t) / (pi * t) * window;
		}
	for (int i = REACH_TAPS; i + REACH_TAPS < FRAMES; i++) {
		double nearby = 0;

		for (int k = 0; k < 2 * REACH_TAPS; k++)
			nearby = fmax(
				nearby,
				fabs((double)samples[(i - REACH_TAPS + 1 + k) *
						     (int)channels]));
		if (nearby < 0.4)
			continue;
		for (int p = 0; p < FINE; p++) {
			double sum = 0;

			for (int k = 0; k < 2 * REACH_TAPS; k++)
				sum += taps[p][k] *
				       (double)samples[(i - REACH_TAPS + 1 +
							k) *
						       (int)channels];
			peak = fmax(peak, fabs(sum));
		}
	}
	return peak;
}

enum signal {
	QUARTER_RATE, /* between samples 3 dB over them */
	HIGH,
	SWEEP,
	IMPULSES,
	STEPS,
	SQUARE,
	NOISE, /* as music, it has nothing at half the rate */
	WHITE, /* up to half the rate as loud as anywhere */
	BURSTS,
	SIGNALS,
};

static float
sample_of(enum signal signal, uint32_t i, struct dice *dice)
{
	const double t = i;

	switch (signal) {
	case QUARTER_RATE:
		return (float)sin(pi * t / 2 + pi / 4);
	case HIGH:
		return (float)sin(pi * t * 0.86 + 0.3);
	case SWEEP:
		return (float)sin(t * t * 0.8 * pi / (2 * FRAMES));
	case IMPULSES:
		return i % 997 == 0 ? 1.0F : i % 61 == 7 ? -0.8F : 0.0F;
	case STEPS:
		return i / 3000 % 3 == 0   ? 0.02F
		       : i / 3000 % 3 == 1 ? 1.0F
					   : -1.0F;
	case SQUARE:
		return i / 25 % 2 == 0 ? 1.0F : -1.0F;
	case WHITE: /* more like Gauss's than one die */
		return ((float)dice_roll(dice, 1 << 20) +
			(float)dice_roll(dice, 1 << 20) +
			(float)dice_roll(dice, 1 << 20) +
			(float)dice_roll(dice, 1 << 20)) *
			       0x1p-20F -
		       2.0F;
	case NOISE:
		return (float)dice_roll(dice, 1 << 20) * 0x1p-19F - 1.0F;
	default:
		return i % 5000 < 300 ? (float)sin(t * 0.7) : 0.01F;
	}
}

static float *
make(enum signal signal, float gain, uint32_t channels)
{
	float *samples = calloc((size_t)FRAMES * channels, sizeof(float));
	struct dice dice = dice_seeded((uint64_t)signal + 5);

	assert_non_null(samples);
	for (uint32_t i = 0; i < FRAMES; i++)
		for (uint32_t c = 0; c < channels; c++)
			samples[i * channels + c] =
				sample_of(signal, i + 31 * c, &dice) * gain;
	for (size_t i = (size_t)FRAMES * channels - 1;
	     signal == NOISE && i >= channels; i--)
		samples[i] = (samples[i] + samples[i - channels]) / 2;
	return samples;
}

static void
test_no_wave_past_full_scale(void **state)
{
	static const float gains[] = {1.0F, 3.0F, 100.0F};

	(void)state;
	for (int s = 0; s < SIGNALS; s++)
		for (int g = 0; g < 3; g++) {
			float *in = make((enum signal)s, gains[g], 2);
			struct run run;
			double peak;

			begin(&run, 2, RATE);
			run.in = in;
			run_from(&run, 0, FRAMES);
			for (size_t i = 0; i < 2 * (size_t)FRAMES; i++)
				assert_true(fabsf(run.out[i]) <= 1.0F);
			peak = fmax(true_peak(run.out, 2),
				    true_peak(run.out + 1, 2));
			if (peak > estimate_allowed)
				print_error("signal %d times %.1f: %.4f\n", s,
					    (double)gains[g], peak);
			assert_true(peak <= estimate_allowed);
			assert_true(meter_peak(run.out, 2) <= 1.0);
			assert_true(meter_peak(run.out + 1, 2) <= 1.0);
			finish(&run);
			free(in);
		}
}

/* Loud all the time, it is not made softer than it has to be. */
static void
test_it_is_loud_all_the_same(void **state)
{
	float *in = make(QUARTER_RATE, 10.0F, 1);
	struct run run;

	(void)state;
	begin(&run, 1, RATE);
	run.in = in;
	run_from(&run, 0, FRAMES);
	assert_true(true_peak(run.out, 1) > 0.94);
	finish(&run);
	free(in);
}

static void
test_what_is_not_too_loud_stays(void **state)
{
	/* The standard's filter over-reads what is high. */
	static const float gains[SIGNALS] = {0.8F, 0.89F, 0.89F, 0.7F, 0.6F,
					     0.6F, 0.4F,  0.2F,  0.7F};

	(void)state;
	for (int s = 0; s < SIGNALS; s++) {
		float *in = make((enum signal)s, gains[s], 2);
		struct run run;

		begin(&run, 2, RATE);
		run.in = in;
		run_from(&run, 0, FRAMES);
		/* Its end is a step, which overshoots. */
		assert_memory_equal(run.out, in, 2 * BODY * sizeof(float));
		assert_int_equal(limiter_idle(run.limiter, 0, BODY), BODY);
		finish(&run);
		free(in);
	}
}

/* Samples alone may stand at full scale, whatever lies between them. */
static void
test_samples_only(void **state)
{
	float *in = make(QUARTER_RATE, 1.41421F, 1); /* to 1 */
	struct run run;

	(void)state;
	begin(&run, 1, RATE);
	run.watch = LIMITER_SAMPLES;
	run.in = in;
	run_from(&run, 0, FRAMES);
	assert_memory_equal(run.out, in, FRAMES * sizeof(float));
	finish(&run);
	begin(&run, 1, RATE);
	run.in = in;
	run_from(&run, 0, FRAMES);
	assert_true(run.out[1000] < 0.8F);
	finish(&run);
	free(in);
}

static void
test_calls_make_no_difference(void **state)
{
	static const uint32_t pieces[] = {1, 2, 9, 33, 200};
	struct run whole, parts;

	(void)state;
	for (int s = 0; s < SIGNALS; s++) {
		float *in = make((enum signal)s, 2.5F, 2);

		begin(&whole, 2, RATE);
		whole.in = in;
		run_from(&whole, 0, FRAMES);
		for (int p = 0; p < 5; p++) {
			begin(&parts, 2, RATE);
			parts.in = in;
			parts.piece = pieces[p];
			run_from(&parts, 0, FRAMES);
			assert_memory_equal(parts.out, whole.out,
					    2 * FRAMES * sizeof(float));
			finish(&parts);
		}
		finish(&whole);
		free(in);
	}
}

/* The mixer goes back, as far as it likes, and mixes the same again. */
static void
test_again_comes_out_the_same(void **state)
{
	struct dice dice = dice_seeded(8);
	struct run run;

	(void)state;
	for (int s = 0; s < SIGNALS; s++) {
		float *in = make((enum signal)s, 2.5F, 2);
		float *first = malloc(2 * FRAMES * sizeof(float));

		assert_non_null(first);
		begin(&run, 2, RATE);
		run.in = in;
		run_from(&run, 0, FRAMES - 1000);
		memcpy(first, run.out, 2 * FRAMES * sizeof(float));
		for (int i = 0; i < 20; i++) {
			const uint64_t to = dice_roll(&dice, FRAMES - 1000);
			const uint64_t end =
				to + dice_roll(&dice,
					       (uint32_t)(FRAMES - 1000 - to));

			memset(run.out + 2 * to, 0,
			       2 * (FRAMES - to) * sizeof(float));
			limiter_renew(run.limiter, to);
			run_from(&run, to, end);
			assert_memory_equal(run.out + 2 * to, first + 2 * to,
					    2 * (end - to) * sizeof(float));
			run_from(&run, end, FRAMES - 1000);
			assert_memory_equal(run.out, first,
					    2 * (FRAMES - 1000) *
						    sizeof(float));
		}
		finish(&run);
		free(in);
		free(first);
	}
}

/* Something else is to be heard from a frame on: it never comes out too loud,
 * though nobody saw it come. */
static void
test_a_sudden_change(void **state)
{
	float *soft = make(NOISE, 0.1F, 1);
	float *loud = make(NOISE, 10.0F, 1);
	struct run run;

	(void)state;
	for (uint32_t at = 5000; at < 5070; at++) {
		begin(&run, 1, RATE);
		run.in = soft;
		run_from(&run, 0, at);
		limiter_renew(run.limiter, at);
		run.in = loud;
		run_from(&run, at, at + 3000);
		for (uint32_t i = at; i < at + 3000; i++)
			assert_true(fabsf(run.out[i]) < 1.0F);
		finish(&run);
	}
	free(soft);
	free(loud);
}

static void
test_it_comes_back_to_nothing(void **state)
{
	float *in = calloc(FRAMES, sizeof(float));
	struct run run;

	(void)state;
	assert_non_null(in);
	for (uint32_t i = 0; i < FRAMES; i++)
		in[i] = 0.5F;
	in[2000] = 4.0F; /* 12 dB, that is 0.3 s */
	begin(&run, 1, RATE);
	run.in = in;
	run_from(&run, 0, FRAMES);
	for (uint32_t i = 0; i < FRAMES; i++) {
		assert_true(run.out[i] <= 1.0F);
		if (i < 2000 - limiter_reach(run.limiter) || i > 2000 + 14000)
			assert_true(run.out[i] == 0.5F);
		/* And on the way there is no jump. */
		if (i > 0 && i != 2000 && i != 2001)
			assert_true(fabsf(run.out[i] - run.out[i - 1]) < 0.01F);
	}
	finish(&run);
	free(in);
}

static void
test_what_is_no_number(void **state)
{
	float *in = make(NOISE, 0.4F, 2);
	struct run run;

	(void)state;
	in[1001] = NAN;
	in[2002] = INFINITY;
	in[2003] = -INFINITY;
	in[2004] = 1e30F;
	in[3005] = -NAN;
	begin(&run, 2, RATE);
	run.in = in;
	run_from(&run, 0, FRAMES);
	for (size_t i = 2000; i < 2 * (size_t)FRAMES; i++)
		assert_true(fabsf(run.out[i]) <= 1.0F || i == 3005 ||
			    i == 1001);
	finish(&run);
	free(in);
}

static void
test_each_rate_and_channel_count(void **state)
{
	static const uint32_t rates[] = {1,      8000,   48000,  96000,
					 192000, 768000, 1048575};

	(void)state;
	for (int r = 0; r < 7; r++)
		for (uint32_t channels = 1; channels <= 8; channels += 7) {
			float *in = make(NOISE, 5.0F, channels);
			struct run run;

			begin(&run, channels, rates[r]);
			run.in = in;
			run_from(&run, 0, FRAMES);
			for (size_t i = 0; i < (size_t)FRAMES * channels; i++)
				assert_true(fabsf(run.out[i]) <= 1.0F);
			finish(&run);
			free(in);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_wave_past_full_scale),
		cmocka_unit_test(test_it_is_loud_all_the_same),
		cmocka_unit_test(test_what_is_not_too_loud_stays),
		cmocka_unit_test(test_samples_only),
		cmocka_unit_test(test_calls_make_no_difference),
		cmocka_unit_test(test_again_comes_out_the_same),
		cmocka_unit_test(test_a_sudden_change),
		cmocka_unit_test(test_it_comes_back_to_nothing),
		cmocka_unit_test(test_what_is_no_number),
		cmocka_unit_test(test_each_rate_and_channel_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interpolate.c - a windowed sinc, tabled at phases between two frames; a place
 * between two phases gets what lies between their coefficients.
 *
 * 128 taps where the rates are about the same, as many times more as the output
 * is slower, with as many fewer phases: the table has one size. Kaiser window,
 * 120 dB. The cutoff lies a little under half the lower rate: at 44.1 kHz all
 * is heard up to 20 kHz, and nothing of what is folded back lies below it.
 * Between phases the straight line is off by (pi f / fs / 512)^2 / 2 at most:
 * -107 dB of the loudest place at 20 kHz, and nothing that matters below. */
#include "daemon/audio/interpolate.h"

#include "daemon/audio/format.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { TAPS = 128, PHASES = 512, PHASES_MIN = 16, LANES = 8 };

static const double BETA = 12.26;   /* 120 dB */
static const double CUTOFF = 0.485; /* of the lower rate */

struct interpolator {
	uint32_t taps;        /* a multiple of LANES */
	uint32_t phase_shift; /* place's lower half to a phase */
	float phase_part;     /* and what is left, to a part of a phase */
	uint64_t step;
	float *table; /* phases + 1 rows of taps */
};

/* The modified Bessel function of the first kind, order 0. */
static double
bessel(double x)
{
	double sum = 1.0, term = 1.0;
	int i;

	for (i = 1; term > sum * 1e-17; i++) {
		term *= x / (2 * i) * (x / (2 * i));
		sum += term;
	}
	return sum;
}

/* At distance frames from the middle; the row is made to have its gain. */
static double
coefficient(double distance, double half, double cutoff)
{
	const double x = distance / half;
	const double angle = 2 * M_PI * cutoff * distance;
	const double sinc = fabs(angle) < 1e-9 ? 2 * cutoff
					       : sin(angle) / (M_PI * distance);

	return x * x >= 1.0 ? 0.0 : sinc * bessel(BETA * sqrt(1 - x * x));
}

/* Each row has a gain of exactly 1 at 0 Hz. */
static void
fill_row(float *row, uint32_t taps, double part, double cutoff)
{
	const double half = taps / 2.0;
	double sum = 0;
	uint32_t i;

	for (i = 0; i < taps; i++) {
		const double value = coefficient((double)i - (half - 1) - part,
						 half, cutoff);

		row[i] = (float)value;
		sum += value;
	}
	for (i = 0; i < taps; i++)
		row[i] = (float)(row[i] / sum);
}

/* Behind the middle the phases are the mirror images of those before it. */
static void
fill_table(float *table, uint32_t taps, uint32_t phases, double cutoff)
{
	uint32_t i, k;

	for (i = 0; i <= phases; i++) {
		float *row = table + (size_t)i * taps;
		const float *mirror = table + (size_t)(phases - i) * taps;

		if (i <= phases / 2)
			fill_row(row, taps, (double)i / phases, cutoff);
		else
			for (k = 0; k < taps; k++)
				row[k] = mirror[taps - 1 - k];
	}
}

int
interpolator_create(uint32_t in_hz, uint32_t out_hz,
		    struct interpolator **ret_interpolator)
{
	const double slower =
		in_hz > out_hz && out_hz > 0 ? (double)in_hz / out_hz : 1.0;
	struct interpolator *interpolator;
	uint32_t phases = PHASES;

	if (in_hz < AUDIO_RATE_MIN || in_hz > AUDIO_RATE_MAX ||
	    out_hz < AUDIO_RATE_MIN || out_hz > AUDIO_RATE_MAX)
		return -EINVAL;
	interpolator = calloc(1, sizeof(*interpolator));
	if (interpolator == NULL)
		return -ENOMEM;
	interpolator->taps =
		slower * TAPS < INTERPOLATE_TAPS_MAX
			? (uint32_t)(slower * TAPS / LANES + 0.999) * LANES
			: (uint32_t)INTERPOLATE_TAPS_MAX;
	interpolator->phase_shift = 32 - 9;
	while (phases > PHASES_MIN && phases * slower > PHASES) {
		phases /= 2;
		interpolator->phase_shift++;
	}
	interpolator->phase_part =
		1.0F / (float)(UINT64_C(1) << interpolator->phase_shift);
	interpolator->step =
		(uint64_t)((double)in_hz / out_hz * (double)INTERPOLATE_FRAME);
	interpolator->table = malloc((size_t)(phases + 1) * interpolator->taps *
				     sizeof(float));
	if (interpolator->table == NULL) {
		free(interpolator);
		return -ENOMEM;
	}
	fill_table(interpolator->table, interpolator->taps, phases,
		   CUTOFF / slower);
	*ret_interpolator = interpolator;
	return 0;
}

void
interpolator_destroy(struct interpolator *interpolator)
{
	if (interpolator == NULL)
		return;
	free(interpolator->table);
	free(interpolator);
}

RT_SAFE uint32_t
interpolator_before(const struct interpolator *interpolator)
{
	return interpolator->taps / 2;
}

RT_SAFE uint32_t
interpolator_after(const struct interpolator *interpolator)
{
	return interpolator->taps / 2;
}

RT_SAFE uint64_t
interpolator_step(const struct interpolator *interpolator)
{
	return interpolator->step;
}

/* Sums of LANES, so that the compiler may make vectors of them. */
static RT_SAFE float
value_at(const float *in, const float *row, const float *next, float part,
	 uint32_t taps)
{
	float sums[LANES] = {0};
	float sum = 0;
	uint32_t i, lane;

	for (i = 0; i < taps; i += LANES)
		for (lane = 0; lane < LANES; lane++)
			sums[lane] += in[i + lane] *
				      (row[i + lane] +
				       part * (next[i + lane] - row[i + lane]));
	for (lane = 0; lane < LANES; lane++)
		sum += sums[lane];
	return sum;
}

RT_SAFE void
interpolate(const struct interpolator *interpolator, const float *in,
	    uint64_t place, uint64_t step, float *out, size_t frames)
{
	const uint32_t shift = interpolator->phase_shift;
	const uint32_t taps = interpolator->taps;
	size_t i;

	for (i = 0; i < frames; i++, place += step) {
		const uint32_t below = (uint32_t)place;
		const float *row =
			interpolator->table + (size_t)(below >> shift) * taps;
		const float part = (float)(below & ((1U << shift) - 1)) *
				   interpolator->phase_part;

		out[i] = value_at(in + (place >> 32), row, row + taps, part,
				  taps);
	}
}

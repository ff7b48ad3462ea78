/* SPDX-License-Identifier: GPL-3.0-or-later */
/* true_peak.c - two estimates, of which the larger counts.
 *
 * The standard's: ITU-R BS.1770-4, annex 2, four values a sample by its filter
 * of 48 taps. That filter is short and wide: it reads up to 0.6 dB too much of
 * a tone at 20 kHz, and knows little of what lies near half the rate, of which
 * white noise is full: there the wave of a converter or a resampler, whose
 * filters are long and steep, is up to 2 dB higher.
 *
 * So the other one is long: eight values a sample, in two steps. The values
 * halfway are a sinc of 96 taps under a Kaiser window (beta 3; Kaiser and
 * Schafer 1980), those between samples and halves a sinc of 8 under another
 * (beta 5): what is twice oversampled has nothing in the upper half of its
 * band. Each set of taps has a sum of 1.
 *
 *   sample 0    1/8 2/8 3/8    half 0    5/8 6/8 7/8    sample 1
 *
 * No filter knows the wave to the end: of white noise the ideal one, the
 * endless sinc, has no largest value at all (its taps' absolute sum grows with
 * the logarithm of their number). Against 256 taps these under-read by 0.3 dB
 * at most, in noise of +1 and -1 alone.
 *
 * Every value is made by the same loops of constant length, so that it does
 * not depend on its place in the run, and they can be made four at a time. */
#include "daemon/audio/true_peak.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
	HALF_TAPS = 48, /* to each side */
	HALVES_BEFORE = 2,
	HALVES = TRUE_PEAK_RUN + 2 * HALVES_BEFORE,
	STEP_TAPS = 8,
	STANDARD_TAPS = 12,
	STANDARD_BEFORE = 5,
	SAMPLES = TRUE_PEAK_BEFORE + TRUE_PEAK_RUN + TRUE_PEAK_AFTER,
};

_Static_assert(TRUE_PEAK_BEFORE == HALF_TAPS - 1 + HALVES_BEFORE &&
		       TRUE_PEAK_AFTER == HALF_TAPS + HALVES_BEFORE,
	       "what the halves need");

/* More than any sum of ours, and far from infinity. */
static const float loudest = 1e30F;

/* From the middle outwards; the other side is the same. */
static const float half_taps[HALF_TAPS] = {
	0.63740109F,  -0.21224302F, 0.12707730F,  -0.09048234F, 0.07007813F,
	-0.05703389F, 0.04795327F,  -0.04125142F, 0.03608937F,  -0.03198147F,
	0.02862716F,  -0.02583046F, 0.02345818F,  -0.02141660F, 0.01963794F,
	-0.01807191F, 0.01668046F,  -0.01543428F, 0.01431039F,  -0.01329059F,
	0.01236021F,  -0.01150735F, 0.01072223F,  -0.00999677F, 0.00932420F,
	-0.00869883F, 0.00811582F,  -0.00757108F, 0.00706105F,  -0.00658270F,
	0.00613336F,  -0.00571074F, 0.00531279F,  -0.00493774F, 0.00458401F,
	-0.00425018F, 0.00393500F,  -0.00363733F, 0.00335617F,  -0.00309059F,
	0.00283976F,  -0.00260291F, 0.00237934F,  -0.00216840F, 0.00196951F,
	-0.00178210F, 0.00160566F,  -0.00143971F,
};

/* A quarter of the way from the fourth to the fifth, and half of it; three
 * quarters are the first from behind. */
static const float step_taps[2][STEP_TAPS] = {
	{
		-0.01159634F,
		0.04665817F,
		-0.14422132F,
		0.89338080F,
		0.27755035F,
		-0.08233837F,
		0.02478533F,
		-0.00421863F,
	},
	{
		-0.01034966F,
		0.04864109F,
		-0.15356642F,
		0.61527499F,
		0.61527499F,
		-0.15356642F,
		0.04864109F,
		-0.01034966F,
	},
};

/* Phases 0 and 1 of the standard's table; 3 and 2 are these from behind. */
static const float standard_taps[2][STANDARD_TAPS] = {
	{0.0017089843750F, 0.0109863281250F, -0.0196533203125F,
	 0.0332031250000F, -0.0594482421875F, 0.1373291015625F,
	 0.9721679687500F, -0.1022949218750F, 0.0476074218750F,
	 -0.0266113281250F, 0.0148925781250F, -0.0083007812500F},
	{-0.0291748046875F, 0.0292968750000F, -0.0517578125000F,
	 0.0891113281250F, -0.1665039062500F, 0.4650878906250F,
	 0.7797851562500F, -0.2003173828125F, 0.1015625000000F,
	 -0.0582275390625F, 0.0330810546875F, -0.0189208984375F},
};

/* The samples in one piece, numbers all; returns the largest of them. */
static RT_SAFE float
gather(const float *first, size_t stride, size_t count, float *samples)
{
	float most = 0.0F;
	size_t i = 0;

	for (i = 0; i < count; i++) {
		const float value = first[i * stride];
		const float size = fabsf(value);

		samples[i] = value;
		if (!(size <= loudest))
			samples[i] = size > loudest ? loudest : 0.0F;
		most = size > most ? size : most;
	}
	memset(samples + count, 0, (SAMPLES - count) * sizeof(float));
	return most;
}

/* halves[i] lies behind sample i - HALVES_BEFORE. */
static RT_SAFE void
find_halves(const float *samples, float *halves)
{
	const float *at = samples + TRUE_PEAK_BEFORE - HALVES_BEFORE;
	float sums[HALVES] = {0};
	size_t i = 0, tap = 0;

	for (tap = 0; tap < HALF_TAPS; tap++) {
		const float *before = at - tap;
		const float *behind = at + 1 + tap;
		const float factor = half_taps[tap];

		for (i = 0; i < HALVES; i++)
			sums[i] += factor * (before[i] + behind[i]);
	}
	memcpy(halves, sums, sizeof(sums));
}

static RT_SAFE void
raise_peaks(float *peaks, const float *values)
{
	size_t i = 0;

	for (i = 0; i < TRUE_PEAK_RUN; i++) {
		const float size = fabsf(values[i]);

		peaks[i] = size > peaks[i] ? size : peaks[i];
	}
}

/* The values that these taps make, each set from the front or from behind: tap
 * k is that of columns[k][i]. */
static RT_SAFE void
try_taps(const float *const *columns, const float *taps, size_t count,
	 bool from_behind, float *peaks)
{
	float sums[TRUE_PEAK_RUN] = {0};
	size_t i = 0, tap = 0;

	for (tap = 0; tap < count; tap++) {
		const float factor = taps[from_behind ? count - 1 - tap : tap];
		const float *column = columns[tap];

		for (i = 0; i < TRUE_PEAK_RUN; i++)
			sums[i] += factor * column[i];
	}
	raise_peaks(peaks, sums);
}

/* Between sample and half, or half and sample. */
static RT_SAFE void
try_steps(const float *samples, const float *halves, bool second, float *peaks)
{
	const float *sample = samples + TRUE_PEAK_BEFORE - 1;
	const float *half = halves + HALVES_BEFORE - 2 + second;
	const float *columns[STEP_TAPS];
	size_t i = 0;

	for (i = 0; i < STEP_TAPS / 2; i++) {
		columns[2 * i + !second] = sample + i;
		columns[2 * i + second] = half + i;
	}
	try_taps(columns, step_taps[0], STEP_TAPS, false, peaks);
	try_taps(columns, step_taps[0], STEP_TAPS, true, peaks);
	try_taps(columns, step_taps[1], STEP_TAPS, false, peaks);
}

static RT_SAFE void
try_standard(const float *samples, float *peaks)
{
	const float *first = samples + TRUE_PEAK_BEFORE - STANDARD_BEFORE;
	const float *columns[STANDARD_TAPS];
	size_t i = 0, phase = 0;

	for (i = 0; i < STANDARD_TAPS; i++)
		columns[i] = first + i;
	for (phase = 0; phase < 2; phase++) {
		try_taps(columns, standard_taps[phase], STANDARD_TAPS, false,
			 peaks);
		try_taps(columns, standard_taps[phase], STANDARD_TAPS, true,
			 peaks);
	}
}

RT_SAFE void
true_peak_run(const float *samples, size_t stride, size_t count, float floor,
	      float *peaks)
{
	const float *first = samples - (size_t)TRUE_PEAK_BEFORE * stride;
	float gathered[SAMPLES];
	float halves[HALVES];

	if (gather(first, stride, TRUE_PEAK_BEFORE + count + TRUE_PEAK_AFTER,
		   gathered) *
		    TRUE_PEAK_RISE_MAX <=
	    floor)
		return;
	raise_peaks(peaks, gathered + TRUE_PEAK_BEFORE);
	find_halves(gathered, halves);
	raise_peaks(peaks, halves + HALVES_BEFORE);
	try_steps(gathered, halves, false, peaks);
	try_steps(gathered, halves, true, peaks);
	try_standard(gathered, peaks);
}

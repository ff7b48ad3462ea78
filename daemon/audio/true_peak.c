/* SPDX-License-Identifier: GPL-3.0-or-later */
/* true_peak.c - eight times oversampled by a sinc of 16 taps under a Kaiser
 * window (beta 5), each phase with a gain of 1 at 0 Hz. Four phases lie before
 * the middle between two samples or on it; those behind it are their mirror
 * images. */
#include "daemon/audio/true_peak.h"

#include <math.h>

enum { TAPS = TRUE_PEAK_BEFORE + 1 + TRUE_PEAK_AFTER, PHASES = 4 };

static const float phases[PHASES][TAPS] = {
	{-0.00174260F, 0.00425543F, -0.00859235F, 0.01568952F, -0.02740178F,
	 0.04886877F, -0.10363254F, 0.97446620F, 0.13560367F, -0.05740861F,
	 0.03149669F, -0.01807396F, 0.01005889F, -0.00513996F, 0.00223631F,
	 -0.00068369F},
	{-0.00281801F, 0.00712778F, -0.01464625F, 0.02699362F, -0.04726540F,
	 0.08364606F, -0.17061039F, 0.89915863F, 0.29452417F, -0.11555187F,
	 0.06246867F, -0.03582927F, 0.02007707F, -0.01040318F, 0.00464702F,
	 -0.00151864F},
	{-0.00319908F, 0.00841501F, -0.01762142F, 0.03280826F, -0.05764642F,
	 0.10141322F, -0.20035965F, 0.78125019F, 0.46467098F, -0.16508716F,
	 0.08766373F, -0.05019644F, 0.02829738F, -0.01485330F, 0.00679690F,
	 -0.00235220F},
	{-0.00298363F, 0.00820151F, -0.01752942F, 0.03299897F, -0.05823378F,
	 0.10200048F, -0.19629739F, 0.63184326F, 0.63184326F, -0.19629739F,
	 0.10200048F, -0.05823378F, 0.03299897F, -0.01752942F, 0.00820151F,
	 -0.00298363F},
};

RT_SAFE float
true_peak_at(const float *sample, size_t stride)
{
	const float *first = sample - (size_t)TRUE_PEAK_BEFORE * stride;
	float peak = fabsf(*sample);
	unsigned phase = 0, tap = 0;

	peak = peak == peak ? peak : 0.0F;
	for (phase = 0; phase < PHASES; phase++) {
		float before = 0.0F, behind = 0.0F;

		for (tap = 0; tap < TAPS; tap++) {
			const float value = first[tap * stride];

			before += value * phases[phase][tap];
			behind += value * phases[phase][TAPS - 1 - tap];
		}
		/* A NaN is larger than nothing. */
		peak = fabsf(before) > peak ? fabsf(before) : peak;
		peak = fabsf(behind) > peak ? fabsf(behind) : peak;
	}
	return peak;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* true_peak.h - how loud the wave is that samples stand for, between them, as
 * ITU-R BS.1770-4 annex 2 estimates it: by oversampling.
 * Pure; RT_SAFE; any thread. */
#ifndef ROTARY_AUDIO_TRUE_PEAK_H
#define ROTARY_AUDIO_TRUE_PEAK_H

#include "lib/base/attr.h"

enum {
	TRUE_PEAK_BEFORE = 7, /* frames that an estimate looks back */
	TRUE_PEAK_AFTER = 8,  /* and ahead */
};

/* No wave rises over its samples' largest value times this. */
#define TRUE_PEAK_RISE_MAX 2.12F

/* The largest absolute value from the sample up to the next; samples of one
 * channel stand stride apart. What is no number counts as nothing. Under-reads
 * by 0.05 dB at most at 44.1 kHz up to 20 kHz. */
RT_SAFE float true_peak_at(const float *sample, size_t stride);

#endif

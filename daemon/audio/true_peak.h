/* SPDX-License-Identifier: GPL-3.0-or-later */
/* true_peak.h - how loud the wave is that samples stand for, between them: the
 * largest of what two estimates say (see the .c), so that neither a meter after
 * ITU-R BS.1770-4 nor a long reconstruction filter finds more.
 * Pure; RT_SAFE; any thread. */
#ifndef ROTARY_AUDIO_TRUE_PEAK_H
#define ROTARY_AUDIO_TRUE_PEAK_H

#include "lib/base/attr.h"

enum {
	TRUE_PEAK_BEFORE = 49, /* frames that an estimate looks back */
	TRUE_PEAK_AFTER = 50,  /* and ahead */
	TRUE_PEAK_RUN = 64,    /* estimates made at once, at most */
};

/* No estimate is over its samples' largest value times this. */
#define TRUE_PEAK_RISE_MAX 3.41F

/* Raises peaks[i] to the largest absolute value from sample i up to the next,
 * for i < count, unless nothing there is over `floor`. Samples of one channel
 * stand stride apart, TRUE_PEAK_BEFORE before the first one and
 * TRUE_PEAK_AFTER behind the last. What is no number counts as nothing. How
 * many are asked for at once makes no difference to any of them. peaks has
 * TRUE_PEAK_RUN places. */
RT_SAFE void true_peak_run(const float *samples, size_t stride, size_t count,
			   float floor, float *peaks);

#endif

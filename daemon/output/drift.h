/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drift.h - how much faster or slower to go, so that what lies between two
 * clocks stays what it should be.
 *
 * Each look says how much too much lies there; the answer is a part of the pace
 * to add to it. Cards tell their positions in steps and late, so one look means
 * little: it is the mean of many that counts, and the answer moves slowly. Nor
 * may it ever be heard: 500 ppm is less than a hundredth of a semitone.
 * Pure; RT_SAFE; any thread. Units: seconds, but what says otherwise. */
#ifndef ROTARY_OUTPUT_DRIFT_H
#define ROTARY_OUTPUT_DRIFT_H

#include "lib/base/attr.h"

#include <stdbool.h>

#define DRIFT_MAX 500e-6 /* parts */

struct drift {
	double mean;  /* of the error */
	double sum;   /* what both clocks differ by, as known so far: parts */
	double parts; /* the last answer */
	bool looked;
};

RT_SAFE void drift_init(struct drift *drift);
/* What the clocks differ by is kept; where things stand is not. */
RT_SAFE void drift_jump(struct drift *drift);
/* after_s since the last look, error_s too much is there. */
RT_SAFE double drift_look(struct drift *drift, double error_s, double after_s);

#endif

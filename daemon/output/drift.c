/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drift.c - a mean over MEAN_S, then proportion and sum, critically damped:
 *
 *   parts = 2 PACE mean + sum,   d sum / dt = PACE^2 mean
 *
 * With PACE = 0.02 a difference of 300 ppm that comes all at once moves the
 * fill by 6.5 ms at most and is made good within five minutes; a card that
 * tells its position in steps of 10 ms, and up to 10 ms wrong, moves the pace
 * by 80 ppm at most. The sum stands still while the answer is at its limit, or
 * it would run away. */
#include "daemon/output/drift.h"

static const double PACE = 0.02; /* radians a second */
static const double MEAN_S = 8;
static const double AFTER_MAX_S = 1;

RT_SAFE void
drift_init(struct drift *drift)
{
	*drift = (struct drift){0};
}

RT_SAFE void
drift_jump(struct drift *drift)
{
	drift->looked = false;
	drift->parts = drift->sum;
}

static RT_SAFE double
limited(double parts)
{
	if (parts > DRIFT_MAX)
		return DRIFT_MAX;
	return parts < -DRIFT_MAX ? -DRIFT_MAX : parts;
}

RT_SAFE double
drift_look(struct drift *drift, double error_s, double after_s)
{
	double parts;

	if (after_s > AFTER_MAX_S)
		after_s = AFTER_MAX_S;
	if (!drift->looked)
		drift->mean = error_s;
	else
		drift->mean +=
			(error_s - drift->mean) * after_s / (MEAN_S + after_s);
	drift->looked = true;
	parts = 2 * PACE * drift->mean + drift->sum;
	if (parts == limited(parts) || parts * drift->mean < 0)
		drift->sum = limited(drift->sum +
				     PACE * PACE * drift->mean * after_s);
	drift->parts = limited(2 * PACE * drift->mean + drift->sum);
	return drift->parts;
}

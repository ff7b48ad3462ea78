/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guard.c - see guard.h. What was seen loses a part in FORGET_PARTS at each
 * wake-up, and at each look that is not soon behind another: those that lie
 * further apart than SOON_NS show less of the position's steps than of two
 * clocks that differ. */
#include "daemon/output/guard.h"

#include "lib/base/clock.h"

enum {
	FORGET_PARTS = 64,
	BASE_US = 5000,
	BESIDE_STEP_US = 2000,
	TIMES_LATE = 2,
};

static const int64_t SOON_NS = 50 * NS_PER_MS;

RT_SAFE void
guard_begin(struct guard *guard, uint32_t rate_hz)
{
	*guard = (struct guard){.rate_hz = rate_hz};
}

RT_SAFE void
guard_pause(struct guard *guard)
{
	guard->has_last = false;
}

/* How far the position is from where time alone would have moved it. */
static RT_SAFE int64_t
unevenness_ns(const struct guard *guard, uint64_t heard, int64_t time_ns)
{
	const int64_t passed_ns = time_ns - guard->last_ns;
	const int64_t moved_ns = clock_frames_to_ns(
		heard > guard->last_heard ? heard - guard->last_heard : 0,
		guard->rate_hz);

	return moved_ns > passed_ns ? moved_ns - passed_ns
				    : passed_ns - moved_ns;
}

RT_SAFE void
guard_look(struct guard *guard, uint64_t heard, int64_t time_ns)
{
	if (guard->has_last && time_ns - guard->last_ns < SOON_NS) {
		const int64_t uneven_ns = unevenness_ns(guard, heard, time_ns);

		if (uneven_ns > guard->step_ns)
			guard->step_ns = uneven_ns;
	} else {
		guard->step_ns -= guard->step_ns / FORGET_PARTS;
	}
	guard->has_last = true;
	guard->last_heard = heard;
	guard->last_ns = time_ns;
}

RT_SAFE void
guard_wakeup(struct guard *guard, int64_t late_ns)
{
	guard->late_ns -= guard->late_ns / FORGET_PARTS;
	if (late_ns > guard->late_ns)
		guard->late_ns = late_ns;
	if (guard->wakeups < GUARD_LEAST_WAKEUPS)
		guard->wakeups++;
}

RT_SAFE uint32_t
guard_frames(const struct guard *guard)
{
	int64_t us = BESIDE_STEP_US + guard->step_ns / NS_PER_US;

	if (us < BASE_US)
		us = BASE_US;
	us += TIMES_LATE * guard->late_ns / NS_PER_US;
	if (us < GUARD_MIN_US)
		us = GUARD_MIN_US;
	if (us < GUARD_FIRST_US && guard->wakeups < GUARD_LEAST_WAKEUPS)
		us = GUARD_FIRST_US;
	if (us > GUARD_MAX_US)
		us = GUARD_MAX_US;
	return (uint32_t)((uint64_t)guard->rate_hz * (uint64_t)us / 1000000);
}

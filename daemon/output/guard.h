/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guard.h - how near to the card what is queued may be taken back.
 *
 * What is taken back must be mixed and written again before the card comes to
 * it. The card may be further than it says, by as much as its position moves at
 * once; and this thread may be late between its look at the card and its first
 * write, as it is late when it wakes up. Both are seen: the position, from
 * looks that follow soon on each other, and the delay of wake-ups.
 *
 * A fault seen once counts at once, and is forgotten little by little. Before
 * enough was seen the guard is not made smaller. Whatever was seen, it stays
 * between GUARD_MIN_US, since cards fetch ahead and some kernels move their
 * positions every 4 ms only, and GUARD_MAX_US.
 * Pure; RT_SAFE; the output thread. */
#ifndef ROTARY_OUTPUT_GUARD_H
#define ROTARY_OUTPUT_GUARD_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum {
	GUARD_MIN_US = 6000,
	GUARD_FIRST_US = 8000,
	GUARD_MAX_US = 16000,
	GUARD_LEAST_WAKEUPS = 32,
};

struct guard {
	uint32_t rate_hz;
	uint32_t wakeups;
	bool has_last;
	uint64_t last_heard; /* as of the last look, in frames */
	int64_t last_ns;
	int64_t step_ns; /* what its position moves at once */
	int64_t late_ns; /* what the thread was late */
};

RT_SAFE void guard_begin(struct guard *guard, uint32_t rate_hz);
/* The card was stopped: what it says next is not to be compared. */
RT_SAFE void guard_pause(struct guard *guard);
/* At time_ns it said that frame heard is due. */
RT_SAFE void guard_look(struct guard *guard, uint64_t heard, int64_t time_ns);
/* The thread woke up late_ns after it wanted to. */
RT_SAFE void guard_wakeup(struct guard *guard, int64_t late_ns);
RT_SAFE uint32_t guard_frames(const struct guard *guard);

#endif

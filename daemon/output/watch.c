/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.c - is the output thread stuck, or has it no CPU?
 *
 * The thread's word (takeback.h) is another one with each call and each sleep.
 * From look to look no more than LOOK_MAX_NS count, so that a process that was
 * stopped as a whole, or a machine that slept, does not lose its thread: it is
 * given the chance to be somewhere else first. */
#include "daemon/output/watch.h"

#include "lib/base/clock.h"
#include "lib/sync/takeback.h"

static const int64_t STUCK_NS = 2 * NS_PER_S;
static const int64_t LOOK_MAX_NS = 400 * NS_PER_MS;

const int64_t watch_ns = NS_PER_S;
const int64_t watch_again_ns = 200 * NS_PER_MS;

enum watch_verdict
watch_look(struct watch *watch, uint32_t seen, int64_t now_ns)
{
	const enum takeback_state state = takeback_state_of(seen);
	const int64_t gone_ns = now_ns - watch->looked_ns;
	const int64_t before_ns = watch->same_ns;

	if (watch->looked_ns == 0 || seen != watch->seen)
		watch->same_ns = 0;
	else
		watch->same_ns += gone_ns < LOOK_MAX_NS ? gone_ns : LOOK_MAX_NS;
	watch->seen = seen;
	watch->looked_ns = now_ns;
	if (state == TAKEBACK_ASLEEP)
		return WATCH_FINE;
	if (watch->same_ns <= STUCK_NS)
		return WATCH_SUSPECT;
	if (state == TAKEBACK_IN_CALL)
		return WATCH_STUCK;
	return before_ns <= STUCK_NS ? WATCH_STARVED : WATCH_SUSPECT;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/clock.h"

#include <time.h>

static RT_SAFE int64_t
read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

RT_SAFE int64_t
clock_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

RT_SAFE int64_t
clock_thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Whole seconds and the rest apart, so that the product cannot overflow. */
RT_SAFE int64_t
clock_frames_to_ns(uint64_t frames, uint32_t rate_hz)
{
	const uint64_t whole = frames / rate_hz;
	const uint64_t rest = frames % rate_hz;

	return (int64_t)whole * NS_PER_S +
	       (int64_t)(rest * (uint64_t)NS_PER_S / rate_hz);
}

RT_SAFE uint64_t
clock_ns_to_frames(int64_t ns, uint32_t rate_hz)
{
	const uint64_t whole = (uint64_t)(ns / NS_PER_S);
	const uint64_t rest = (uint64_t)(ns % NS_PER_S);

	if (ns <= 0)
		return 0;
	return whole * rate_hz + rest * rate_hz / (uint64_t)NS_PER_S;
}

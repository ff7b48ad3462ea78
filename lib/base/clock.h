/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.h - the one clock and the one unit of time: CLOCK_MONOTONIC in ns. */
#ifndef ROTARY_BASE_CLOCK_H
#define ROTARY_BASE_CLOCK_H

#include "lib/base/attr.h"

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)

/* Nanoseconds of CLOCK_MONOTONIC. Any thread; a vDSO call, no system call. */
RT_SAFE int64_t clock_now_ns(void);

/* Nanoseconds of CPU time that the calling thread has used. A system call on
 * some kernels: for the budget of a quantum, not for each sample. */
RT_SAFE int64_t clock_thread_cpu_ns(void);

/* frames at rate_hz as ns and back, without overflow up to 2^53 frames;
 * rounds down. rate_hz > 0. */
RT_SAFE int64_t clock_frames_to_ns(uint64_t frames, uint32_t rate_hz);
RT_SAFE uint64_t clock_ns_to_frames(int64_t ns, uint32_t rate_hz);

#endif

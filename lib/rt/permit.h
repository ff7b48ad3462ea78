/* SPDX-License-Identifier: GPL-3.0-or-later */
/* permit.h - what the kernel lets this process do. Any thread; MAY_BLOCK.
 * Private to lib/rt. */
#ifndef ROTARY_RT_PERMIT_H
#define ROTARY_RT_PERMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* capability: CAP_... of linux/capability.h; effective in the calling
 * thread. */
bool permit_capability(int capability);

/* The soft limit RLIMIT_...; UINT64_MAX: none. */
uint64_t permit_limit(int resource);

/* True when a thread at this nice value may leave SCHED_IDLE again. */
bool permit_leave_idle(int nice_value);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rtkit.h - RealtimeKit, the service that makes threads of a desktop's user
 * real-time. Any thread; MAY_BLOCK, at most timeout_ns. Private to lib/rt. */
#ifndef ROTARY_RT_RTKIT_H
#define ROTARY_RT_RTKIT_H

#include "lib/base/attr.h"

#include <sys/types.h>

/* Asks for priority, or the highest one that it gives. Sets RLIMIT_RTTIME, on
 * which the service insists: from then on the kernel ends a process whose
 * real-time thread runs longer than that (200 ms by default) without a pause.
 * Returns 0, -ENOENT or -ECONNREFUSED (no bus), -ETIMEDOUT, -EACCES and others
 * as the bus or the service says; ret_reason is then one phrase. */
MAY_BLOCK NODISCARD int rtkit_promote(pid_t thread_id, int priority,
				      int64_t timeout_ns, char *ret_reason,
				      size_t reason_bytes);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hogs.h - ordinary processes that want all there is of the CPUs, as any
 * program may: one for each CPU that this process may use. One thread. A hog
 * that cannot be started ends the program. */
#ifndef ROTARY_KIT_HOGS_H
#define ROTARY_KIT_HOGS_H

#include "lib/base/attr.h"

#include <stdbool.h>
#include <sys/types.h>

enum { HOGS_MAX = 8 };

struct hogs {
	unsigned count;
	pid_t pids[HOGS_MAX];
	ATOMIC(int64_t) * used_ns; /* shared with them */
};

/* Before any other thread is there. */
void hogs_start(struct hogs *hogs);
void hogs_stop(const struct hogs *hogs);
/* CPU time of all of them. */
int64_t hogs_used_ns(const struct hogs *hogs);
/* The machine is so busy already that hogs would get nothing to speak of. */
bool hogs_are_many(void);

#endif

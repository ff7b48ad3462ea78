/* SPDX-License-Identifier: GPL-3.0-or-later */
/* programs.h - programs that keys start: without a shell, with no descriptor of
 * ours, one at a time for each key, for at most 10 s.
 * Threads: one. RT: MAY_BLOCK as posix_spawn() does. Logs what goes wrong.
 * Overload: PROGRAMS_MAX at once; one more is refused. */
#ifndef ROTARY_MONITOR_PROGRAMS_H
#define ROTARY_MONITOR_PROGRAMS_H

#include "remote/monitor/key.h"

#include <poll.h>
#include <sys/types.h>

enum { PROGRAMS_MAX = 8 };

struct program {
	pid_t pid; /* 0: free */
	int pidfd;
	struct key key;
	int64_t until_ns;
};

struct programs {
	struct program list[PROGRAMS_MAX];
};

/* argv ends with NULL; argv[0] is a full path. 0, -EBUSY (this key's program
 * still runs, or too many do), -errno of starting it. */
int programs_start(struct programs *programs, int64_t now_ns, struct key key,
		   char *const argv[]);
/* Ends them all. */
void programs_finish(struct programs *programs);

size_t programs_add_polls(const struct programs *programs,
			  struct pollfd *ret_polls);
/* Looks after those that ended, ends those that took too long. */
void programs_tick(struct programs *programs, int64_t now_ns);
int64_t programs_deadline(const struct programs *programs);

#endif

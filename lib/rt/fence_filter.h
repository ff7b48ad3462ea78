/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fence_filter.h - the program that the kernel runs at every system call of a
 * sealed thread. Pure. Private to lib/rt. */
#ifndef ROTARY_RT_FENCE_FILTER_H
#define ROTARY_RT_FENCE_FILTER_H

#include "lib/rt/rt.h"

#include <linux/filter.h>

enum { FENCE_FILTER_MAX = 64 };

struct fence_rules {
	enum rt_fence fence; /* COUNT or KILL */
	enum rt_profile profile;
	const int *event_fds; /* RT_SEAL_FDS, for write(), or NULL; -1: none */
	uintptr_t gate_address; /* calls that return to it are allowed */
};

/* Returns the number of instructions, 0 on a processor that is not known. */
size_t fence_filter_build(const struct fence_rules *rules,
			  struct sock_filter ret_filter[FENCE_FILTER_MAX]);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* own.h - what the handlers of a signal know about the thread they run on.
 * Threads: each its own. Private to lib/rt. */
#ifndef ROTARY_RT_OWN_H
#define ROTARY_RT_OWN_H

#include "lib/rt/rt.h"

struct rt_own {
	struct rt_figures *figures; /* NULL: no real-time thread */
	enum rt_fence fence;
	bool dying;                       /* its report is being written */
	const struct rt_subject *subject; /* what it is at work on, or NULL */
};

/* Initial-exec: a signal handler may not enter the dynamic linker. (__thread is
 * the one spelling that C and C++ share.) */
extern __thread struct rt_own rt_own __attribute__((tls_model("initial-exec")));

/* One more; stops at the highest, which is years away. */
RT_SAFE void figures_count(ATOMIC(uint32_t) * counter);

#endif

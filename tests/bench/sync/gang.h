/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gang.h - a few ordinary threads that do the same thing as often as they can,
 * and what one time costs. Time on the CPU is what counts: other load on the
 * machine makes a run longer, not dearer. */
#ifndef ROTARY_BENCH_GANG_H
#define ROTARY_BENCH_GANG_H

#include <stdint.h>

enum { GANG_MAX = 16, GANG_BATCH = 256 };

struct gang_work {
	void (*begin)(void *context); /* on each thread; may be NULL */
	void (*end)(void *context);   /* on each thread; may be NULL */
	/* GANG_BATCH times what is measured */
	void (*batch)(void *context, unsigned index);
	void *context;
};

struct gang_cost {
	double cpu_ns;  /* of one thread, for one time */
	double wall_ns; /* of the clock on the wall, for one time of any */
};

void gang_measure(const struct gang_work *work, unsigned threads, unsigned ms,
		  struct gang_cost *ret_cost);

#endif

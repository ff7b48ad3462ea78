/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_sync.h - the measurements, one a process: each prints lines of a name
 * and a number, and returns the exit status. */
#ifndef ROTARY_BENCH_SYNC_H
#define ROTARY_BENCH_SYNC_H

#include "tests/bench/sync/rival.h"

enum tail_layout {
	TAIL_ONE_CPU,  /* all on one */
	TAIL_TWO_CPUS, /* the readers on one, writer and stress on another */
};

struct tail_spec {
	const struct rival *rival;
	enum tail_layout layout;
	unsigned size; /* members */
	unsigned seed;
	unsigned ms;
};

/* How long FIFO readers wait in a pull, while a writer without priority goes in
 * and out and others keep its CPU busy. */
int tail_measure(const struct tail_spec *spec);

/* ns per pull with so many readers and no writer. */
int cost_of_pulls(const struct rival *rival, unsigned threads, unsigned ms);
/* ns per change of one member for another, with no reader. */
int cost_of_changes(const struct rival *rival, unsigned size, unsigned ms);
/* ns per lock and unlock, or what else stands for it, without contention. */
int primitive_cost(const char *name, unsigned ms);
/* ns per increment of a thread's own counter, the counters `stride` bytes
 * apart. */
int counters_cost(unsigned stride, unsigned threads, unsigned ms);

#endif

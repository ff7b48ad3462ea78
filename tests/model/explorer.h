/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explorer.h - runs a few threads of real lock-free code in every order.
 *
 * The threads are coroutines on one real thread. Before each atomic operation
 * (explored.h puts a call there) the explorer decides who goes on; after a run
 * it goes back to the last decision that has another outcome, and runs again
 * from the beginning, until all are tried (depth-first, stateless). Switches
 * away from a thread that could have gone on are bounded (M. Musuvathi and
 * S. Qadeer, "Iterative context bounding", PLDI 2007): few are enough for
 * nearly every fault. A thread that only waits for another one is found too,
 * since nobody makes it give way. What is not seen are weak memory orders.
 *
 * Threads: one. Not reentrant. */
#ifndef ROTARY_MODEL_EXPLORER_H
#define ROTARY_MODEL_EXPLORER_H

#include <stdbool.h>
#include <stdint.h>

enum { EXPLORER_THREADS_MAX = 4 };

struct explorer_case {
	unsigned threads;
	unsigned preemptions; /* per run, at most */
	void *world;          /* handed to all below */
	void (*reset)(void *world);
	void (*main)(void *world, unsigned thread);
	void (*check)(void *world); /* when all threads have ended */
	/* An atomic operation is about to touch address. False: it concerns no
	 * other thread, nobody need be given a turn. */
	bool (*touch)(void *world, unsigned thread,
		      const volatile void *address);
};

/* Runs all orders, or until one has failed. Returns the number of runs; the
 * reason of the failure, or NULL, in *ret_failure. */
uint64_t explorer_run(const struct explorer_case *explored,
		      const char **ret_failure);

/* In a thread or hook: a decision among count outcomes that is explored too. */
unsigned explorer_choose(unsigned count);

/* In a thread or hook: this run has failed; it is the last one. */
void explorer_fail(const char *reason);

/* Before each atomic operation. */
void explorer_step(const volatile void *address);

#endif

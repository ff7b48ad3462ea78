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
 * since nobody makes it give way.
 *
 * Of weak memory orders, store buffers are seen: a store that is not seq_cst
 * may be delayed, and those behind it with it, in order, until a later seq_cst
 * store or read-modify-write of the same thread or until its end; its own loads
 * see it at once. (That is what x86 does. Loads do not overtake each other.)
 *
 * A thread may sleep until another wakes it. When all that have not ended
 * sleep, the run is over.
 *
 * Threads: one. Not reentrant. */
#ifndef ROTARY_MODEL_EXPLORER_H
#define ROTARY_MODEL_EXPLORER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPLORER_THREADS_MAX = 4 };

struct explorer_case {
	unsigned threads;
	unsigned preemptions; /* per run, at most */
	unsigned delays;      /* of stores, per run, at most */
	void *world;          /* handed to all below */
	void (*reset)(void *world);
	void (*main)(void *world, unsigned thread);
	void (*check)(void *world); /* when all threads have ended */
	/* An atomic operation is about to touch address. False: it concerns no
	 * other thread, nobody need be given a turn. */
	bool (*touch)(void *world, unsigned thread,
		      const volatile void *address);
	/* May be NULL. True: a store to address is a release, whatever the code
	 * says: a seeded fault. */
	bool (*weakens)(void *world, const volatile void *address);
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

/* What the operations do, at most 8 bytes wide: the value that the thread sees
 * may still be in its buffer; a store may go there; all of it goes to memory.
 */
void explorer_forward(const volatile void *address, void *value, size_t size);
void explorer_store(volatile void *address, const void *value, size_t size,
		    memory_order order);
void explorer_drain(void);

/* In a thread: sleeps until another one wakes it. */
void explorer_sleep(void);
bool explorer_sleeps(unsigned thread);
void explorer_wake(unsigned thread);
unsigned explorer_current(void);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* takeback.h - giving up a thread that may never come back from a call, and
 * with it only that thread: what it shares with others is taken back from it.
 *
 *   RUNNING <-> ASLEEP, IN_CALL        by the thread itself
 *               ASLEEP, IN_CALL -> TAKEN  by the watcher, for ever
 *
 * The thread, its owner, says so before each call that it may be lost in, and
 * asks after it whether it still is one of ours. While it runs nobody can take
 * anything from it, however long it has had no CPU. A watcher that took it may
 * use at once whatever the thread was the one to use.
 *
 *           | enter/sleep/leave | look | take
 *  e/s/l    |        A          |  -   |  -      A: one thread, the owner
 *  look     |        -          |  -   |  B      B: one thread, the watcher
 *  take     |        -          |  B   |  B      -: no outside order needed
 *
 * Orders: what the owner did before it entered is seen by who took it; after a
 * leave that returned false it must touch nothing that is shared.
 * Progress: wait-free. Cost: enter and sleep a store, leave and take a
 * compare-exchange, look a load.
 * Source: ours. Proof: tests/model/model_takeback.c.
 * RT: all are RT_SAFE. */
#ifndef ROTARY_SYNC_TAKEBACK_H
#define ROTARY_SYNC_TAKEBACK_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum takeback_state {
	TAKEBACK_RUNNING,
	TAKEBACK_ASLEEP,  /* in a call that may last, and ends by itself */
	TAKEBACK_IN_CALL, /* in one that should be short */
	TAKEBACK_TAKEN,
};

/* Zeroed it is RUNNING. */
struct takeback {
	ATOMIC(uint32_t) word;
};

/* Owner. RUNNING -> IN_CALL or ASLEEP. */
RT_SAFE void takeback_enter(struct takeback *takeback);
RT_SAFE void takeback_sleep(struct takeback *takeback);
/* Owner. Back to RUNNING; false: it was taken. Harmless when it runs. */
NODISCARD RT_SAFE bool takeback_leave(struct takeback *takeback);

/* What the thread does. The word is another one with each call (it comes again
 * after 2^30 of them, which costs only the watcher some patience). */
RT_SAFE uint32_t takeback_look(const struct takeback *takeback);
RT_SAFE enum takeback_state takeback_state_of(uint32_t word);
/* Watcher. True: the thread was still in the very call in which it was seen,
 * and is taken. False: it runs, or has moved. */
NODISCARD RT_SAFE bool takeback_take(struct takeback *takeback, uint32_t seen);

#endif

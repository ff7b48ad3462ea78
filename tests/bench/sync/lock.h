/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lock.h - the locks that the rotary set is compared with.
 *
 * A real-time thread that spins for a lock of a preempted thread on the same
 * CPU would spin for ever, so lock_take() of the two spinlocks gives up after
 * LOCK_PATIENCE_NS and returns false. */
#ifndef ROTARY_BENCH_LOCK_H
#define ROTARY_BENCH_LOCK_H

#include "lib/base/attr.h"
#include "lib/base/clock.h"

#include <pthread.h>
#include <stdbool.h>

#define LOCK_PATIENCE_NS (100 * NS_PER_MS)

enum lock_kind { LOCK_MUTEX, LOCK_PI, LOCK_SPIN, LOCK_BACKOFF };

struct lock {
	ALIGNED(2 * CACHE_LINE) enum lock_kind kind;
	pthread_mutex_t mutex;
	ALIGNED(2 * CACHE_LINE) ATOMIC(uint32_t) taken;
};

void lock_init(struct lock *lock, enum lock_kind kind);
void lock_finish(struct lock *lock);
bool lock_take(struct lock *lock);
void lock_give(struct lock *lock);

#endif

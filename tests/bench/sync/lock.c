/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/sync/lock.h"

enum { SPINS_A_LOOK = 256, BACKOFF_MOST = 1024 };

static void
relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

void
lock_init(struct lock *lock, enum lock_kind kind)
{
	pthread_mutexattr_t attributes;

	lock->kind = kind;
	atomic_init(&lock->taken, 0);
	pthread_mutexattr_init(&attributes);
	if (kind == LOCK_PI)
		pthread_mutexattr_setprotocol(&attributes,
					      PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&lock->mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

void
lock_finish(struct lock *lock)
{
	pthread_mutex_destroy(&lock->mutex);
}

static bool
try_spin(struct lock *lock)
{
	return atomic_load_explicit(&lock->taken, memory_order_relaxed) == 0 &&
	       atomic_exchange_explicit(&lock->taken, 1,
					memory_order_acquire) == 0;
}

/* Looks at the lock after each pause: always 1 instruction, or twice as many
 * each time. */
static bool
spin(struct lock *lock, bool backs_off)
{
	const int64_t end_ns = clock_now_ns() + LOCK_PATIENCE_NS;
	unsigned pauses = 1, spins = 0, i;

	while (!try_spin(lock)) {
		for (i = 0; i < pauses; i++)
			relax();
		if (backs_off && pauses < BACKOFF_MOST)
			pauses *= 2;
		spins += pauses;
		if (spins < SPINS_A_LOOK)
			continue;
		spins = 0;
		if (clock_now_ns() > end_ns)
			return false;
	}
	return true;
}

bool
lock_take(struct lock *lock)
{
	if (lock->kind == LOCK_MUTEX || lock->kind == LOCK_PI)
		return pthread_mutex_lock(&lock->mutex) == 0;
	if (atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire) ==
	    0)
		return true;
	return spin(lock, lock->kind == LOCK_BACKOFF);
}

void
lock_give(struct lock *lock)
{
	if (lock->kind == LOCK_MUTEX || lock->kind == LOCK_PI)
		pthread_mutex_unlock(&lock->mutex);
	else
		atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

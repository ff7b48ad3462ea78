/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wake.c - a count that says "something has happened", and the number of those
 * who sleep on it.
 *
 * A sleeper: read the count, look for work, raise `sleepers`, let the kernel
 * compare the count once more and sleep. Who makes work: raise the count, then
 * look at `sleepers`. All four are seq_cst (the kernel's compare is behind a
 * full barrier of its own), so either the poster sees the sleeper and wakes it,
 * or the sleeper sees the count moved and does not sleep.
 *
 * The deadline is absolute, so that a signal handler in between does not
 * lengthen the sleep. */
#include "lib/sync/wake.h"

#include "lib/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(ATOMIC(uint32_t)) == sizeof(uint32_t),
	       "a futex is a plain 32-bit word");
_Static_assert(offsetof(struct wake, count) % CACHE_LINE == 0 &&
		       offsetof(struct wake, sleepers) % CACHE_LINE == 0,
	       "count and sleepers on lines of their own");

void
wake_init(struct wake *wake)
{
	atomic_init(&wake->count, 0);
	atomic_init(&wake->sleepers, 0);
}

RT_SAFE uint32_t
wake_prepare(struct wake *wake)
{
	return atomic_load_explicit(&wake->count, memory_order_seq_cst);
}

static RT_DEVICE bool
has_moved(struct wake *wake, uint32_t seen)
{
	return atomic_load_explicit(&wake->count, memory_order_seq_cst) != seen;
}

/* Sleeps while the count is seen, until deadline (NULL: for ever). False on
 * time-out, true for any other reason. */
static RT_DEVICE bool
sleep_once(struct wake *wake, uint32_t seen, const struct timespec *deadline)
{
	return syscall(SYS_futex, &wake->count,
		       FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen, deadline,
		       NULL, FUTEX_BITSET_MATCH_ANY) == 0 ||
	       errno != ETIMEDOUT;
}

RT_DEVICE bool
wake_wait(struct wake *wake, uint32_t seen, int64_t timeout_ns)
{
	struct timespec deadline = {0};
	bool in_time = true;
	bool moved = false;

	if (has_moved(wake, seen))
		return true;
	if (timeout_ns >= 0) {
		int64_t end_ns = 0;

		if (__builtin_add_overflow(clock_now_ns(), timeout_ns, &end_ns))
			end_ns = INT64_MAX;
		deadline.tv_sec = end_ns / NS_PER_S;
		deadline.tv_nsec = end_ns % NS_PER_S;
	}
	atomic_fetch_add_explicit(&wake->sleepers, 1, memory_order_seq_cst);
	while (!(moved = has_moved(wake, seen)) && in_time)
		in_time = sleep_once(wake, seen,
				     timeout_ns < 0 ? NULL : &deadline);
	atomic_fetch_sub_explicit(&wake->sleepers, 1, memory_order_relaxed);
	return moved;
}

static RT_DEVICE void
post(struct wake *wake, int sleepers)
{
	atomic_fetch_add_explicit(&wake->count, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&wake->sleepers, memory_order_seq_cst) != 0)
		syscall(SYS_futex, &wake->count,
			FUTEX_WAKE | FUTEX_PRIVATE_FLAG, sleepers, NULL, NULL,
			0);
}

RT_DEVICE void
wake_post(struct wake *wake)
{
	post(wake, 1);
}

RT_DEVICE void
wake_post_all(struct wake *wake)
{
	post(wake, INT_MAX);
}

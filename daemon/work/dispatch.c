/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dispatch.c - the clock of the pool: who is stuck, who is given up, and when
 * to look again. Control calls it; it never waits.
 *
 * A queued job gives up give_up_ns after there was a reason to: its domain
 * stalled, the job before it in its order is stuck, or every worker there may
 * be is. A job that only waits for its turn never gives up. */
#include "daemon/work/pool.h"

#include <unistd.h>

static void
check_slot(const struct work_limits *limits, struct slot *slot, int64_t now_ns)
{
	const int64_t age_ns = now_ns - slot->since_ns;

	if (slot->job == NULL)
		return;
	if (!slot->stuck && age_ns >= limits->stall_ns) {
		slot->stuck = true;
		slot->stuck_ns = slot->since_ns + limits->stall_ns;
		slot->domain_stalled = slot->domain != 0;
	}
	if (slot->domain != 0 && !slot->abandoned && !slot->orphaning &&
	    age_ns >= limits->give_up_ns)
		pool_abandon(slot);
}

static void
check_starved(struct work *work, int64_t now_ns)
{
	struct pool_counts counts;

	pool_count(work, &counts);
	if (counts.active > 0) {
		work->starved = false;
	} else if (!work->starved) {
		work->starved = true;
		work->starved_ns = now_ns;
	}
}

static const struct slot *
find_holder(const struct work *work, uint64_t order)
{
	int i = 0;

	for (i = 0; i < WORK_THREADS_MAX; i++)
		if (work->slots[i].job != NULL && work->slots[i].order == order)
			return &work->slots[i];
	return NULL;
}

/* When a queued job gives up, as far as is known now. */
static int64_t
expiry_ns(const struct work *work, const struct work_job *job)
{
	int64_t since_ns = INT64_MAX;
	const struct slot *holder = NULL;

	if (job->state == JOB_HELD) {
		holder = find_holder(work, job->order);
		if (holder != NULL && holder->stuck && holder->domain != 0)
			since_ns = holder->stuck_ns;
	} else if (!pool_stalled(work, job->domain, &since_ns) &&
		   work->starved) {
		since_ns = work->starved_ns;
	}
	if (since_ns == INT64_MAX)
		return INT64_MAX;
	if (since_ns < job->since_ns)
		since_ns = job->since_ns;
	return since_ns + work->limits.give_up_ns;
}

static void
expire(struct work *work, struct list *jobs, int64_t now_ns)
{
	struct list *i = NULL, *after = NULL;

	list_for_each_safe (i, after, jobs) {
		struct work_job *job = list_entry(i, struct work_job, link);

		if (expiry_ns(work, job) <= now_ns)
			pool_end_queued(work, job, JOB_EXPIRED);
	}
}

void
work_dispatch(struct work *work)
{
	uint64_t count = 0;
	ssize_t got = 0;
	int64_t now_ns = 0;
	int i = 0;

	got = read(work->event_fd, &count, sizeof(count));
	(void)got;
	pthread_mutex_lock(&work->lock);
	now_ns = pool_now(work);
	for (i = 0; i < WORK_THREADS_MAX; i++)
		check_slot(&work->limits, &work->slots[i], now_ns);
	pool_grow(work);
	check_starved(work, now_ns);
	expire(work, &work->held, now_ns);
	expire(work, &work->ready, now_ns);
	pool_wake(work);
	pthread_mutex_unlock(&work->lock);
	pool_deliver(work);
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
slot_deadline(const struct work_limits *limits, const struct slot *slot)
{
	if (slot->job == NULL)
		return INT64_MAX;
	if (!slot->stuck)
		return slot->since_ns + limits->stall_ns;
	if (slot->domain == 0 || slot->abandoned || slot->orphaning)
		return INT64_MAX;
	return slot->since_ns + limits->give_up_ns;
}

static int64_t
earliest_expiry(const struct work *work, const struct list *jobs)
{
	int64_t deadline = INT64_MAX;
	struct list *i = NULL;

	list_for_each (i, jobs) {
		deadline = earlier(
			deadline,
			expiry_ns(work, list_entry(i, struct work_job, link)));
	}
	return deadline;
}

int64_t
work_next_deadline(const struct work *work)
{
	int64_t deadline = 0;
	int i = 0;

	pthread_mutex_lock(work->mutex);
	deadline = earlier(earliest_expiry(work, &work->held),
			   earliest_expiry(work, &work->ready));
	for (i = 0; i < WORK_THREADS_MAX; i++)
		deadline = earlier(deadline, slot_deadline(&work->limits,
							   &work->slots[i]));
	pthread_mutex_unlock(work->mutex);
	return deadline;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.c - the steps that a job takes between the lists, and what is counted
 * over the slots. See pool.h for the states. */
#include "daemon/work/pool.h"

#include <errno.h>
#include <unistd.h>

int64_t
pool_now(const struct work *work)
{
	return work->limits.now();
}

static void
count_slot(const struct slot *slot, struct pool_counts *counts)
{
	counts->threads++;
	if (slot->job != NULL && slot->stuck)
		counts->stuck++;
	else if (slot->job != NULL)
		counts->running++;
	counts->active = counts->threads - counts->stuck;
}

void
pool_count(const struct work *work, struct pool_counts *ret_counts)
{
	int i = 0;

	*ret_counts = (struct pool_counts){0};
	for (i = 0; i < WORK_THREADS_MAX; i++)
		if (work->slots[i].used && !work->slots[i].exited)
			count_slot(&work->slots[i], ret_counts);
}

void
pool_count_domain(const struct work *work, uint64_t domain,
		  struct pool_counts *ret_counts)
{
	int i = 0;

	*ret_counts = (struct pool_counts){0};
	for (i = 0; i < WORK_THREADS_MAX; i++)
		if (work->slots[i].job != NULL &&
		    work->slots[i].domain == domain)
			count_slot(&work->slots[i], ret_counts);
}

/* Also when so many threads are stuck in it that no more may go there, though
 * something came back from it since. */
bool
pool_stalled(const struct work *work, uint64_t domain, int64_t *ret_since_ns)
{
	struct pool_counts counts;
	bool stalled = false;
	int64_t since_ns = INT64_MAX;
	int i = 0;

	if (domain == 0)
		return false;
	pool_count_domain(work, domain, &counts);
	for (i = 0; i < WORK_THREADS_MAX; i++) {
		const struct slot *slot = &work->slots[i];

		if (slot->job == NULL || slot->domain != domain || !slot->stuck)
			continue;
		if (!slot->domain_stalled &&
		    counts.stuck < POOL_DOMAIN_STUCK_MAX)
			continue;
		stalled = true;
		if (slot->stuck_ns < since_ns)
			since_ns = slot->stuck_ns;
	}
	if (stalled)
		*ret_since_ns = since_ns;
	return stalled;
}

void
pool_signal(struct work *work)
{
	const uint64_t one = 1;
	ssize_t written = 0;

	/* Fails only when it is readable already. */
	written = write(work->event_fd, &one, sizeof(one));
	(void)written;
}

void
pool_make_ready(struct work *work, struct work_job *job)
{
	job->state = JOB_READY;
	work->ready_count++;
	list_append(&work->ready, &job->link);
	pool_wake(work);
}

void
pool_next_in_order(struct work *work, uint64_t order)
{
	struct list *i = NULL;

	list_for_each (i, &work->held) {
		struct work_job *job = list_entry(i, struct work_job, link);

		if (job->order != order)
			continue;
		list_remove(&job->link);
		work->held_count--;
		pool_make_ready(work, job);
		return;
	}
}

void
pool_end_queued(struct work *work, struct work_job *job, enum job_state state)
{
	const bool was_ready = job->state == JOB_READY;

	list_remove(&job->link);
	if (was_ready)
		work->ready_count--;
	else
		work->held_count--;
	job->state = state;
	job->result = -ECANCELED;
	list_append(&work->finished, &job->link);
	pool_signal(work);
	if (was_ready && job->order != 0)
		pool_next_in_order(work, job->order);
}

void
pool_abandon(struct slot *slot)
{
	slot->abandoned = true;
	slot->job->state = JOB_ABANDONED;
	list_append(&slot->work->finished, &slot->job->link);
	pool_signal(slot->work);
}

/* done(-ETIMEDOUT), with the lock held before and after; then orphan() is for
 * the worker that runs the job, or for any when none did. */
static void
deliver_given_up(struct work *work, struct work_job *job)
{
	const bool never_ran = job->state == JOB_EXPIRED;

	pthread_mutex_unlock(&work->lock);
	job->ops->done(job, -ETIMEDOUT);
	pthread_mutex_lock(&work->lock);
	job->state = JOB_ORPHANED;
	if (never_ran) {
		list_append(&work->orphans, &job->link);
		pool_wake(work);
	} else {
		pthread_cond_broadcast(&work->ended);
	}
}

static void
deliver(struct work *work, struct work_job *job)
{
	const int result = job->result;

	job->state = JOB_IDLE;
	pthread_mutex_unlock(&work->lock);
	job->ops->done(job, result);
	pthread_mutex_lock(&work->lock);
}

/* What done() adds waits for the next time, so that this ends. */
void
pool_deliver(struct work *work)
{
	struct list jobs;

	pthread_mutex_lock(&work->lock);
	list_init(&jobs);
	if (!list_empty(&work->finished)) {
		list_insert(work->finished.prev, &jobs);
		list_remove(&work->finished);
	}
	while (!list_empty(&jobs)) {
		struct work_job *job =
			list_entry(jobs.next, struct work_job, link);

		list_remove(&job->link);
		work->jobs_done++;
		if (job->state == JOB_FINISHED)
			deliver(work, job);
		else
			deliver_given_up(work, job);
	}
	pthread_mutex_unlock(&work->lock);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.c - what a worker thread does: take a job, run it, hand it back.
 *
 * Which job: the oldest ready one whose domain has room, else an orphan. A
 * healthy domain may have POOL_DOMAIN_ACTIVE_MAX workers at once; a stalled one
 * a single probe, and none when it keeps too many threads already. A worker
 * that takes a job while others wait wakes the next, so that one wake-up per
 * event is enough. A worker that was stuck and finds enough others ends. */
#include "daemon/work/pool.h"

#include <errno.h>

static bool
may_run(const struct work *work, const struct work_job *job)
{
	struct pool_counts domain, all;
	int64_t since_ns = 0;

	if (job->domain == 0 || work->closing)
		return true;
	pool_count_domain(work, job->domain, &domain);
	if (!pool_stalled(work, job->domain, &since_ns))
		return domain.running < POOL_DOMAIN_ACTIVE_MAX;
	pool_count(work, &all);
	return domain.running == 0 && domain.stuck < POOL_DOMAIN_STUCK_MAX &&
	       all.stuck < POOL_PROBE_STUCK_MAX;
}

static struct work_job *
find_in(const struct work *work, const struct list *jobs)
{
	struct list *i = NULL;

	list_for_each (i, jobs) {
		struct work_job *job = list_entry(i, struct work_job, link);

		if (may_run(work, job))
			return job;
	}
	return NULL;
}

struct work_job *
pool_find_job(const struct work *work)
{
	struct work_job *job = find_in(work, &work->ready);

	return job != NULL ? job : find_in(work, &work->orphans);
}

void
pool_wake(struct work *work)
{
	if (pool_find_job(work) != NULL)
		pthread_cond_signal(&work->wake);
}

static void
begin_job(struct slot *slot, struct work_job *job)
{
	struct work *work = slot->work;

	list_remove(&job->link);
	slot->orphaning = job->state == JOB_ORPHANED;
	if (!slot->orphaning) {
		work->ready_count--;
		job->state = JOB_RUNNING;
	}
	job->since_ns = pool_now(work);
	slot->job = job;
	slot->order = slot->orphaning ? 0 : job->order;
	slot->domain = job->domain;
	slot->since_ns = job->since_ns;
	slot->stuck = false;
	slot->domain_stalled = false;
	slot->abandoned = false;
	pool_wake(work);
	if (work->leaving)
		pthread_cond_broadcast(&work->ended);
}

/* The domain of this slot's job answers: it is not stalled, whoever else is
 * still stuck in it. */
static void
clear_stall(const struct slot *slot)
{
	struct work *work = slot->work;
	int i = 0;

	for (i = 0; i < WORK_THREADS_MAX; i++)
		if (work->slots[i].job != NULL &&
		    work->slots[i].domain == slot->domain)
			work->slots[i].domain_stalled = false;
}

/* Takes what has returned off its slot. */
static void
end_job(struct slot *slot)
{
	struct work *work = slot->work;

	if (slot->domain != 0)
		clear_stall(slot);
	slot->job = NULL;
	slot->stuck = false;
	work->starved = false;
	if (slot->order != 0)
		pool_next_in_order(work, slot->order);
	pool_wake(work);
	pthread_cond_broadcast(&work->ended);
}

/* Calls orphan(), after which the job is no more. */
static void
run_orphan(struct slot *slot, struct work_job *job)
{
	pthread_mutex_unlock(&slot->work->lock);
	if (job->ops->orphan != NULL)
		job->ops->orphan(job);
	pthread_mutex_lock(&slot->work->lock);
}

/* Of an abandoned job, control may be in done() still; orphan() waits for
 * that. */
static void
finish_run(struct slot *slot, struct work_job *job, int result)
{
	struct work *work = slot->work;

	if (slot->abandoned) {
		while (job->state == JOB_ABANDONED)
			pthread_cond_wait(&work->ended, &work->lock);
		slot->orphaning = true;
		run_orphan(slot, job);
		return;
	}
	job->state = JOB_FINISHED;
	job->result = result == -ETIMEDOUT ? -EIO : result;
	list_append(&work->finished, &job->link);
	pool_signal(work);
}

static void
work_on(struct slot *slot, struct work_job *job)
{
	struct work *work = slot->work;
	int result = 0;

	begin_job(slot, job);
	if (slot->orphaning) {
		run_orphan(slot, job);
	} else {
		pthread_mutex_unlock(&work->lock);
		result = job->ops->run(job);
		pthread_mutex_lock(&work->lock);
		finish_run(slot, job, result);
	}
	end_job(slot);
}

static bool
is_surplus(const struct work *work)
{
	struct pool_counts counts;

	pool_count(work, &counts);
	return counts.active > POOL_ACTIVE_MAX;
}

void *
pool_worker_main(void *argument)
{
	struct slot *slot = argument;
	struct work *work = slot->work;
	struct work_job *job = NULL;
	bool last = 0;

	pthread_mutex_lock(&work->lock);
	while (!is_surplus(work)) {
		job = pool_find_job(work);
		if (job != NULL)
			work_on(slot, job);
		else if (work->leaving)
			break;
		else
			pthread_cond_wait(&work->wake, &work->lock);
	}
	slot->exited = true;
	last = --work->references == 0;
	pthread_cond_broadcast(&work->ended);
	pthread_mutex_unlock(&work->lock);
	if (last)
		pool_free(work);
	return NULL;
}

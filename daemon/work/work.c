/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.c - the worker pool: its life, and what control asks of it.
 *
 * A job stands in one of four lists (held behind another one of its order key,
 * ready, finished, orphans) or on a worker's slot. With the lock free:
 *   of each order key at most one job is ready or on a slot, and one is when
 *   any job of that key is held;
 *   references = workers + 1, until the owner has gone;
 *   an abandoned job is touched only by its worker, and by control in done().
 * The pool begins with WORK_THREADS_MIN workers and grows to POOL_ACTIVE_MAX
 * when jobs wait for them, beyond that only to replace stuck ones. dispatch.c
 * watches the time, worker.c is the worker. */
#include "daemon/work/pool.h"

#include "lib/base/clock.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A worker that has exited, which takes no longer than its last few
 * instructions. */
static void
join_if_exited(struct slot *slot)
{
	if (!slot->used || !slot->exited)
		return;
	thread_join(&slot->thread);
	slot->used = false;
}

/* A slot for a new worker. */
static struct slot *
find_slot(struct work *work)
{
	int i = 0;

	for (i = 0; i < WORK_THREADS_MAX; i++) {
		struct slot *slot = &work->slots[i];

		join_if_exited(slot);
		if (!slot->used)
			return slot;
	}
	return NULL;
}

static int
start_worker(struct work *work)
{
	struct slot *slot = find_slot(work);
	const struct thread_spec spec = {
		.role = THREAD_ROLE_WORKER,
		.name = "worker",
		.stack_bytes = THREAD_STACK_WORKER,
		.main = pool_worker_main,
		.argument = slot,
	};
	int result = 0;

	if (slot == NULL)
		return -EAGAIN;
	*slot = (struct slot){.work = work};
	result = thread_start(&slot->thread, &spec);
	if (result < 0)
		return result;
	slot->used = true;
	work->references++;
	return 0;
}

void
pool_grow(struct work *work)
{
	struct pool_counts counts;

	for (;;) {
		pool_count(work, &counts);
		if (counts.active >= POOL_ACTIVE_MAX)
			return;
		if (counts.active >= WORK_THREADS_MIN &&
		    work->ready_count <= counts.active - counts.running)
			return;
		if (start_worker(work) < 0)
			return;
	}
}

static int
init_conditions(struct work *work)
{
	pthread_condattr_t attributes;
	int result = 0;

	if (pthread_condattr_init(&attributes) != 0)
		return -ENOMEM;
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	result = pthread_cond_init(&work->wake, &attributes);
	if (result == 0)
		result = pthread_cond_init(&work->ended, &attributes);
	pthread_condattr_destroy(&attributes);
	return -result;
}

static void
set_limits(struct work *work, const struct work_limits *limits)
{
	const struct work_limits presets = {
		.stall_ns = 2 * NS_PER_S,
		.give_up_ns = 20 * NS_PER_S,
	};

	work->limits = limits != NULL ? *limits : presets;
	if (work->limits.now == NULL)
		work->limits.now = clock_now_ns;
}

int
work_create(const struct work_limits *limits, struct work **ret_work)
{
	struct work *work = calloc(1, sizeof(*work));
	struct pool_counts counts;
	int result = 0;

	if (work == NULL)
		return -ENOMEM;
	set_limits(work, limits);
	list_init(&work->held);
	list_init(&work->ready);
	list_init(&work->finished);
	list_init(&work->orphans);
	work->references = 1;
	work->mutex = &work->lock;
	pthread_mutex_init(&work->lock, NULL);
	work->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	result = work->event_fd < 0 ? -errno : init_conditions(work);
	if (result < 0) {
		if (work->event_fd >= 0)
			close(work->event_fd);
		free(work);
		return result;
	}
	pthread_mutex_lock(&work->lock);
	pool_grow(work);
	pool_count(work, &counts);
	pthread_mutex_unlock(&work->lock);
	if (counts.threads < WORK_THREADS_MIN) {
		work_destroy(work, 0);
		return -EAGAIN;
	}
	*ret_work = work;
	return 0;
}

void
pool_free(struct work *work)
{
	pthread_cond_destroy(&work->wake);
	pthread_cond_destroy(&work->ended);
	pthread_mutex_destroy(&work->lock);
	close(work->event_fd);
	free(work);
}

static void
cancel_queued(struct work *work, struct list *jobs)
{
	struct list *i = NULL, *after = NULL;

	list_for_each_safe (i, after, jobs)
		pool_end_queued(work, list_entry(i, struct work_job, link),
				JOB_FINISHED);
}

/* Held ones first, or they would become ready one by one. */
static void
cancel_all(struct work *work)
{
	int i = 0;

	cancel_queued(work, &work->held);
	cancel_queued(work, &work->ready);
	for (i = 0; i < WORK_THREADS_MAX; i++) {
		struct slot *slot = &work->slots[i];

		if (slot->job != NULL && !slot->abandoned && !slot->orphaning)
			atomic_store(&slot->job->cancelled, 1);
	}
}

/* True while a worker is on its way out, or busy and worth waiting for. */
static bool
some_remain(const struct work *work, bool busy_ones)
{
	int i = 0;

	for (i = 0; i < WORK_THREADS_MAX; i++) {
		const struct slot *slot = &work->slots[i];

		if (slot->used && !slot->exited &&
		    (slot->job == NULL || (busy_ones && !slot->stuck)))
			return true;
	}
	return false;
}

static void
wait_for_workers(struct work *work, int64_t wait_ns)
{
	const int64_t end_ns = clock_now_ns() + wait_ns;
	const struct timespec end = {.tv_sec = end_ns / NS_PER_S,
				     .tv_nsec = end_ns % NS_PER_S};

	while (clock_now_ns() < end_ns && some_remain(work, true))
		pthread_cond_timedwait(&work->ended, &work->lock, &end);
	while (some_remain(work, false))
		pthread_cond_wait(&work->ended, &work->lock);
}

/* Joins who has ended; who is stuck goes on without us. */
static void
part_from_workers(struct work *work)
{
	int i = 0;

	for (i = 0; i < WORK_THREADS_MAX; i++) {
		struct slot *slot = &work->slots[i];

		join_if_exited(slot);
		if (!slot->used)
			continue;
		pthread_detach(slot->thread.handle);
		if (!slot->abandoned && !slot->orphaning)
			pool_abandon(slot);
	}
}

/* Takes the lock away and back. */
static void
deliver_all(struct work *work)
{
	while (!list_empty(&work->finished)) {
		pthread_mutex_unlock(&work->lock);
		pool_deliver(work);
		pthread_mutex_lock(&work->lock);
	}
}

/* What is queued is delivered before the workers leave, since some of it may
 * be theirs to free. */
void
work_destroy(struct work *work, int64_t wait_ns)
{
	bool last = 0;

	if (work == NULL)
		return;
	pthread_mutex_lock(&work->lock);
	work->closing = true;
	cancel_all(work);
	deliver_all(work);
	work->leaving = true;
	pthread_cond_broadcast(&work->wake);
	wait_for_workers(work, wait_ns);
	part_from_workers(work);
	deliver_all(work);
	last = --work->references == 0;
	pthread_mutex_unlock(&work->lock);
	if (last)
		pool_free(work);
}

int
work_event_fd(const struct work *work)
{
	return work->event_fd;
}

/* True when a job with this key is ready or on a worker. */
static bool
order_taken(const struct work *work, uint64_t order)
{
	struct list *i = NULL;
	int slot = 0;

	for (slot = 0; slot < WORK_THREADS_MAX; slot++)
		if (work->slots[slot].job != NULL &&
		    work->slots[slot].order == order)
			return true;
	for (i = work->ready.next; i != &work->ready; i = i->next)
		if (list_entry(i, struct work_job, link)->order == order)
			return true;
	return false;
}

void
work_submit(struct work *work, struct work_job *job)
{
	pthread_mutex_lock(&work->lock);
	assert(job->state == JOB_IDLE);
	atomic_store(&job->cancelled, 0);
	job->since_ns = pool_now(work);
	if (work->closing) {
		job->state = JOB_FINISHED;
		job->result = -ECANCELED;
		list_append(&work->finished, &job->link);
	} else if (job->order != 0 && order_taken(work, job->order)) {
		job->state = JOB_HELD;
		work->held_count++;
		list_append(&work->held, &job->link);
	} else {
		pool_make_ready(work, job);
		pool_grow(work);
	}
	pthread_mutex_unlock(&work->lock);
}

void
work_cancel(struct work *work, struct work_job *job)
{
	pthread_mutex_lock(&work->lock);
	if (job->state == JOB_HELD || job->state == JOB_READY)
		pool_end_queued(work, job, JOB_FINISHED);
	else if (job->state == JOB_RUNNING)
		atomic_store(&job->cancelled, 1);
	pthread_mutex_unlock(&work->lock);
}

bool
work_order_idle(const struct work *work, uint64_t order)
{
	bool taken = 0;

	pthread_mutex_lock(work->mutex);
	taken = order_taken(work, order);
	pthread_mutex_unlock(work->mutex);
	return !taken;
}

bool
work_domain_stalled(const struct work *work, uint64_t domain)
{
	int64_t since_ns = 0;
	bool stalled = 0;

	pthread_mutex_lock(work->mutex);
	stalled = pool_stalled(work, domain, &since_ns);
	pthread_mutex_unlock(work->mutex);
	return stalled;
}

void
work_get_stats(const struct work *work, struct work_stats *ret_stats)
{
	struct pool_counts counts;

	pthread_mutex_lock(work->mutex);
	pool_count(work, &counts);
	*ret_stats = (struct work_stats){
		.threads = counts.threads,
		.busy = counts.running,
		.stuck = counts.stuck,
		.queued = (unsigned)(work->held_count + work->ready_count),
		.jobs_done = work->jobs_done,
	};
	pthread_mutex_unlock(work->mutex);
}

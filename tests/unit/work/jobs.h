/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.h - a pool with a clock of the test's, and jobs that stay in read(2) on
 * a pipe until they are released: as a dead file system would keep them, and
 * without any wait for time to pass. The test's thread is control. */
#ifndef ROTARY_WORK_JOBS_H
#define ROTARY_WORK_JOBS_H

#include "daemon/work/work.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { STALL_NS = 2000, GIVE_UP_NS = 20000, PATIENCE_MS = 30000 };
enum { JOBS_MAX = 64, LIVING = 7, DEAD = 9 };
enum { NOT_DONE = 1000 };

struct job {
	struct work_job work;
	int release[2]; /* run() waits for a byte; -1: it does not wait */
	int number;
	int returns;
	bool until_cancelled; /* run() goes on until it is told to end */
	bool slow_done;       /* run() returns while done() is running */
	ATOMIC(int) runs;
	ATOMIC(int) orphans;
	int result; /* what done() got */
};

static struct work *work;
static struct job jobs[JOBS_MAX];
static unsigned job_count;
static ATOMIC(int64_t) fake_ns;
static sem_t entered; /* posted by each run() */
static sem_t left;    /* posted when run() is about to return */
static sem_t orphaned;
static int order_seen[JOBS_MAX];
static ATOMIC(unsigned) order_count;

static inline int64_t
fake_now(void)
{
	return atomic_load(&fake_ns);
}

static inline void
release(const struct job *job)
{
	assert_int_equal(write(job->release[1], "x", 1), 1);
}

static inline void
wait_for(sem_t *what, int times)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_MS / 1000;
	for (; times > 0; times--)
		assert_int_equal(sem_timedwait(what, &end), 0);
}

static inline int
run(struct work_job *base)
{
	struct job *job = list_entry(base, struct job, work);
	char byte;

	order_seen[atomic_fetch_add(&order_count, 1)] = job->number;
	atomic_fetch_add(&job->runs, 1);
	sem_post(&entered);
	if (job->release[0] >= 0 && read(job->release[0], &byte, 1) != 1)
		return -EPIPE;
	while (job->until_cancelled && atomic_load(&base->cancelled) == 0)
		sched_yield();
	sem_post(&left);
	if (atomic_load(&base->cancelled) != 0)
		return -EINTR;
	return job->returns;
}

static inline void
done(struct work_job *base, int result)
{
	struct job *job = list_entry(base, struct job, work);
	int i;

	assert_int_equal(job->result, NOT_DONE);
	if (job->slow_done) {
		release(job);
		wait_for(&left, 1);
		/* Every chance for an orphan() that comes too early. */
		for (i = 0; i < 2000; i++)
			sched_yield();
	}
	job->result = result;
}

static inline void
orphan(struct work_job *base)
{
	struct job *job = list_entry(base, struct job, work);

	/* Only after done() has said so. */
	if (job->result == -ETIMEDOUT)
		atomic_fetch_add(&job->orphans, 1);
	sem_post(&orphaned);
}

static const struct work_job_ops OPS = {run, done, orphan};

static inline int
set_up(void **state)
{
	const struct work_limits limits = {STALL_NS, GIVE_UP_NS, fake_now};

	(void)state;
	atomic_store(&fake_ns, 0);
	atomic_store(&order_count, 0);
	job_count = 0;
	sem_init(&entered, 0, 0);
	sem_init(&left, 0, 0);
	sem_init(&orphaned, 0, 0);
	return work_create(&limits, &work);
}

static inline int
tear_down(void **state)
{
	unsigned i;

	(void)state;
	work_destroy(work, INT64_C(30000000000));
	work = NULL;
	for (i = 0; i < job_count; i++) {
		if (jobs[i].release[0] < 0)
			continue;
		close(jobs[i].release[0]);
		close(jobs[i].release[1]);
	}
	return 0;
}

static inline struct job *
make_job(uint64_t order, uint64_t domain, bool blocks)
{
	struct job *job = &jobs[job_count];

	assert_true(job_count < JOBS_MAX);
	memset((void *)job, 0, sizeof(*job));
	job->work.ops = &OPS;
	job->work.what = "test";
	job->work.order = order;
	job->work.domain = domain;
	job->release[0] = -1;
	job->release[1] = -1;
	job->number = (int)job_count;
	job->result = NOT_DONE;
	job_count++;
	if (blocks)
		assert_int_equal(pipe2(job->release, O_CLOEXEC), 0);
	return job;
}

static inline struct job *
submit(uint64_t order, uint64_t domain, bool blocks)
{
	struct job *job = make_job(order, domain, blocks);

	work_submit(work, &job->work);
	return job;
}

/* Serves the pool until done() of job was called. */
static inline void
serve_until_done(const struct job *job)
{
	struct pollfd ready = {.fd = work_event_fd(work), .events = POLLIN};

	while (job->result == NOT_DONE) {
		assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
		work_dispatch(work);
	}
}

/* Time goes on by ns; the pool looks at the clock. */
static inline void
pass(int64_t ns)
{
	atomic_fetch_add(&fake_ns, ns);
	work_dispatch(work);
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_work.c - the pool with a clock of ours and jobs that stay in read(2) on
 * a pipe until they are released: as a dead file system would keep them, and
 * without any wait for time to pass. */
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

static int64_t
fake_now(void)
{
	return atomic_load(&fake_ns);
}

static void
release(const struct job *job)
{
	assert_int_equal(write(job->release[1], "x", 1), 1);
}

static void
wait_for(sem_t *what, int times)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_MS / 1000;
	for (; times > 0; times--)
		assert_int_equal(sem_timedwait(what, &end), 0);
}

static int
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

static void
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

static void
orphan(struct work_job *base)
{
	struct job *job = list_entry(base, struct job, work);

	/* Only after done() has said so. */
	if (job->result == -ETIMEDOUT)
		atomic_fetch_add(&job->orphans, 1);
	sem_post(&orphaned);
}

static const struct work_job_ops OPS = {run, done, orphan};

static int
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

static int
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

static struct job *
make_job(uint64_t order, uint64_t domain, bool blocks)
{
	struct job *job = &jobs[job_count];

	assert_true(job_count < JOBS_MAX);
	*job = (struct job){
		.work = {.ops = &OPS,
			 .what = "test",
			 .order = order,
			 .domain = domain},
		.release = {-1, -1},
		.number = (int)job_count,
		.result = NOT_DONE,
	};
	job_count++;
	if (blocks)
		assert_int_equal(pipe2(job->release, O_CLOEXEC), 0);
	return job;
}

static struct job *
submit(uint64_t order, uint64_t domain, bool blocks)
{
	struct job *job = make_job(order, domain, blocks);

	work_submit(work, &job->work);
	return job;
}

/* Serves the pool until done() of job was called. */
static void
serve_until_done(const struct job *job)
{
	struct pollfd ready = {.fd = work_event_fd(work), .events = POLLIN};

	while (job->result == NOT_DONE) {
		assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
		work_dispatch(work);
	}
}

/* Time goes on by ns; the pool looks at the clock. */
static void
pass(int64_t ns)
{
	atomic_fetch_add(&fake_ns, ns);
	work_dispatch(work);
}

static void
test_runs_and_returns(void **state)
{
	struct job *job = submit(0, 0, false);
	struct work_stats stats;

	(void)state;
	serve_until_done(job);
	assert_int_equal(job->result, 0);
	assert_int_equal(atomic_load(&job->runs), 1);
	/* It is ours again. */
	job->result = NOT_DONE;
	job->returns = -ENOENT;
	work_submit(work, &job->work);
	serve_until_done(job);
	assert_int_equal(job->result, -ENOENT);
	/* -ETIMEDOUT is the pool's own word. */
	job->result = NOT_DONE;
	job->returns = -ETIMEDOUT;
	work_submit(work, &job->work);
	serve_until_done(job);
	assert_int_equal(job->result, -EIO);
	assert_int_equal(atomic_load(&job->orphans), 0);
	work_get_stats(work, &stats);
	assert_int_equal(stats.jobs_done, 3);
	assert_int_equal(stats.queued, 0);
	assert_int_equal(stats.stuck, 0);
	assert_true(work_next_deadline(work) == INT64_MAX);
}

static void
test_order(void **state)
{
	struct job *first = submit(5, LIVING, true);
	struct job *between, *last, *other;
	int i;

	(void)state;
	between = submit(5, LIVING, false);
	last = submit(5, DEAD, false);
	other = submit(6, LIVING, false);
	wait_for(&entered, 2); /* the first, and the other */
	serve_until_done(other);
	assert_int_equal(atomic_load(&between->runs), 0);
	assert_int_equal(atomic_load(&last->runs), 0);
	assert_false(work_order_idle(work, 5));
	release(first);
	serve_until_done(last);
	assert_true(work_order_idle(work, 5));
	assert_true(work_order_idle(work, 6));
	for (i = 0; order_seen[i] != between->number; i++)
		assert_true(i < 4);
	assert_int_equal(order_seen[i + 1], last->number);
	assert_int_equal(between->result, 0);
}

static void
test_cancel(void **state)
{
	struct job *first = submit(5, 0, true);
	struct job *second = submit(5, 0, false);
	struct job *third = submit(5, 0, false);

	(void)state;
	wait_for(&entered, 1);
	work_cancel(work, &second->work);
	assert_int_equal(second->result, NOT_DONE); /* not inside of it */
	serve_until_done(second);
	assert_int_equal(second->result, -ECANCELED);
	work_cancel(work, &first->work);
	release(first);
	serve_until_done(third);
	assert_int_equal(first->result, -EINTR); /* it saw the flag */
	assert_int_equal(third->result, 0);
	assert_int_equal(atomic_load(&second->runs), 0);
	/* Of a job that is over it is harmless; and it may run again. */
	work_cancel(work, &second->work);
	second->result = NOT_DONE;
	work_submit(work, &second->work);
	serve_until_done(second);
	assert_int_equal(second->result, 0);
}

/* One dead file system, with more jobs than the pool has workers. */
static void
test_stalled_domain(void **state)
{
	struct job *dead[8], *living, *late;
	unsigned i, ran = 0;

	(void)state;
	for (i = 0; i < 8; i++)
		dead[i] = submit(0, DEAD, true);
	/* It does not get all workers, not even for the first 2 s. */
	living = submit(0, LIVING, false);
	serve_until_done(living);
	wait_for(&entered, 4);
	assert_false(work_domain_stalled(work, DEAD));
	pass(STALL_NS);
	assert_true(work_domain_stalled(work, DEAD));
	assert_false(work_domain_stalled(work, LIVING));
	wait_for(&entered, 1); /* one probes */
	for (i = 0; i < 8; i++)
		ran += (unsigned)atomic_load(&dead[i]->runs);
	assert_int_equal(ran, 4);
	living = submit(0, LIVING, false);
	serve_until_done(living);
	late = submit(0, DEAD, true);
	/* 20 s later all fail, run or not. */
	pass(GIVE_UP_NS - 1);
	for (i = 4; i < 8; i++)
		assert_int_equal(dead[i]->result, NOT_DONE);
	pass(1);
	for (i = 0; i < 8; i++)
		assert_int_equal(dead[i]->result, -ETIMEDOUT);
	living = submit(0, LIVING, false);
	serve_until_done(living);
	/* The server is back: what is stuck returns, and is freed. */
	for (i = 0; i < 4; i++)
		release(dead[i]);
	wait_for(&orphaned, 9);
	for (i = 0; i < 8; i++)
		assert_int_equal(atomic_load(&dead[i]->orphans), 1);
	assert_false(work_domain_stalled(work, DEAD));
	assert_int_equal(late->result, -ETIMEDOUT);
}

/* The same, but the one that came late is within its own 20 s. */
static void
test_late_one_goes_on(void **state)
{
	struct job *dead = submit(0, DEAD, true), *probe, *late;

	(void)state;
	wait_for(&entered, 1);
	pass(STALL_NS);
	probe = submit(0, DEAD, true);
	late = submit(0, DEAD, false);
	wait_for(&entered, 1);
	assert_int_equal(atomic_load(&late->runs), 0);
	assert_int_equal(work_next_deadline(work), 2 * STALL_NS);
	pass(STALL_NS - 1);
	assert_int_equal(late->result, NOT_DONE);
	release(probe);
	serve_until_done(late);
	assert_int_equal(late->result, 0);
	assert_int_equal(probe->result, 0);
	assert_false(work_domain_stalled(work, DEAD));
	release(dead);
	serve_until_done(dead);
	assert_int_equal(dead->result, 0);
}

static void
test_abandoned_keeps_its_order(void **state)
{
	struct job *dead = submit(5, DEAD, true);
	struct job *behind = submit(5, LIVING, false), *later;

	(void)state;
	wait_for(&entered, 1);
	pass(STALL_NS);
	pass(GIVE_UP_NS - STALL_NS);
	assert_int_equal(dead->result, -ETIMEDOUT);
	assert_false(work_order_idle(work, 5));
	later = submit(5, LIVING, false);
	assert_int_equal(work_next_deadline(work), STALL_NS + GIVE_UP_NS);
	pass(STALL_NS - 1);
	assert_int_equal(behind->result, NOT_DONE);
	pass(1);
	/* Run by nobody: the stuck one might still have come after it. */
	assert_int_equal(behind->result, -ETIMEDOUT);
	assert_int_equal(atomic_load(&behind->runs), 0);
	assert_int_equal(later->result, NOT_DONE);
	release(dead);
	wait_for(&orphaned, 2);
	assert_int_equal(atomic_load(&dead->orphans), 1);
	assert_int_equal(atomic_load(&behind->orphans), 1);
	serve_until_done(later);
	assert_int_equal(later->result, 0);
}

/* orphan() never comes before done() has returned. */
static void
test_returns_during_done(void **state)
{
	struct job *dead = make_job(0, DEAD, true);

	(void)state;
	dead->slow_done = true;
	work_submit(work, &dead->work);
	wait_for(&entered, 1);
	pass(GIVE_UP_NS);
	assert_int_equal(dead->result, -ETIMEDOUT);
	wait_for(&orphaned, 1);
	assert_int_equal(atomic_load(&dead->orphans), 1);
}

static void
test_no_domain_takes_its_time(void **state)
{
	struct job *slow = submit(0, 0, true), *other;
	struct work_stats stats;

	(void)state;
	wait_for(&entered, 1);
	pass(GIVE_UP_NS * 3);
	work_get_stats(work, &stats);
	assert_int_equal(stats.stuck, 1);
	assert_int_equal(stats.threads, WORK_THREADS_MIN + 1);
	assert_int_equal(slow->result, NOT_DONE);
	other = submit(0, 0, false);
	serve_until_done(other);
	release(slow);
	serve_until_done(slow);
	assert_int_equal(slow->result, 0);
}

/* Sixteen dead file systems, or so many that no worker is left. */
static void
test_all_workers_stuck(void **state)
{
	struct job *stuck[WORK_THREADS_MAX], *waiting, *patient;
	struct work_stats stats;
	unsigned i;

	(void)state;
	for (i = 0; i < WORK_THREADS_MAX; i++) {
		stuck[i] = submit(0, 100 + i, true);
		wait_for(&entered, 1);
		pass(STALL_NS);
	}
	work_get_stats(work, &stats);
	assert_int_equal(stats.threads, WORK_THREADS_MAX);
	assert_int_equal(stats.busy, 0);
	assert_int_equal(stats.stuck, WORK_THREADS_MAX);
	waiting = submit(0, LIVING, false);
	patient = submit(0, 0, false);
	pass(GIVE_UP_NS - 1);
	assert_int_equal(waiting->result, NOT_DONE);
	assert_int_equal(patient->result, NOT_DONE);
	pass(1);
	assert_int_equal(waiting->result, -ETIMEDOUT);
	patient = submit(0, 0, false);
	/* One comes back, and takes what waits. */
	release(stuck[3]);
	serve_until_done(patient);
	assert_int_equal(patient->result, 0);
	for (i = 0; i < WORK_THREADS_MAX; i++)
		if (i != 3)
			release(stuck[i]);
	wait_for(&orphaned, WORK_THREADS_MAX + 2);
	for (i = 0; i < WORK_THREADS_MAX; i++)
		assert_int_equal(stuck[i]->result, -ETIMEDOUT);
	waiting = submit(0, LIVING, false);
	serve_until_done(waiting);
	/* Those too many leave, as soon as they come to it. */
	do {
		sched_yield();
		work_get_stats(work, &stats);
	} while (stats.threads > 4);
	assert_true(stats.threads >= WORK_THREADS_MIN);
}

static void
test_destroy(void **state)
{
	struct job *stuck = submit(5, DEAD, true);
	struct job *queued = submit(5, DEAD, false), *running;

	(void)state;
	wait_for(&entered, 1);
	pass(STALL_NS);
	running = make_job(0, 0, false);
	running->until_cancelled = true;
	work_submit(work, &running->work);
	wait_for(&entered, 1);
	work_destroy(work, INT64_C(30000000000));
	assert_int_equal(running->result, -EINTR);
	assert_int_equal(queued->result, -ECANCELED);
	assert_int_equal(stuck->result, -ETIMEDOUT);
	/* The pool is gone for us; the stuck one still ends well. */
	release(stuck);
	wait_for(&orphaned, 1);
	assert_int_equal(atomic_load(&stuck->orphans), 1);
	work = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_runs_and_returns, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cancel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stalled_domain, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_late_one_goes_on, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_abandoned_keeps_its_order,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_returns_during_done,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_domain_takes_its_time,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_all_workers_stuck, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_destroy, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

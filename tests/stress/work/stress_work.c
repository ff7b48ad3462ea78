/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stress_work.c - thousands of jobs with random orders, domains and cancels,
 * and a clock that jumps: every job ends exactly once, no two of one order run
 * at the same time or out of turn, and what is given up is freed. */
#include "daemon/work/work.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { JOBS = 20000, ORDERS = 5, DOMAINS = 4, IN_FLIGHT = 200 };
enum { STALL_NS = 2000, GIVE_UP_NS = 20000 };

struct job {
	struct work_job work;
	uint64_t turn; /* among the jobs of its order */
	uint32_t spins;
};

static struct work *work;
static ATOMIC(int64_t) fake_ns;
static ATOMIC(int) inside[ORDERS + 1];
static ATOMIC(uint64_t) last_turn[ORDERS + 1];
static ATOMIC(unsigned) faults;
static ATOMIC(unsigned) orphans;
static unsigned done_count, given_up, cancelled, in_flight;
static uint64_t turns[ORDERS + 1];
static uint32_t random_state = 7;

static uint32_t
random_below(uint32_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % limit;
}

static int64_t
fake_now(void)
{
	return atomic_load(&fake_ns);
}

static int
run(struct work_job *base)
{
	const struct job *job = list_entry(base, struct job, work);
	const uint64_t order = base->order;
	uint32_t i;

	if (order != 0 && atomic_fetch_add(&inside[order], 1) != 0)
		atomic_fetch_add(&faults, 1);
	if (order != 0 &&
	    atomic_exchange(&last_turn[order], job->turn) >= job->turn)
		atomic_fetch_add(&faults, 1);
	for (i = 0; i < job->spins && atomic_load(&base->cancelled) == 0; i++)
		sched_yield();
	if (order != 0)
		atomic_fetch_sub(&inside[order], 1);
	return 0;
}

static void
done(struct work_job *base, int result)
{
	done_count++;
	in_flight--;
	if (result == -ETIMEDOUT) {
		given_up++;
		return;
	}
	if (result == -ECANCELED)
		cancelled++;
	free(list_entry(base, struct job, work));
}

static void
orphan(struct work_job *base)
{
	atomic_fetch_add(&orphans, 1);
	free(list_entry(base, struct job, work));
}

static const struct work_job_ops OPS = {run, done, orphan};

static struct job *
submit_one(void)
{
	struct job *job = calloc(1, sizeof(*job));
	const uint64_t order = random_below(ORDERS * 2);

	assert_non_null(job);
	job->work.ops = &OPS;
	job->work.what = "stress";
	job->work.order = order <= ORDERS ? order : 0;
	job->work.domain = random_below(DOMAINS + 1);
	job->turn = ++turns[job->work.order];
	job->spins = random_below(50) == 0 ? 200 : random_below(4);
	in_flight++;
	work_submit(work, &job->work);
	return job;
}

static void
serve(int timeout_ms)
{
	struct pollfd ready = {.fd = work_event_fd(work), .events = POLLIN};

	poll(&ready, 1, timeout_ms);
	work_dispatch(work);
}

static void
test_everything_ends_once(void **state)
{
	const struct work_limits limits = {STALL_NS, GIVE_UP_NS, fake_now};
	unsigned i;

	(void)state;
	assert_int_equal(work_create(&limits, &work), 0);
	for (i = 0; i < JOBS; i++) {
		struct job *job = submit_one();

		/* Before any dispatch it cannot have been given back. */
		if (random_below(10) == 0)
			work_cancel(work, &job->work);
		if (random_below(200) == 0)
			atomic_fetch_add(&fake_ns, STALL_NS);
		if (random_below(1000) == 0)
			atomic_fetch_add(&fake_ns, GIVE_UP_NS);
		if (random_below(4) == 0)
			serve(0);
		while (in_flight >= IN_FLIGHT)
			serve(1000);
	}
	while (in_flight > 100)
		serve(1000);
	work_destroy(work, INT64_C(60000000000));
	assert_int_equal(done_count, JOBS);
	assert_int_equal(atomic_load(&faults), 0);
	assert_true(cancelled > 0);
	assert_true(given_up > 0);
	while (atomic_load(&orphans) < given_up)
		sched_yield();
	assert_int_equal(atomic_load(&orphans), given_up);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_ends_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

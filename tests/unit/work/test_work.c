/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_work.c - the pool where all is well: results, order, cancelling, end. */
#include "tests/unit/work/jobs.h"

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
		cmocka_unit_test_setup_teardown(test_no_domain_takes_its_time,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_destroy, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

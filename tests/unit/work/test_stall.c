/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_stall.c - the pool with dead file systems: what waits, what gives up,
 * who frees it, and that all others go on. */
#include "tests/unit/work/jobs.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stalled_domain, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_late_one_goes_on, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_abandoned_keeps_its_order,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_returns_during_done,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_all_workers_stuck, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread that spins past its budget is demoted where it stands, and promoted
 * again by another; sealed, because the handler must work inside the fence. Who
 * takes over is told before that, while it can still be. */
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "lib/rt/rt.h"
#include "tests/kit/child.h"
#include "tests/kit/machine.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/rt/as_child.h"

#define BUDGET_NS (3 * NS_PER_MS)
#define SPIN_LIMIT_NS (5 * NS_PER_S)

struct spinner {
	struct rt_figures figures;
	struct rt_budget budget;
	enum rt_rung rung;
	enum rt_fence fence;
	int sealed;
	bool short_overran;
	bool long_overran;
	bool next_overran;
	int handler_thread;
	int policy_in_handler;
	int policy_after;
	int nice_after;
	int policy_at_last;
	sem_t demoted;
	sem_t promoted;
};

static void
note_overrun(void *context)
{
	struct spinner *spinner = context;

	spinner->handler_thread = gettid();
	spinner->policy_in_handler = sched_getscheduler(0);
}

static void
spin_until_overrun(struct spinner *spinner)
{
	const int64_t end_ns = clock_thread_cpu_ns() + SPIN_LIMIT_NS;

	while (atomic_load(&spinner->budget.overrun) == 0 &&
	       clock_thread_cpu_ns() < end_ns)
		continue;
}

static void *
spin(void *argument)
{
	struct spinner *spinner = argument;
	struct rt_budget *budget = &spinner->budget;

	rt_figures_begin(&spinner->figures, "spinner");
	spinner->rung = rt_promote(&spinner->figures, 5);
	if (rt_budget_init(budget, &spinner->figures, BUDGET_NS, note_overrun,
			   spinner) != 0)
		return NULL;
	spinner->sealed = rt_seal(&spinner->figures, spinner->fence,
				  RT_PROFILE_DECODER, NULL);
	rt_budget_start(budget);
	spinner->short_overran = rt_budget_stop(budget);
	rt_budget_start(budget);
	spin_until_overrun(spinner);
	spinner->long_overran = rt_budget_stop(budget);
	spinner->policy_after = sched_getscheduler(0);
	spinner->nice_after = spinner->budget.demoted_policy == SCHED_OTHER
				      ? getpriority(PRIO_PROCESS, 0)
				      : 0;
	sem_post(&spinner->demoted);
	sem_wait(&spinner->promoted);
	spinner->policy_at_last = sched_getscheduler(0);
	rt_budget_start(budget);
	spinner->next_overran = rt_budget_stop(budget);
	rt_budget_finish(budget);
	rt_budget_finish(budget);
	return NULL;
}

/* 0: everything as it should be; else which of it was not. */
static int
run_spinner(struct spinner *spinner, int demoted_policy)
{
	const int own_policy = sched_getscheduler(0);
	struct rt_promotion promotion;
	pthread_t thread;
	int result;

	spinner->fence = machine_has_seccomp() ? RT_FENCE_COUNT : RT_FENCE_OFF;
	sem_init(&spinner->demoted, 0, 0);
	sem_init(&spinner->promoted, 0, 0);
	if (pthread_create(&thread, NULL, spin, spinner) != 0)
		return 1;
	sem_wait(&spinner->demoted);
	rt_promotion_init(&promotion, &spinner->figures, 5);
	result = rt_promotion_run(&promotion);
	sem_post(&spinner->promoted);
	pthread_join(thread, NULL);
	if (result != 0)
		return 2;
	if (spinner->sealed != 0 || spinner->short_overran ||
	    !spinner->long_overran || spinner->next_overran)
		return 3;
	if (spinner->handler_thread != spinner->figures.thread_id)
		return 4;
	if (spinner->policy_in_handler != (SCHED_FIFO | SCHED_RESET_ON_FORK) ||
	    spinner->policy_after != (demoted_policy | SCHED_RESET_ON_FORK))
		return 5;
	/* As meek as can be, whichever it is. */
	if (demoted_policy == SCHED_OTHER && spinner->nice_after != 19)
		return 8;
	if (atomic_load(&spinner->figures.overruns) != 1)
		return 6;
	return sched_getscheduler(0) == own_policy ? 0 : 7;
}

static void
a_spinning_thread_is_demoted_and_comes_back(void **state)
{
	static struct spinner spinner;
	struct sched_param parameter = {.sched_priority = 5};

	(void)state;
	if (sched_setscheduler(0, SCHED_FIFO, &parameter) != 0)
		skip();
	parameter.sched_priority = 0;
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &parameter), 0);
	assert_int_equal(rt_fence_init(), 0);
	assert_int_equal(run_spinner(&spinner, SCHED_IDLE), 0);
	assert_int_equal(spinner.rung, RT_RUNG_FIFO);
	assert_int_equal(spinner.policy_at_last,
			 SCHED_FIFO | SCHED_RESET_ON_FORK);
}

/* The usual user of the audio group: real-time priority, but no niceness. The
 * kernel would not let its thread out of SCHED_IDLE. */
static int
spin_as_audio_user(void *argument)
{
	static struct spinner spinner;
	const struct rlimit priority = {20, 20};
	const struct rlimit none = {0, 0};
	int result;

	(void)argument;
	if (setrlimit(RLIMIT_RTPRIO, &priority) != 0 ||
	    setrlimit(RLIMIT_NICE, &none) != 0)
		return 77;
	child_drop_rights();
	if (rt_fence_init() != 0)
		return 20;
	result = run_spinner(&spinner, SCHED_OTHER);
	if (result != 0)
		return result;
	if (spinner.rung != RT_RUNG_FIFO)
		return 21;
	return spinner.policy_at_last == (SCHED_FIFO | SCHED_RESET_ON_FORK)
		       ? 0
		       : 22;
}

static void
without_the_right_to_nice_it_comes_back_too(void **state)
{
	(void)state;
	expect_child(spin_as_audio_user);
}

static void
no_timer_is_no_budget(void **state)
{
	struct rt_budget budget = {0};

	(void)state;
	rt_budget_start(&budget);
	assert_false(rt_budget_stop(&budget));
	rt_budget_finish(&budget);
	rt_budget_finish(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_spinning_thread_is_demoted_and_comes_back),
		cmocka_unit_test(without_the_right_to_nice_it_comes_back_too),
		cmocka_unit_test(no_timer_is_no_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

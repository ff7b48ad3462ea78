/* SPDX-License-Identifier: GPL-3.0-or-later */
/* budget.c - a quantum that runs too long loses its priority at once, wherever
 * it stands.
 *
 *   start: overrun = 0, arm -> [fires: overrun = 1, tell, demote] -> stop
 *
 * The timer counts the thread's own CPU time and its signal goes to that
 * thread, so that an overrun is handled on it, between two of its instructions;
 * timer_settime() delivers what has fired before it returns. The handler tells
 * first and demotes last, and who promotes the thread again is another one: on
 * a busy CPU a thread in SCHED_IDLE may not get to run for long.
 *
 * Without the right to leave SCHED_IDLE the thread falls to SCHED_OTHER, there
 * at nice 19: it is set while the thread is SCHED_FIFO, which does not care. */
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "lib/rt/own.h"
#include "lib/rt/permit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(timer_t) == sizeof(void *),
	       "struct rt_budget holds the timer as a pointer");

/* The kernel's first timer of a process is number 0, which must not look like
 * no timer. */
static void *
pointer_of(timer_t timer)
{
	return (void *)((uintptr_t)timer + 1);
}

static RT_DEVICE timer_t
timer_of(const struct rt_budget *budget)
{
	return (timer_t)((uintptr_t)budget->timer - 1);
}

static RT_DEVICE void
handle_budget(int signal, siginfo_t *info, void *context)
{
	const struct sched_param parameter = {0};
	const int saved_errno = errno;
	struct rt_budget *budget = NULL;

	(void)signal;
	(void)context;
	if (info->si_code != SI_TIMER)
		return;
	budget = info->si_value.sival_ptr;
	atomic_store_explicit(&budget->overrun, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&budget->figures->overruns, 1,
				  memory_order_relaxed);
	if (budget->on_overrun != NULL)
		budget->on_overrun(budget->context);
	(void)sched_setscheduler(
		0, budget->demoted_policy | SCHED_RESET_ON_FORK, &parameter);
	errno = saved_errno;
}

static void
install_handler(void)
{
	struct sigaction action = {
		.sa_sigaction = handle_budget,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};

	sigemptyset(&action.sa_mask);
	(void)sigaction(thread_budget_signal(), &action, NULL);
}

/* What the calling thread falls to. */
static int
choose_demoted_policy(pid_t thread_id)
{
	const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	const int nice_value = getpriority(PRIO_PROCESS, (id_t)thread_id);

	if (permit_leave_idle(nice_value))
		return SCHED_IDLE;
	if (policy == SCHED_FIFO || policy == SCHED_RR)
		(void)setpriority(PRIO_PROCESS, (id_t)thread_id, 19);
	return SCHED_OTHER;
}

int
rt_budget_init(struct rt_budget *budget, struct rt_figures *figures,
	       int64_t limit_ns, void (*on_overrun)(void *context),
	       void *context)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const pid_t thread_id = gettid();
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = thread_budget_signal(),
		.sigev_value.sival_ptr = budget,
	};
	timer_t timer = NULL;

	*budget = (struct rt_budget){
		.limit_ns = limit_ns,
		.figures = figures,
		.on_overrun = on_overrun,
		.context = context,
	};
	budget->demoted_policy = choose_demoted_policy(thread_id);
	pthread_once(&once, install_handler);
	event._sigev_un._tid = thread_id;
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
		return -errno;
	budget->timer = pointer_of(timer);
	return 0;
}

void
rt_budget_finish(struct rt_budget *budget)
{
	if (budget == NULL || budget->timer == NULL)
		return;
	timer_delete(timer_of(budget));
	budget->timer = NULL;
}

void
rt_budget_demote(const struct rt_budget *budget)
{
	const struct sched_param parameter = {0};

	(void)sched_setscheduler(budget->figures->thread_id,
				 budget->demoted_policy | SCHED_RESET_ON_FORK,
				 &parameter);
}

static RT_DEVICE void
arm(struct rt_budget *budget, int64_t after_ns)
{
	const struct itimerspec time = {
		.it_value = {after_ns / NS_PER_S, after_ns % NS_PER_S},
	};

	if (budget->timer != NULL)
		(void)timer_settime(timer_of(budget), 0, &time, NULL);
}

RT_DEVICE void
rt_budget_start(struct rt_budget *budget)
{
	atomic_store_explicit(&budget->overrun, 0, memory_order_relaxed);
	arm(budget, budget->limit_ns);
}

RT_DEVICE bool
rt_budget_stop(struct rt_budget *budget)
{
	arm(budget, 0);
	return atomic_load_explicit(&budget->overrun, memory_order_relaxed) !=
	       0;
}

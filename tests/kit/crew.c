/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kit/crew.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { JOLT_NS = 150 * 1000 };

struct berth {
	struct crew_member member;
	unsigned index;
	enum crew_mood mood;
	pthread_barrier_t *start;
};

static void
jolt(int signal)
{
	(void)signal;
	sched_yield();
}

static bool
start_jolts(timer_t *ret_timer)
{
	const struct itimerspec interval = {{0, JOLT_NS}, {0, JOLT_NS}};
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGRTMIN + 5,
	};

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	return timer_create(CLOCK_MONOTONIC, &event, ret_timer) == 0 &&
	       timer_settime(*ret_timer, 0, &interval, NULL) == 0;
}

static void
pin(unsigned index)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(index % (unsigned)(cpus > 0 ? cpus : 1), &set);
	/* Where it is not allowed the scheduler's own choice must do. */
	(void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *
berth_main(void *argument)
{
	struct berth *berth = argument;
	timer_t timer;
	bool jolted;

	pin(berth->index);
	pthread_barrier_wait(berth->start);
	jolted = berth->mood == CREW_JOLTED && start_jolts(&timer);
	berth->member.main(berth->member.argument, berth->index);
	if (jolted)
		timer_delete(timer);
	return NULL;
}

void
crew_run(const struct crew_member *members, unsigned count, enum crew_mood mood)
{
	const struct sigaction action = {
		.sa_handler = jolt,
		.sa_flags = SA_RESTART,
	};
	pthread_barrier_t start;
	pthread_t threads[CREW_MAX];
	struct berth berths[CREW_MAX];
	unsigned i;

	crew_check(count <= CREW_MAX);
	crew_check(sigaction(SIGRTMIN + 5, &action, NULL) == 0);
	crew_check(pthread_barrier_init(&start, NULL, count) == 0);
	for (i = 0; i < count; i++) {
		berths[i] = (struct berth){members[i], i, mood, &start};
		crew_check(pthread_create(&threads[i], NULL, berth_main,
					  &berths[i]) == 0);
	}
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&start);
}

void
crew_dawdle(void)
{
	sched_yield();
}

void
crew_check_at(int condition, const char *text, const char *file, int line)
{
	if (condition)
		return;
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, text);
	abort();
}

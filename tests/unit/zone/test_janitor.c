/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_janitor.c - the janitor's thread as a crash reporter and the senders of
 * signals meet it. */
#include "lib/zone/parts.h"
#include "lib/zone/zone.h"
#include "tests/kit/child.h"
#include "tests/kit/machine.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { LINE_BYTES = 128, PATH_BYTES = 300 };

static const int64_t hour_ns = INT64_C(3600) * 1000000000;
static const int faults[] = {SIGSYS, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

static volatile sig_atomic_t handled;
static volatile sig_atomic_t handled_aside; /* on the alternate stack */

/* The first line of /proc/self/task/TASK/FILE that begins with start. */
static bool
task_line(const char *task, const char *file, const char *start, char *ret_line)
{
	char path[PATH_BYTES];
	bool found = false;
	FILE *stream;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%s/%s", task, file);
	stream = fopen(path, "re");
	if (stream == NULL)
		return false;
	while (!found && fgets(ret_line, LINE_BYTES, stream) != NULL)
		found = strncmp(ret_line, start, strlen(start)) == 0;
	(void)fclose(stream);
	return found;
}

/* 0: there is none. */
static pid_t
find_janitor(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	char line[LINE_BYTES];
	pid_t found = 0;

	if (tasks == NULL)
		return 0;
	while (found == 0 && (entry = readdir(tasks)) != NULL)
		if (task_line(entry->d_name, "comm", "janitor\n", line))
			found = (pid_t)strtol(entry->d_name, NULL, 10);
	(void)closedir(tasks);
	return found;
}

/* Only then is it set up: a thread begins with all signals blocked. */
static bool
wait_until_asleep(pid_t janitor)
{
	char task[LINE_BYTES];
	char line[LINE_BYTES];

	(void)snprintf(task, sizeof(task), "%d", (int)janitor);
	do {
		sched_yield();
		if (!task_line(task, "status", "State:", line))
			return false;
	} while (strstr(line, "\tS") == NULL);
	return true;
}

static uint64_t
bit_of(int signal_number)
{
	return UINT64_C(1) << (signal_number - 1);
}

static int
look_at_mask(void *unused)
{
	char task[LINE_BYTES];
	char line[LINE_BYTES];
	uint64_t wanted = 0;
	uint64_t blocked;
	sigset_t mask;
	pid_t janitor;
	size_t i;

	(void)unused;
	sigemptyset(&mask);
	sigaddset(&mask, SIGRTMIN + 2);
	/* which a careless caller may have blocked */
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigaddset(&mask, faults[i]);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (zone_janitor_start(hour_ns) < 0)
		return 1;
	janitor = find_janitor();
	(void)snprintf(task, sizeof(task), "%d", (int)janitor);
	if (!wait_until_asleep(janitor) ||
	    !task_line(task, "status", "SigBlk:", line))
		return 2;
	blocked = strtoull(line + strlen("SigBlk:"), NULL, 16);
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		wanted |= bit_of(faults[i]);
	if ((blocked & wanted) != 0)
		return 3;
	wanted = bit_of(SIGTERM) | bit_of(SIGINT) | bit_of(SIGHUP) |
		 bit_of(SIGCHLD) | bit_of(SIGRTMIN + 2);
	if ((blocked & wanted) != wanted ||
	    (blocked & bit_of(SIGRTMIN + 1)) != 0)
		return 4;
	zone_janitor_stop();
	return 0;
}

static void
faults_are_not_blocked(void **state)
{
	(void)state;
	if (!machine_tells_signals())
		skip();
	assert_int_equal(child_run(look_at_mask, NULL, NULL, 0), 0);
}

struct taker {
	ATOMIC(unsigned) taken; /* blocks, once it is done */
	ATOMIC(bool) may_end;
	const char *trouble;
};

/* Takes from the reserve until it is below its mark, and makes no call of the
 * kernel's; what it keeps for itself comes back only when it ends. */
static void *
take_below_the_mark(void *argument)
{
	enum { BLOCK_BYTES = 60000, BLOCKS_MOST = 64 };
	struct taker *taker = argument;
	unsigned count = 0;

	if (zone_thread_realtime(true) < 0)
		taker->trouble = "not marked";
	while (taker->trouble == NULL && !zone_janitor_is_wanted() &&
	       count < BLOCKS_MOST) {
		count++;
		if (zone_alloc(BLOCK_BYTES) == NULL)
			taker->trouble = "dry";
	}
	atomic_store(&taker->taken, count);
	while (!atomic_load(&taker->may_end))
		sched_yield();
	return NULL;
}

static size_t
free_reserve(void)
{
	struct zone_stats stats;

	zone_stats(&stats);
	return stats.locked_free_bytes;
}

/* A thread that is not marked, with empty magazines. */
static bool
use_malloc(void)
{
	enum { CLASSES_TRIED = 8 };

	for (unsigned i = 0; i < CLASSES_TRIED; i++)
		if (zone_alloc(100U << i) == NULL)
			return false;
	return true;
}

static int
take_and_let_others_wake(void *unused)
{
	static struct taker taker;
	size_t low_bytes = 0;
	pthread_t thread;
	pid_t janitor;

	(void)unused;
	if (zone_reserve(4 << 20) < 0 || zone_janitor_start(hour_ns) < 0)
		return 1;
	janitor = find_janitor();
	if (!wait_until_asleep(janitor) ||
	    pthread_create(&thread, NULL, take_below_the_mark, &taker) != 0)
		return 2;
	while (atomic_load(&taker.taken) == 0)
		sched_yield();
	low_bytes = free_reserve();
	if (taker.trouble != NULL || !zone_janitor_is_wanted())
		return 3;
	if (!use_malloc())
		return 4;
	/* or for ever: then the time-out tells */
	while (zone_janitor_is_wanted() || free_reserve() <= low_bytes)
		sched_yield();
	atomic_store(&taker.may_end, true);
	(void)pthread_join(thread, NULL);
	zone_janitor_stop();
	return 0;
}

/* Its own pause is an hour. */
static void
others_wake_it_for_a_thread_that_may_not(void **state)
{
	(void)state;
	assert_int_equal(child_run(take_and_let_others_wake, NULL, NULL, 0), 0);
}

#ifndef ROTARY_SANITIZED
static void
handle(int number)
{
	stack_t stack;

	(void)number;
	handled = 1;
	if (sigaltstack(NULL, &stack) == 0)
		handled_aside = (stack.ss_flags & SS_ONSTACK) != 0;
}

static int
send_fault(void *unused)
{
	struct sigaction action = {.sa_handler = handle,
				   .sa_flags = SA_ONSTACK};

	pid_t janitor;

	(void)unused;
	if (sigaction(SIGSEGV, &action, NULL) != 0 ||
	    zone_janitor_start(hour_ns) < 0)
		return 1;
	janitor = find_janitor();
	if (!wait_until_asleep(janitor) ||
	    syscall(SYS_tgkill, getpid(), janitor, SIGSEGV) != 0)
		return 2;
	/* it is handled before anything else that the thread does */
	zone_janitor_stop();
	if (!handled)
		return 3;
	return handled_aside ? 0 : 4;
}

static void
faults_are_handled_on_a_stack_of_their_own(void **state)
{
	(void)state;
	if (!machine_tells_signals())
		skip();
	assert_int_equal(child_run(send_fault, NULL, NULL, 0), 0);
}
#endif

/* An idle process is left alone, and what there is to do is done soon. */
static void
it_looks_less_often_while_idle(void **state)
{
	const int64_t period_ns = 1000;
	int64_t pause_ns = period_ns, all_ns = 0;
	int looks = 0;

	(void)state;
	for (looks = 0; all_ns < 1000 * period_ns; looks++) {
		const int64_t last_ns = pause_ns;

		pause_ns = zone_janitor_pause(period_ns, last_ns, false);
		assert_true(pause_ns >= last_ns);
		assert_true(pause_ns <= 16 * period_ns);
		all_ns += pause_ns;
	}
	assert_in_range(looks, 1000 / 16, 70);
	assert_int_equal(zone_janitor_pause(period_ns, pause_ns, true),
			 period_ns);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_looks_less_often_while_idle),
		cmocka_unit_test(faults_are_not_blocked),
		cmocka_unit_test(others_wake_it_for_a_thread_that_may_not),
#ifndef ROTARY_SANITIZED
		/* they bring a stack of their own */
		cmocka_unit_test(faults_are_handled_on_a_stack_of_their_own),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The real kernel says yes where this process has the right, and no to a child
 * without it. */
#include "lib/rt/rt.h"
#include "tests/kit/child.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/rt/as_child.h"

static bool
may_be_realtime(void)
{
	const struct sched_param parameter = {.sched_priority = 7};
	bool yes = sched_setscheduler(0, SCHED_FIFO, &parameter) == 0;

	if (yes)
		sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
	return yes;
}

struct promoted {
	struct rt_figures figures;
	int policy;
	int priority;
	enum rt_rung rung;
};

static void *
promote(void *argument)
{
	struct promoted *promoted = argument;
	struct sched_param parameter = {0};

	rt_figures_begin(&promoted->figures, "test");
	promoted->rung = rt_promote(&promoted->figures, 7);
	promoted->policy = sched_getscheduler(0);
	sched_getparam(0, &parameter);
	promoted->priority = parameter.sched_priority;
	rt_figures_end();
	return NULL;
}

static void
with_the_right_the_first_rung_is_fifo(void **state)
{
	static struct promoted promoted;
	pthread_t thread;

	(void)state;
	if (!may_be_realtime())
		skip();
	assert_int_equal(pthread_create(&thread, NULL, promote, &promoted), 0);
	pthread_join(thread, NULL);
	assert_int_equal(promoted.rung, RT_RUNG_FIFO);
	assert_int_equal(atomic_load(&promoted.figures.rung), RT_RUNG_FIFO);
	assert_int_equal(promoted.policy, SCHED_FIFO | SCHED_RESET_ON_FORK);
	assert_int_equal(promoted.priority, 7);
	assert_string_equal(promoted.figures.cause, "");
	/* only that thread */
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

static void
a_probe_changes_nothing(void **state)
{
	char cause[RT_CAUSE_BYTES] = "?";
	const bool may = may_be_realtime();

	(void)state;
	if (may) {
		assert_int_equal(rt_probe(7, cause), RT_RUNG_FIFO);
		assert_string_equal(cause, "");
	} else {
		assert_int_not_equal(rt_probe(7, cause), RT_RUNG_FIFO);
		assert_string_not_equal(cause, "");
	}
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

/* A user without a limit for it; where the system bus has a RealtimeKit, that
 * is asked too, so the rung may be higher. Exit 0: as expected. */
static int
climb_without_rights(void *argument)
{
	static struct promoted promoted;
	const struct rlimit none = {0, 0};

	(void)argument;
	setrlimit(RLIMIT_RTPRIO, &none);
	setrlimit(RLIMIT_NICE, &none);
	setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
	child_drop_rights();
	promote(&promoted);
	fprintf(stderr, "%s", promoted.figures.cause);
	if (promoted.rung != RT_RUNG_NORMAL)
		return 1;
	return promoted.policy == SCHED_OTHER ? 0 : 2;
}

static void
without_rights_it_climbs_down_and_says_why(void **state)
{
	char cause[256];
	const int status =
		child_run(climb_without_rights, NULL, cause, sizeof(cause));

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_string_equal(cause, "RLIMIT_RTPRIO is 0, below 7; no system "
				   "bus; RLIMIT_NICE is 0, below 31");
}

/* A bus that takes the connection and then hangs. */
static int
climb_while_the_bus_hangs(void *argument)
{
	static struct promoted promoted;
	const struct rlimit none = {0, 0};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char variable[64];

	(void)argument;
	/* an abstract name, which leaves nothing behind */
	snprintf(variable, sizeof(variable), "unix:abstract=rotary-test-%d",
		 (int)getpid());
	strcpy(address.sun_path + 1, strchr(variable, '=') + 1);
	if (bind(listener, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			     strlen(address.sun_path + 1))) != 0 ||
	    listen(listener, 1) != 0)
		return 1;
	setenv("DBUS_SYSTEM_BUS_ADDRESS", variable, 1);
	setrlimit(RLIMIT_RTPRIO, &none);
	setrlimit(RLIMIT_NICE, &none);
	child_drop_rights();
	promote(&promoted);
	fprintf(stderr, "%s", promoted.figures.cause);
	return promoted.rung == RT_RUNG_NORMAL ? 0 : 2;
}

static void
a_bus_that_hangs_is_given_up(void **state)
{
	char cause[256];
	const int status = child_run(climb_while_the_bus_hangs, NULL, cause,
				     sizeof(cause));

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_non_null(strstr(cause, "; RealtimeKit does not answer; "));
}

static int
climb_with_nice_only(void *argument)
{
	static struct promoted promoted;
	const struct rlimit none = {0, 0};
	const struct rlimit nice_limit = {40, 40};

	(void)argument;
	setrlimit(RLIMIT_RTPRIO, &none);
	if (setrlimit(RLIMIT_NICE, &nice_limit) != 0)
		return 77;
	setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
	child_drop_rights();
	promote(&promoted);
	if (promoted.rung != RT_RUNG_NICE)
		return 1;
	if (getpriority(PRIO_PROCESS, 0) != -11)
		return 2;
	return strstr(promoted.figures.cause, "RLIMIT_RTPRIO") != NULL ? 0 : 3;
}

static void
niceness_is_the_third_rung(void **state)
{
	(void)state;
	expect_child(climb_with_nice_only);
}

static void
each_rung_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(rt_rung_name(RT_RUNG_FIFO), "fifo");
	assert_string_equal(rt_rung_name(RT_RUNG_RTKIT), "rtkit");
	assert_string_equal(rt_rung_name(RT_RUNG_NICE), "nice");
	assert_string_equal(rt_rung_name(RT_RUNG_NORMAL), "normal");
	assert_string_equal(rt_rung_name(RT_RUNG_UNTRIED), "untried");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_the_right_the_first_rung_is_fifo),
		cmocka_unit_test(a_probe_changes_nothing),
		cmocka_unit_test(without_rights_it_climbs_down_and_says_why),
		cmocka_unit_test(a_bus_that_hangs_is_given_up),
		cmocka_unit_test(niceness_is_the_third_rung),
		cmocka_unit_test(each_rung_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

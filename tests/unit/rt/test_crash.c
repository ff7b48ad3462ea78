/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A crash tells its signal, thread, subject and where it was, by the names of
 * static functions too, and ends the process by the signal that it was; also
 * inside a fence. */
#include "lib/rt/rt.h"
#include "tests/kit/child.h"
#include "tests/kit/machine.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum kind { BY_FAULT, BY_ABORT, BY_OTHERS, IN_FENCE };

static __attribute__((noinline)) int
crash_right_here(enum kind kind)
{
	int *volatile nowhere = (int *)(uintptr_t)16;

	if (kind == BY_ABORT)
		abort();
	else if (kind == BY_OTHERS)
		kill(getpid(), SIGSEGV);
	else
		*nowhere = 1;
	return 1;
}

static void *
crash_in_thread(void *argument)
{
	static struct rt_figures figures;
	const enum kind kind = *(const enum kind *)argument;

	pthread_setname_np(pthread_self(), "crasher");
	rt_figures_begin(&figures, "crasher");
	rt_set_subject("some/song.flac");
	if (kind == IN_FENCE &&
	    rt_seal(&figures, RT_FENCE_KILL, RT_PROFILE_DECODER, -1) != 0)
		return NULL;
	(void)crash_right_here(kind);
	return NULL;
}

static int
run(void *argument)
{
	pthread_t thread;

	if (rt_fence_init() != 0 || rt_crash_init() != 0)
		return 1;
	if (pthread_create(&thread, NULL, crash_in_thread, argument) != 0)
		return 2;
	pthread_join(thread, NULL);
	return 3;
}

static void
check(enum kind kind, int signal, const char *name)
{
	static char errors[16384];
	const int status = child_run(run, &kind, errors, sizeof(errors));

	print_message("%s", errors);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), signal);
	assert_non_null(strstr(errors, name));
	if (kind == BY_OTHERS)
		return; /* any thread may get it */
	assert_non_null(strstr(
		errors, "in thread crasher, at work on some/song.flac\n"));
	assert_non_null(strstr(errors, "crash_right_here+0x"));
	assert_non_null(strstr(errors, "crash_in_thread+0x"));
}

static void
a_fault_is_told(void **state)
{
	(void)state;
	check(BY_FAULT, SIGSEGV, "rotary: SIGSEGV at 0x10 ");
}

static void
an_abort_is_told(void **state)
{
	(void)state;
	check(BY_ABORT, SIGABRT, "rotary: SIGABRT ");
}

static void
a_signal_from_others_ends_it_too(void **state)
{
	(void)state;
	check(BY_OTHERS, SIGSEGV, "rotary: SIGSEGV ");
}

static void
a_fault_in_a_fence_is_told(void **state)
{
	(void)state;
	if (!machine_has_seccomp())
		skip();
	check(IN_FENCE, SIGSEGV, "rotary: SIGSEGV at 0x10 ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_is_told),
		cmocka_unit_test(an_abort_is_told),
		cmocka_unit_test(a_signal_from_others_ends_it_too),
		cmocka_unit_test(a_fault_in_a_fence_is_told),
	};

#ifdef ROTARY_SANITIZED
	print_message("sanitizers make reports of their own\n");
	return 0 * (int)sizeof(tests);
#else
	return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}

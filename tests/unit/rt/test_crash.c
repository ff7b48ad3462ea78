/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A crash tells its signal, thread, subject and where it was, by the names of
 * static functions too, leaves a note of the subject's file, and ends the
 * process by the signal that it was; also inside a fence, and by a stack that
 * has run over. */
#include "lib/base/thread.h"
#include "lib/rt/rt.h"
#include "tests/kit/child.h"
#include "tests/kit/machine.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum kind { BY_FAULT, BY_ABORT, BY_OTHERS, BY_STACK };
enum { TOGETHER = 40 };

struct plan {
	enum kind kind;
	bool in_fence;
	bool together; /* two threads */
	struct rt_subject subject;
	int note_fd; /* -1: none */
};

static const struct rt_subject song = {
	.name = "some/song.flac",
	.is_open = true,
	.size_bytes = 4711,
	.mtime_ns = 1234567890123456789,
};

/* A frame for each call, with something in it. */
static __attribute__((noinline)) int
run_over(volatile char *above, int calls)
{
	volatile char room[512];

	room[0] = *above;
	return calls == 0 ? 0 : run_over(room, calls - 1) + room[0];
}

/* Whichever thread gets it. */
static _Noreturn void
wait_for(int signal)
{
	kill(getpid(), signal);
	for (;;)
		pause();
}

static __attribute__((noinline)) int
crash_right_here(enum kind kind)
{
	int *volatile nowhere = (int *)(uintptr_t)16;
	volatile char first = 1;

	if (kind == BY_ABORT)
		abort();
	else if (kind == BY_OTHERS)
		wait_for(SIGSEGV);
	else if (kind == BY_STACK)
		return run_over(&first, INT_MAX);
	else
		*nowhere = 1;
	return 1;
}

static ATOMIC(uint32_t) ready;

static void *
crash_in_thread(void *argument)
{
	static _Thread_local struct rt_figures figures;
	const struct plan *plan = argument;

	rt_figures_begin(&figures, "crasher");
	rt_set_subject(&plan->subject);
	if (plan->in_fence &&
	    rt_seal(&figures, RT_FENCE_KILL, RT_PROFILE_DECODER, NULL) != 0)
		return NULL;
	/* At once: a barrier would let one go long before the other. */
	atomic_fetch_add(&ready, 1);
	while (plan->together && atomic_load(&ready) < 2)
		continue;
	(void)crash_right_here(plan->kind);
	return NULL;
}

static int
run(void *argument)
{
	const struct plan *plan = argument;
	const struct thread_spec spec = {
		.role = THREAD_ROLE_DECODER,
		.name = "crasher",
		.stack_bytes = THREAD_STACK_RT,
		.lock_stack = true,
		.main = crash_in_thread,
		.argument = argument,
	};
	struct thread thread, other;

	if (rt_fence_init() != 0 || rt_crash_init() != 0)
		return 1;
	rt_crash_note_to(plan->note_fd);
	if (plan->together && thread_start(&other, &spec) != 0)
		return 2;
	if (thread_start(&thread, &spec) != 0)
		return 2;
	thread_join(&thread);
	return 3;
}

/* What the child said. */
static const char *
crash(struct plan plan, int signal)
{
	static char errors[16384];
	const int status = child_run(run, &plan, errors, sizeof(errors));

	print_message("%s", errors);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), signal);
	return errors;
}

static void
check(struct plan plan, int signal, const char *name)
{
	const char *errors;

	plan.subject = song;
	plan.note_fd = -1;
	errors = crash(plan, signal);
	assert_non_null(strstr(errors, name));
	if (plan.kind == BY_OTHERS)
		return; /* any thread may get it */
	assert_non_null(strstr(
		errors, "in thread crasher, at work on some/song.flac\n"));
	/* The compiler may have added to their names. */
	if (plan.kind == BY_STACK) {
		assert_non_null(strstr(errors, "  run_over"));
		return; /* the rest is too far away */
	}
	assert_non_null(strstr(errors, "  crash_right_here"));
	assert_non_null(strstr(errors, "crash_in_thread+0x"));
}

/* What a crash leaves in a file. */
static const char *
note_of(struct plan plan, int signal)
{
	static char note[8192];
	FILE *file = tmpfile();
	size_t length;

	assert_non_null(file);
	plan.note_fd = fileno(file);
	assert_int_equal(fcntl(plan.note_fd, F_SETFL, O_APPEND), 0);
	(void)crash(plan, signal);
	rewind(file);
	length = fread(note, 1, sizeof(note) - 1, file);
	note[length] = '\0';
	fclose(file);
	return note;
}

static void
a_fault_is_told(void **state)
{
	(void)state;
	check((struct plan){.kind = BY_FAULT}, SIGSEGV,
	      "rotary: SIGSEGV at 0x10 ");
}

static void
an_abort_is_told(void **state)
{
	(void)state;
	check((struct plan){.kind = BY_ABORT}, SIGABRT, "rotary: SIGABRT ");
}

static void
a_signal_from_others_ends_it_too(void **state)
{
	(void)state;
	check((struct plan){.kind = BY_OTHERS}, SIGSEGV, "rotary: SIGSEGV ");
}

static void
a_fault_in_a_fence_is_told(void **state)
{
	(void)state;
	if (!machine_has_seccomp())
		skip();
	check((struct plan){.in_fence = true}, SIGSEGV,
	      "rotary: SIGSEGV at 0x10 ");
}

static void
a_stack_that_runs_over_is_told(void **state)
{
	(void)state;
	check((struct plan){.kind = BY_STACK}, SIGSEGV, "rotary: SIGSEGV at ");
	if (machine_has_seccomp())
		check((struct plan){.kind = BY_STACK, .in_fence = true},
		      SIGSEGV, "rotary: SIGSEGV at ");
}

static void
the_file_is_noted(void **state)
{
	static const char line[] =
		"\ncrash 4711 1234567890123456789 some/song.flac\n";
	struct plan plan = {.subject = song};

	(void)state;
	assert_string_equal(note_of(plan, SIGSEGV), line);
	plan.kind = BY_ABORT;
	assert_string_equal(note_of(plan, SIGABRT), line);
	plan.kind = BY_STACK;
	assert_string_equal(note_of(plan, SIGSEGV), line);
	if (!machine_has_seccomp())
		return;
	plan.in_fence = true;
	assert_string_equal(note_of(plan, SIGSEGV), line);
	plan.kind = BY_FAULT;
	assert_string_equal(note_of(plan, SIGSEGV), line);
}

/* Whoever is second does not end the process before the first one has told. */
static void
who_crashes_together_is_noted_once(void **state)
{
	struct plan plan = {.together = true, .subject = song};
	int i;

	(void)state;
	for (i = 0; i < TOGETHER; i++)
		assert_string_equal(
			note_of(plan, SIGSEGV),
			"\ncrash 4711 1234567890123456789 some/song.flac\n");
}

static void
only_what_is_its_fault_is_noted(void **state)
{
	struct plan plan = {.kind = BY_OTHERS, .subject = song};

	(void)state;
	assert_string_equal(note_of(plan, SIGSEGV), "");
	plan.kind = BY_FAULT;
	plan.subject.is_open = false;
	assert_string_equal(note_of(plan, SIGSEGV), "");
	plan.subject = song;
	plan.subject.name = "two\nlines";
	assert_string_equal(note_of(plan, SIGSEGV), "");
}

static void
a_full_disk_is_told(void **state)
{
	struct plan plan = {.subject = song};

	(void)state;
	plan.note_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(plan.note_fd >= 0);
	assert_non_null(strstr(crash(plan, SIGSEGV), "no note of it"));
	close(plan.note_fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_is_told),
		cmocka_unit_test(an_abort_is_told),
		cmocka_unit_test(a_signal_from_others_ends_it_too),
		cmocka_unit_test(a_fault_in_a_fence_is_told),
		cmocka_unit_test(a_stack_that_runs_over_is_told),
		cmocka_unit_test(the_file_is_noted),
		cmocka_unit_test(who_crashes_together_is_noted_once),
		cmocka_unit_test(only_what_is_its_fault_is_noted),
		cmocka_unit_test(a_full_disk_is_told),
	};

#ifdef ROTARY_SANITIZED
	print_message("sanitizers make reports of their own\n");
	return 0 * (int)sizeof(tests);
#else
	return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thread.c - starting threads.
 *
 * The creator blocks its signals around pthread_create(), so that the new
 * thread is born with the right mask and no signal can slip in before it set
 * its own. A stack that is to be locked is locked, and touched where the limit
 * is spent, by its own thread before main() runs. The alternate stack for the
 * handlers of faults is the far end of the thread's own, on top of what was
 * asked for: there from the first moment, locked with the rest, and never
 * reached by a stack that runs over. A thread without a role (a
 * unit test, a library's own) may play any: the asserts find a thread of ours
 * that does another one's work. */
#include "lib/base/thread.h"

#include <alloca.h>
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A report with a backtrace takes about 8 KiB above the kernel's own part. */
enum { NAME_BYTES = 16, REPORT_STACK_BYTES = 16 * 1024 };

/* Sanitizers have stacks of their own for that. */
#ifdef ROTARY_SANITIZED
enum { WITH_FAULT_STACK = 0 };
#else
enum { WITH_FAULT_STACK = 1 };
#endif

struct start {
	struct thread_spec spec;
	char name[NAME_BYTES];
};

struct thread_capability thread_role_control;
struct thread_capability thread_role_worker;
struct thread_capability thread_role_decoder;
struct thread_capability thread_role_output;

/* Initial-exec: one load, never a call into the dynamic linker. */
static _Thread_local
	__attribute__((tls_model("initial-exec"))) enum thread_role own_role;

int
thread_budget_signal(void)
{
	return SIGRTMIN + 1;
}

static void
set_name(const char *name)
{
	char short_name[NAME_BYTES];

	if (name == NULL)
		return;
	strncpy(short_name, name, sizeof(short_name) - 1);
	short_name[sizeof(short_name) - 1] = '\0';
	pthread_setname_np(pthread_self(), short_name);
}

static void
block_signals(sigset_t *ret_old)
{
	static const int open[] = {SIGSYS, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	sigset_t mask;
	size_t i = 0;

	sigfillset(&mask);
	for (i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		sigdelset(&mask, open[i]);
	sigdelset(&mask, thread_budget_signal());
	pthread_sigmask(SIG_SETMASK, &mask, ret_old);
}

/* Every page from the lowest up to the caller's frame; those above it are in
 * use. Written, so that none is the shared zero page. */
static void
touch_stack(char *lowest)
{
	volatile char here = 0;
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t end = (uintptr_t)&here - page;
	volatile char *at = NULL;

	for (at = lowest; (uintptr_t)at < end; at += page)
		*at = here;
}

/* mlock2() populates; what the limit does not cover is touched at least. */
static void
lock_stack(void)
{
	pthread_attr_t attributes;
	void *lowest = NULL;
	size_t size = 0;

	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return;
	if (pthread_attr_getstack(&attributes, &lowest, &size) == 0 &&
	    mlock2(lowest, size, 0) != 0)
		touch_stack(lowest);
	pthread_attr_destroy(&attributes);
}

/* The kernel's part grows with the processor's registers. */
static size_t
fault_stack_size(void)
{
	const long least = sysconf(_SC_MINSIGSTKSZ);

	if (!WITH_FAULT_STACK)
		return 0;
	return REPORT_STACK_BYTES + (size_t)(least > 0 ? least : MINSIGSTKSZ);
}

static void
set_fault_stack(void *memory, size_t size)
{
	const stack_t stack = {.ss_sp = memory, .ss_size = size};

	if (size > 0)
		(void)sigaltstack(&stack, NULL);
}

static void *
thread_main(void *argument)
{
	struct start *start = argument;
	const struct thread_spec spec = start->spec;
	const size_t fault_bytes = fault_stack_size();

	own_role = spec.role;
	set_name(start->name);
	free(start);
	/* cppcheck-suppress allocaCalled ; it must outlive main() only */
	set_fault_stack(alloca(fault_bytes), fault_bytes);
	if (spec.lock_stack)
		lock_stack();
	return spec.main(spec.argument);
}

static size_t
stack_size(size_t wanted)
{
	const long least = sysconf(_SC_THREAD_STACK_MIN);

	/* Sanitizers make frames larger and put their own data there. */
#ifdef ROTARY_SANITIZED
	wanted *= 8;
#endif
	if (least > 0 && wanted < (size_t)least)
		wanted = (size_t)least;
	return wanted + fault_stack_size();
}

int
thread_start(struct thread *thread, const struct thread_spec *spec)
{
	struct start *start = calloc(1, sizeof(*start));
	pthread_attr_t attributes;
	sigset_t old_mask;
	int result = 0;

	if (start == NULL)
		return -EAGAIN;
	start->spec = *spec;
	if (spec->name != NULL)
		strncpy(start->name, spec->name, sizeof(start->name) - 1);
	pthread_attr_init(&attributes);
	if (spec->stack_bytes > 0)
		pthread_attr_setstacksize(&attributes,
					  stack_size(spec->stack_bytes));
	block_signals(&old_mask);
	result = pthread_create(&thread->handle, &attributes, thread_main,
				start);
	pthread_sigmask(SIG_SETMASK, &old_mask, NULL);
	pthread_attr_destroy(&attributes);
	if (result != 0) {
		free(start);
		return -EAGAIN;
	}
	thread->running = true;
	return 0;
}

void
thread_join(struct thread *thread)
{
	if (thread == NULL || !thread->running)
		return;
	pthread_join(thread->handle, NULL);
	thread->running = false;
}

void
thread_adopt(enum thread_role role, const char *name)
{
	static void *fault_stack;

	block_signals(NULL);
	if (WITH_FAULT_STACK && fault_stack == NULL) {
		fault_stack = malloc(fault_stack_size());
		if (fault_stack != NULL)
			set_fault_stack(fault_stack, fault_stack_size());
	}
	own_role = role;
	set_name(name);
}

RT_SAFE enum thread_role
thread_role(void)
{
	return own_role;
}

#ifndef NDEBUG
static RT_SAFE bool
may_play(enum thread_role role)
{
	return own_role == role || own_role == THREAD_ROLE_NONE;
}
#endif

RT_SAFE void
thread_assert_control(void)
{
	assert(may_play(THREAD_ROLE_CONTROL));
}

RT_SAFE void
thread_assert_worker(void)
{
	assert(may_play(THREAD_ROLE_WORKER));
}

RT_SAFE void
thread_assert_decoder(void)
{
	assert(may_play(THREAD_ROLE_DECODER));
}

RT_SAFE void
thread_assert_output(void)
{
	assert(may_play(THREAD_ROLE_OUTPUT));
}

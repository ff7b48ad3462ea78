/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thread.h - starts threads with a role, a name and a stack of known size.
 *
 * Every thread has all signals blocked but those a fault or the budget of a
 * quantum needs (SIGSYS, SIGSEGV, SIGBUS, SIGFPE, SIGILL and
 * THREAD_BUDGET_SIGNAL), so that SIGTERM only ever reaches control's
 * signalfd, and an alternate stack for handlers with SA_ONSTACK. Debug builds
 * assert the role at thread_assert_*().
 * RT: MAY_BLOCK but thread_role() and the asserts. */
#ifndef ROTARY_BASE_THREAD_H
#define ROTARY_BASE_THREAD_H

#include "lib/base/attr.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

enum thread_role {
	THREAD_ROLE_NONE,
	THREAD_ROLE_CONTROL,
	THREAD_ROLE_WORKER,
	THREAD_ROLE_HTTP,
	THREAD_ROLE_SPEECH,
	THREAD_ROLE_DECODER,
	THREAD_ROLE_OUTPUT,
	THREAD_ROLE_JANITOR,
};

/* The roles as clang's thread-safety analysis knows them. */
struct THREAD_ROLE thread_capability {
	char unused;
};
extern struct thread_capability thread_role_control;
extern struct thread_capability thread_role_worker;
extern struct thread_capability thread_role_decoder;
extern struct thread_capability thread_role_output;

enum { THREAD_STACK_RT = 256 * 1024, THREAD_STACK_WORKER = 256 * 1024 };

/* The signal of the quantum budget: SIGRTMIN + 1, never blocked. */
int thread_budget_signal(void);

struct thread {
	pthread_t handle;
	bool running;
};

struct thread_spec {
	enum thread_role role;
	const char *name; /* at most 15 bytes, shown by ps -L */
	size_t stack_bytes;
	bool lock_stack; /* touch and mlock2() it, for real-time threads */
	void *(*main)(void *argument);
	void *argument;
};

/* Starts a thread. Returns 0, -EAGAIN (no memory or too many threads).
 * spec is copied. */
NODISCARD int thread_start(struct thread *thread,
			   const struct thread_spec *spec);

/* Waits for its end; harmless when it was never started. */
void thread_join(struct thread *thread);

/* Blocks all but the fault signals in the calling thread and gives it a role:
 * for main(), before any thread is started. */
void thread_adopt(enum thread_role role, const char *name);

RT_SAFE enum thread_role thread_role(void);

/* Tells the compiler, and in debug builds checks, who is running. */
RT_SAFE void thread_assert_control(void) BECOMES_THREAD(control);
RT_SAFE void thread_assert_worker(void) BECOMES_THREAD(worker);
RT_SAFE void thread_assert_decoder(void) BECOMES_THREAD(decoder);
RT_SAFE void thread_assert_output(void) BECOMES_THREAD(output);

#endif

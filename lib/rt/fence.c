/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fence.c - what happens to a call that the filter did not let through.
 *
 *   SIGSYS -> count by number -> COUNT: repeat it through the gate, hand the
 *                                result to the interrupted code
 *                             -> KILL:  report and abort
 *
 * The handler makes system calls only through the gate, so COUNT never traps
 * in itself. The report of KILL uses the C library, whose calls do trap: the
 * handler allows that (SA_NODEFER), and a thread that is `dying` has all its
 * calls repeated.
 *
 * The filter is the thread's own: installed without TSYNC, and NO_NEW_PRIVS,
 * which it needs, is a thread's own too. */
#include "lib/base/clock.h"
#include "lib/rt/fence_filter.h"
#include "lib/rt/gate.h"
#include "lib/rt/own.h"
#include "lib/rt/syscall_name.h"

#include <errno.h>
#include <execinfo.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BACKTRACE_FRAMES = 64, SIGSYS_SECCOMP = 1 /* SYS_SECCOMP */ };

/* Sanitizers map and write where they please. */
#if defined(ROTARY_SANITIZED) || defined(__SANITIZE_ADDRESS__) ||              \
	defined(__SANITIZE_THREAD__)
enum { FENCE_POSSIBLE = 0 };
#else
enum { FENCE_POSSIBLE = 1 };
#endif

/* What malloc calls by itself. */
static RT_DEVICE bool
is_allocators(long number)
{
	return number == SYS_brk || number == SYS_mmap ||
	       number == SYS_munmap || number == SYS_mremap ||
	       number == SYS_mprotect || number == SYS_madvise;
}

/* Numbers past the table share its last place. */
static RT_DEVICE void
count_call(struct rt_figures *figures, long number)
{
	if (is_allocators(number)) {
		atomic_fetch_add_explicit(&figures->allocator_calls, 1,
					  memory_order_relaxed);
		return;
	}
	if (number < 0 || number >= RT_SYSCALLS)
		number = RT_SYSCALLS - 1;
	figures_count(&figures->forbidden[number]);
}

static void
say(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written;
}

static void
say_number(long number)
{
	char digits[24];
	char *at = digits + sizeof(digits) - 1;

	*at = '\0';
	do {
		at--;
		*at = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0 && at > digits);
	say(at);
}

/* Async-signal-safe: nothing is allocated, libgcc is loaded already. */
static _Noreturn void
die(const struct rt_figures *figures, long number)
{
	const char *name = syscall_name(number);
	void *frames[BACKTRACE_FRAMES];

	rt_own.dying = true;
	say("rotary: thread ");
	say(figures->name);
	say(" made a call that is not in its profile: ");
	say(name != NULL ? name : "number");
	say(" ");
	say_number(number);
	say("\n");
	backtrace_symbols_fd(frames, backtrace(frames, BACKTRACE_FRAMES),
			     STDERR_FILENO);
	abort();
}

static RT_DEVICE void
handle_sigsys(int signal, siginfo_t *info, void *pointer)
{
	const int saved_errno = errno;
	ucontext_t *context = pointer;
	struct gate_call call;

	(void)signal;
	if (info->si_code != SIGSYS_SECCOMP)
		return;
	/* A filter of somebody else's, which knows no gate. */
	if (rt_own.fence == RT_FENCE_OFF) {
		gate_store(context, -ENOSYS);
		return;
	}
	gate_load(context, &call);
	call.number = info->si_syscall;
	if (!rt_own.dying && rt_own.figures != NULL) {
		count_call(rt_own.figures, call.number);
		if (rt_own.fence == RT_FENCE_KILL &&
		    !is_allocators(call.number)) {
			RT_EXCEPTION("the process ends here")
			{
				die(rt_own.figures, call.number);
			}
		}
	}
	gate_store(context, gate_pass(&call));
	errno = saved_errno;
}

int
rt_fence_init(void)
{
	struct sigaction action = {
		.sa_sigaction = handle_sigsys,
		.sa_flags = SA_SIGINFO | SA_NODEFER,
	};
	void *frame = NULL;

	if (!FENCE_POSSIBLE)
		return 0;
	sigemptyset(&action.sa_mask);
	/* its first use loads libgcc, which a handler may not */
	(void)backtrace(&frame, 1);
	return sigaction(SIGSYS, &action, NULL) == 0 ? 0 : -errno;
}

static void
note_faults(struct rt_figures *figures)
{
	struct rusage usage;

	/* The kernel maps the page of its clock in when it is first read. */
	(void)clock_now_ns();
	if (getrusage(RUSAGE_THREAD, &usage) != 0)
		return;
	atomic_store_explicit(&figures->minor_before, (uint64_t)usage.ru_minflt,
			      memory_order_relaxed);
	atomic_store_explicit(&figures->major_before, (uint64_t)usage.ru_majflt,
			      memory_order_relaxed);
}

static int
install_filter(const struct fence_rules *rules)
{
	struct sock_filter filter[FENCE_FILTER_MAX];
	const struct sock_fprog program = {
		.len = (unsigned short)fence_filter_build(rules, filter),
		.filter = filter,
	};

	if (program.len == 0)
		return -ENOTSUP;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		return -errno;
	return 0;
}

int
rt_seal(struct rt_figures *figures, enum rt_fence fence,
	enum rt_profile profile, const int event_fds[RT_SEAL_FDS])
{
	const struct fence_rules rules = {
		.fence = fence,
		.profile = profile,
		.event_fds = event_fds,
		.gate_address = gate_address(),
	};
	int result = 0;

	note_faults(figures);
	if (!FENCE_POSSIBLE || fence == RT_FENCE_OFF)
		return 0;
	rt_own.figures = figures;
	rt_own.fence = fence;
	result = install_filter(&rules);
	if (result < 0) {
		rt_own.fence = RT_FENCE_OFF;
		return result;
	}
	atomic_store_explicit(&figures->sealed, 1, memory_order_relaxed);
	return 0;
}

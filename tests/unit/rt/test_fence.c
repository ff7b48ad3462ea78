/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Real filters on real threads: what is repeated gives what it would have
 * given; what is fatal dies with a report. */
#include "lib/rt/rt.h"
#include "tests/kit/child.h"
#include "tests/kit/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef ROTARY_SANITIZED
enum { FENCE_IS_ON = 0 };
#else
enum { FENCE_IS_ON = 1 };
#endif

/* What a sealed thread did; filled in by it, looked at when it has ended. */
struct sealed {
	struct rt_figures figures;
	enum rt_profile profile;
	int event_fds[RT_SEAL_FDS];
	int other_fd;
	int result;
	long pid;
	int missing_errno;
	int file;
	long args_read;
	char bytes[8];
	void *mapped;
	char mapped_byte;
	int start_result;
	long wrote_events;
	long wrote_other;
};

static void *
end_at_once(void *argument)
{
	return argument;
}

static void
make_calls(struct sealed *sealed)
{
	const uint64_t one = 1;
	const size_t page = machine_page_bytes();
	pthread_t thread;
	int i;

	sealed->pid = syscall(SYS_getpid);
	if (syscall(SYS_openat, AT_FDCWD, "/nonexistent/file", O_RDONLY, 0) < 0)
		sealed->missing_errno = errno;
	sealed->file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	sealed->args_read = pread(sealed->file, sealed->bytes, 4, 0);
	/* six arguments, each of which matters */
	sealed->mapped = mmap(NULL, page, PROT_READ, MAP_PRIVATE, sealed->file,
			      (off_t)page);
	sealed->start_result = pthread_create(&thread, NULL, end_at_once, NULL);
	for (i = 0; i < RT_SEAL_FDS; i++)
		sealed->wrote_events +=
			write(sealed->event_fds[i], &one, sizeof(one));
	sealed->wrote_other = write(sealed->other_fd, "ab", 2);
}

static void *
be_sealed(void *argument)
{
	struct sealed *sealed = argument;

	rt_figures_begin(&sealed->figures, "sealed");
	sealed->result = rt_seal(&sealed->figures, RT_FENCE_COUNT,
				 sealed->profile, sealed->event_fds);
	if (sealed->result == 0)
		make_calls(sealed);
	return NULL;
}

static uint64_t
count(const struct sealed *sealed, long number)
{
	return atomic_load(&sealed->figures.forbidden[number]);
}

static void
assert_counts(const struct sealed *sealed)
{
	assert_int_equal(count(sealed, SYS_getpid), 1);
	assert_int_equal(count(sealed, SYS_openat), 2);
	assert_int_equal(count(sealed, SYS_pread64), 1);
	/* the event descriptors are free, the other one is not */
	assert_int_equal(count(sealed, SYS_write), 1);
	/* of the allocator's kind, hence apart */
	assert_int_equal(count(sealed, SYS_mmap), 0);
	assert_true(atomic_load(&sealed->figures.allocator_calls) >= 1);
	assert_int_equal(count(sealed, SYS_futex), 0);
	assert_int_equal(atomic_load(&sealed->figures.sealed), 1);
}

static void
a_counted_call_gives_what_it_would_have_given(void **state)
{
	static struct sealed sealed;
	pthread_t thread;
	uint64_t events = 0;
	int i;
	char bytes[8] = "";
	int pipes[2];

	(void)state;
	if (!FENCE_IS_ON || !machine_has_seccomp())
		skip();
	assert_int_equal(rt_fence_init(), 0);
	assert_int_equal(pipe(pipes), 0);
	for (i = 0; i < RT_SEAL_FDS; i++)
		sealed.event_fds[i] = eventfd(0, EFD_NONBLOCK);
	sealed.other_fd = pipes[1];
	assert_int_equal(pthread_create(&thread, NULL, be_sealed, &sealed), 0);
	/* that it can be joined shows that a sealed thread can end */
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(sealed.result, 0);
	assert_counts(&sealed);
	assert_int_equal(sealed.pid, getpid());
	assert_int_equal(sealed.missing_errno, ENOENT);
	assert_true(sealed.file >= 0);
	assert_int_equal(sealed.args_read, 4);
	assert_memory_equal(sealed.bytes, "\177ELF", 4);
	assert_int_equal(
		pread(sealed.file, bytes, 8, (off_t)machine_page_bytes()), 8);
	assert_true(sealed.mapped != MAP_FAILED);
	assert_memory_equal(sealed.mapped, bytes, 8);
	assert_int_equal(sealed.start_result, EAGAIN);
	for (i = 0; i < RT_SEAL_FDS; i++) {
		assert_int_equal(
			read(sealed.event_fds[i], &events, sizeof(events)), 8);
		assert_int_equal(events, 1);
		close(sealed.event_fds[i]);
	}
	assert_int_equal(read(pipes[0], bytes, 8), 2);
	assert_memory_equal(bytes, "ab", 2);
	munmap(sealed.mapped, machine_page_bytes());
	close(sealed.file);
	close(pipes[0]);
	close(pipes[1]);
	/* the fence is the thread's own */
	assert_int_equal(pthread_create(&thread, NULL, end_at_once, NULL), 0);
	pthread_join(thread, NULL);
}

static void *
read_while_sealed(void *argument)
{
	struct sealed *sealed = argument;
	char byte;

	rt_figures_begin(&sealed->figures, "sealed");
	sealed->result = rt_seal(&sealed->figures, RT_FENCE_COUNT,
				 sealed->profile, NULL);
	sealed->args_read = read(sealed->file, &byte, 1);
	return NULL;
}

static void
only_an_output_thread_may_read(void **state)
{
	static struct sealed sealed;
	const enum rt_profile profiles[] = {RT_PROFILE_OUTPUT,
					    RT_PROFILE_DECODER};
	pthread_t thread;
	uint64_t i;

	(void)state;
	if (!FENCE_IS_ON || !machine_has_seccomp())
		skip();
	assert_int_equal(rt_fence_init(), 0);
	sealed.file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (i = 0; i < 2; i++) {
		sealed.profile = profiles[i];
		assert_int_equal(pthread_create(&thread, NULL,
						read_while_sealed, &sealed),
				 0);
		pthread_join(thread, NULL);
		assert_int_equal(sealed.result, 0);
		assert_int_equal(sealed.args_read, 1);
		assert_int_equal(count(&sealed, SYS_read), i);
	}
	close(sealed.file);
}

/* The rest runs in children, since it ends them. */

static int
seal_to_kill(struct sealed *sealed)
{
	static const int event_fds[RT_SEAL_FDS] = {STDERR_FILENO, -1};

	rt_figures_begin(&sealed->figures, "doomed");
	if (rt_fence_init() != 0)
		return -1;
	return rt_seal(&sealed->figures, RT_FENCE_KILL, RT_PROFILE_DECODER,
		       event_fds);
}

static int
call_forbidden(void *argument)
{
	static struct sealed sealed;

	if (seal_to_kill(&sealed) != 0)
		return 1;
	syscall(SYS_getppid);
	(void)argument;
	return 0;
}

static void
a_fatal_call_is_reported_and_aborts(void **state)
{
	static char report[8192];
	int status;

	(void)state;
	if (!FENCE_IS_ON || !machine_has_seccomp())
		skip();
	status = child_run(call_forbidden, NULL, report, sizeof(report));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(report, "thread doomed"));
	assert_non_null(strstr(report, "getppid"));
	/* a backtrace down to where it began */
	assert_non_null(strstr(report, "test_fence"));
	assert_non_null(strstr(report, "libc.so"));
}

static int
call_allowed(void *argument)
{
	static struct sealed sealed;
	const struct timespec moment = {0, 1000};
	struct timespec now;
	size_t size;
	char *blocks[64];
	size_t i;

	(void)argument;
	if (seal_to_kill(&sealed) != 0)
		return 1;
	for (size = 100 * 1000; size < 4000 * 1000; size *= 2) {
		for (i = 0; i < 64; i++) {
			blocks[i] = malloc(size / 16);
			if (blocks[i] == NULL)
				return 2;
			blocks[i][size / 16 - 1] = 1;
		}
		for (i = 0; i < 64; i++)
			free(blocks[i]);
	}
	clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	syscall(SYS_sched_yield);
	if (write(2, "still here", 10) != 10)
		return 3;
	/* so that the end of the test is no call of the thread's */
	for (i = 0; i < RT_SYSCALLS; i++)
		if (atomic_load(&sealed.figures.forbidden[i]) != 0)
			return 4;
	if (atomic_load(&sealed.figures.allocator_calls) == 0)
		return 5;
	abort();
}

static void
malloc_and_the_profile_do_not_kill(void **state)
{
	static char report[8192];
	int status;

	(void)state;
	if (!FENCE_IS_ON || !machine_has_seccomp())
		skip();
	status = child_run(call_allowed, NULL, report, sizeof(report));
	/* abort() sends itself a signal, which is the first forbidden call */
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_memory_equal(report, "still here", 10);
	assert_non_null(strstr(report, "not in its profile"));
}

static void
an_open_fence_forbids_nothing(void **state)
{
	static struct rt_figures figures;

	(void)state;
	assert_int_equal(rt_fence_init(), 0);
	rt_figures_begin(&figures, "open");
	assert_int_equal(
		rt_seal(&figures, RT_FENCE_OFF, RT_PROFILE_DECODER, NULL), 0);
	assert_int_equal(atomic_load(&figures.sealed), 0);
	assert_int_equal(syscall(SYS_getpid), getpid());
	assert_int_equal(atomic_load(&figures.forbidden[SYS_getpid]), 0);
	rt_figures_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counted_call_gives_what_it_would_have_given),
		cmocka_unit_test(only_an_output_thread_may_read),
		cmocka_unit_test(a_fatal_call_is_reported_and_aborts),
		cmocka_unit_test(malloc_and_the_profile_do_not_kill),
		cmocka_unit_test(an_open_fence_forbids_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stub.h - as much of the harness of the C library's own tests as its malloc
 * tests need, so that they can be built outside its tree: a check that failed
 * is printed and remembered, the status tells of it at the end. */
#ifndef ROTARY_FOREIGN_STUB_H
#define ROTARY_FOREIGN_STUB_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stub_failures __attribute__((unused));

#define stub_complain(what)                                                    \
	(stub_failures++, (void)printf("%s:%d: %s\n", __FILE__, __LINE__, what))
#define stub_must(done)                                                        \
	do {                                                                   \
		if (!(done)) {                                                 \
			stub_complain(#done);                                  \
			exit(1);                                               \
		}                                                              \
	} while (0)

#define TEST_VERIFY(x) ((x) ? (void)0 : stub_complain(#x))
#define TEST_VERIFY_EXIT(x) stub_must(x)
#define TEST_COMPARE(a, b) TEST_VERIFY((a) == (b))
#define FAIL(...) ((void)printf(__VA_ARGS__), stub_complain(" failed"))
#define FAIL_RET(...)                                                          \
	do {                                                                   \
		FAIL(__VA_ARGS__);                                             \
		return 1;                                                      \
	} while (0)
#define FAIL_EXIT1(...)                                                        \
	do {                                                                   \
		FAIL(__VA_ARGS__);                                             \
		exit(1);                                                       \
	} while (0)
#define FAIL_UNSUPPORTED(...) exit(77)
#define EXIT_UNSUPPORTED 77
#define DEFAULT_TIMEOUT 20
#define MALLOC_ALIGNMENT 16
#define SIZE_SZ sizeof(size_t)
#define array_length(array) (sizeof(array) / sizeof((array)[0]))
#define DIAG_PUSH_NEEDS_COMMENT
#define DIAG_POP_NEEDS_COMMENT
#define DIAG_IGNORE_NEEDS_COMMENT(version, option)
#define DIAG_IGNORE_Os_NEEDS_COMMENT(version, option)

#define xpthread_barrier_wait(b) (void)pthread_barrier_wait(b)
#define xpthread_barrier_init(b, a, n)                                         \
	stub_must(pthread_barrier_init(b, a, n) == 0)
#define xpthread_barrier_destroy(b) stub_must(pthread_barrier_destroy(b) == 0)
#define xpthread_barrierattr_init(a) stub_must(pthread_barrierattr_init(a) == 0)
#define xpthread_barrierattr_destroy(a)                                        \
	stub_must(pthread_barrierattr_destroy(a) == 0)
#define xpthread_barrierattr_setpshared(a, v)                                  \
	stub_must(pthread_barrierattr_setpshared(a, v) == 0)
#define xpthread_kill(t, s) stub_must(pthread_kill(t, s) == 0)
#define xpthread_cancel(t) stub_must(pthread_cancel(t) == 0)
#define xsysconf(name) sysconf(name)
#define xmunmap(at, size) stub_must(munmap(at, size) == 0)
#define xmprotect(at, size, how) stub_must(mprotect(at, size, how) == 0)
#define xwaitpid(pid, status, how) stub_must(waitpid(pid, status, how) == (pid))

static inline pthread_t
xpthread_create(pthread_attr_t *attributes, void *(*run)(void *),
		void *argument)
{
	pthread_t thread;

	stub_must(pthread_create(&thread, attributes, run, argument) == 0);
	return thread;
}

static inline void *
xpthread_join(pthread_t thread)
{
	void *result = NULL;

	stub_must(pthread_join(thread, &result) == 0);
	return result;
}

static inline void *
xmalloc(size_t size)
{
	void *block = malloc(size);

	stub_must(block != NULL);
	return block;
}

static inline void *
xcalloc(size_t count, size_t size)
{
	void *block = calloc(count, size);

	stub_must(block != NULL);
	return block;
}

static inline pid_t
xfork(void)
{
	const pid_t child = fork();

	stub_must(child >= 0);
	return child;
}

static inline void *
xmmap(void *at, size_t size, int protection, int flags, int fd)
{
	void *got = mmap(at, size, protection, flags, fd, 0);

	stub_must(got != MAP_FAILED);
	return got;
}

static inline void *
support_shared_allocate(size_t size)
{
	return xmmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1);
}

static inline void
support_shared_free(void *at)
{
	(void)at; /* until the end */
}

static inline int
create_temp_file(const char *name, char **ret_path)
{
	char *path = NULL;
	int fd = -1;

	stub_must(asprintf(&path, "%s-XXXXXX", name) > 0);
	fd = mkstemp(path);
	stub_must(fd >= 0);
	if (ret_path != NULL)
		*ret_path = path;
	return fd;
}

static inline void
write_message(const char *text)
{
	const ssize_t written = write(STDOUT_FILENO, text, strlen(text));

	(void)written;
}

#define xsignal(number, handler) stub_must(signal(number, handler) != SIG_ERR)
#define xsigaction(number, new, old) stub_must(sigaction(number, new, old) == 0)
#define xpthread_sigmask(how, new, old)                                        \
	stub_must(pthread_sigmask(how, new, old) == 0)

static inline void
support_record_failure(void)
{
	stub_failures++;
}

#endif

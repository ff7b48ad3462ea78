/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stall.c - a library to preload that makes a folder hang like a dead network
 * share, where no file system can be mounted (else: stall_fs.c).
 *
 * While the file $ROTARY_STALL_SWITCH exists, each call that would go to the
 * share waits in the thread that made it: whatever opens, looks up, lists or
 * reads below $ROTARY_STALL_PATH, by path or by a descriptor that leads there.
 * Calls go on when the file has gone. Calls through syscall() are seen too;
 * those that libc makes inside itself (fread) are not.
 *
 * A descriptor's place is asked from /proc at each call, and only while the
 * switch is on: there is no table that could be wrong, and no cost otherwise
 * but one access(). */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* A longer path is not below anything that a test makes. */
enum { TICK_NS = 2000000, PLACE_MAX = 2048 };

/* The next definition of a name, as the function type that `ret` points to. */
static void
next(const char *name, void *ret_function)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found) {
		fprintf(stderr, "rotary_stall: no %s\n", name);
		abort();
	}
	memcpy(ret_function, &found, sizeof found);
}

static long
call(long number, long a, long b, long c)
{
	static long (*real)(long, ...);

	if (!real)
		next("syscall", &real);
	return real(number, a, b, c);
}

static bool
switched_on(void)
{
	const char *path = getenv("ROTARY_STALL_SWITCH");
	int saved = errno;
	bool on = path && call(SYS_access, (long)(intptr_t)path, F_OK, 0) == 0;

	errno = saved;
	return on;
}

static bool
is_below(const char *path)
{
	const char *stalled = getenv("ROTARY_STALL_PATH");
	size_t length = stalled ? strlen(stalled) : 0;

	return length && !strncmp(path, stalled, length) &&
	       (path[length] == '/' || path[length] == '\0');
}

static void
hang(void)
{
	struct timespec tick = {.tv_nsec = TICK_NS};
	int saved = errno;

	while (switched_on())
		nanosleep(&tick, NULL);
	errno = saved;
}

/* Where a descriptor leads; AT_FDCWD: the current folder. */
static bool
place(int fd, char path[PLACE_MAX])
{
	char link[64];
	int saved = errno;

	if (fd == AT_FDCWD)
		snprintf(link, sizeof link, "/proc/self/cwd");
	else
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	long n = call(SYS_readlink, (long)(intptr_t)link, (long)(intptr_t)path,
		      PLACE_MAX - 1);
	errno = saved;
	if (n < 0)
		return false;
	path[n] = '\0';
	return true;
}

static void
meet_fd(int fd)
{
	char path[PLACE_MAX];

	if (fd >= 0 && switched_on() && place(fd, path) && is_below(path))
		hang();
}

static void
meet_path(int fd, const char *name)
{
	char path[PLACE_MAX];

	if (!name || !switched_on())
		return;
	if (name[0] == '/') {
		if (is_below(name))
			hang();
		return;
	}
	if (!place(fd, path))
		return;
	size_t length = strlen(path);
	while (name[0] == '.' && (name[1] == '/' || !name[1]))
		name += name[1] ? 2 : 1;
	if (*name)
		snprintf(path + length, sizeof path - length, "/%s", name);
	if (is_below(path))
		hang();
}

static mode_t
mode_of(int flags, va_list arguments)
{
	if (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))
		return va_arg(arguments, mode_t);
	return 0;
}

int
open(const char *path, int flags, ...)
{
	static int (*real)(const char *, int, ...);
	va_list arguments;

	va_start(arguments, flags);
	mode_t mode = mode_of(flags, arguments);
	va_end(arguments);
	if (!real)
		next("open", &real);
	meet_path(AT_FDCWD, path);
	return real(path, flags, mode);
}

int
openat(int fd, const char *path, int flags, ...)
{
	static int (*real)(int, const char *, int, ...);
	va_list arguments;

	va_start(arguments, flags);
	mode_t mode = mode_of(flags, arguments);
	va_end(arguments);
	if (!real)
		next("openat", &real);
	meet_path(fd, path);
	return real(fd, path, flags, mode);
}

/* On 64-bit Linux the names with 64 are the same functions. */
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int fd, const char *path, int flags, ...)
	__attribute__((alias("openat")));

FILE *
fopen(const char *path, const char *mode)
{
	static FILE *(*real)(const char *, const char *);

	if (!real)
		next("fopen", &real);
	meet_path(AT_FDCWD, path);
	return real(path, mode);
}

DIR *
opendir(const char *path)
{
	static DIR *(*real)(const char *);

	if (!real)
		next("opendir", &real);
	meet_path(AT_FDCWD, path);
	return real(path);
}

struct dirent *
readdir(DIR *dir)
{
	static struct dirent *(*real)(DIR *);

	if (!real)
		next("readdir", &real);
	meet_fd(dirfd(dir));
	return real(dir);
}

struct dirent64 *
readdir64(DIR *dir)
{
	static struct dirent64 *(*real)(DIR *);

	if (!real)
		next("readdir64", &real);
	meet_fd(dirfd(dir));
	return real(dir);
}

int
stat(const char *path, struct stat *ret_stat)
{
	static int (*real)(const char *, struct stat *);

	if (!real)
		next("stat", &real);
	meet_path(AT_FDCWD, path);
	return real(path, ret_stat);
}

int
lstat(const char *path, struct stat *ret_stat)
{
	static int (*real)(const char *, struct stat *);

	if (!real)
		next("lstat", &real);
	meet_path(AT_FDCWD, path);
	return real(path, ret_stat);
}

int
fstat(int fd, struct stat *ret_stat)
{
	static int (*real)(int, struct stat *);

	if (!real)
		next("fstat", &real);
	meet_fd(fd);
	return real(fd, ret_stat);
}

int
fstatat(int fd, const char *path, struct stat *ret_stat, int flags)
{
	static int (*real)(int, const char *, struct stat *, int);

	if (!real)
		next("fstatat", &real);
	meet_path(fd, path);
	return real(fd, path, ret_stat, flags);
}

int
statx(int fd, const char *path, int flags, unsigned mask,
      struct statx *ret_statx)
{
	static int (*real)(int, const char *, int, unsigned, struct statx *);

	if (!real)
		next("statx", &real);
	meet_path(fd, path);
	return real(fd, path, flags, mask, ret_statx);
}

int
access(const char *path, int mode)
{
	static int (*real)(const char *, int);

	if (!real)
		next("access", &real);
	meet_path(AT_FDCWD, path);
	return real(path, mode);
}

ssize_t
read(int fd, void *memory, size_t bytes)
{
	static ssize_t (*real)(int, void *, size_t);

	if (!real)
		next("read", &real);
	meet_fd(fd);
	return real(fd, memory, bytes);
}

ssize_t
pread(int fd, void *memory, size_t bytes, off_t offset)
{
	static ssize_t (*real)(int, void *, size_t, off_t);

	if (!real)
		next("pread", &real);
	meet_fd(fd);
	return real(fd, memory, bytes, offset);
}

ssize_t pread64(int fd, void *memory, size_t bytes, off_t offset)
	__attribute__((alias("pread")));

ssize_t
readv(int fd, const struct iovec *vectors, int count)
{
	static ssize_t (*real)(int, const struct iovec *, int);

	if (!real)
		next("readv", &real);
	meet_fd(fd);
	return real(fd, vectors, count);
}

long
syscall(long number, ...)
{
	static long (*real)(long, ...);
	va_list arguments;
	long a[6];

	/* All six, as the C library does: more are never looked at. */
	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if (!real)
		next("syscall", &real);
	if (number == SYS_openat2 || number == SYS_openat ||
	    number == SYS_statx || number == SYS_newfstatat)
		meet_path((int)a[0], (const char *)(intptr_t)a[1]);
	else if (number == SYS_read || number == SYS_pread64 ||
		 number == SYS_getdents64)
		meet_fd((int)a[0]);
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/rt/syscall_name.h"

#include <stddef.h>
#include <sys/syscall.h>

static const struct {
	long number;
	const char *name;
} names[] = {
#define NAME(name)                                                             \
	{                                                                      \
		SYS_##name, #name                                              \
	}
	NAME(accept4),
	NAME(bind),
	NAME(brk),
	NAME(clock_gettime),
	NAME(clock_nanosleep),
	NAME(clone),
	NAME(clone3),
	NAME(close),
	NAME(connect),
	NAME(dup),
	NAME(epoll_ctl),
	NAME(epoll_pwait),
	NAME(eventfd2),
	NAME(execve),
	NAME(exit),
	NAME(exit_group),
	NAME(faccessat),
	NAME(fcntl),
	NAME(fdatasync),
	NAME(fstat),
	NAME(fsync),
	NAME(ftruncate),
	NAME(futex),
	NAME(getcpu),
	NAME(getdents64),
	NAME(getpid),
	NAME(getppid),
	NAME(getpriority),
	NAME(getrandom),
	NAME(getrusage),
	NAME(gettid),
	NAME(gettimeofday),
	NAME(getuid),
	NAME(ioctl),
	NAME(kill),
	NAME(lseek),
	NAME(madvise),
	NAME(membarrier),
	NAME(memfd_create),
	NAME(mlock),
	NAME(mlock2),
	NAME(mmap),
	NAME(mprotect),
	NAME(mremap),
	NAME(munlock),
	NAME(munmap),
	NAME(nanosleep),
	NAME(newfstatat),
	NAME(openat),
	NAME(pipe2),
	NAME(ppoll),
	NAME(prctl),
	NAME(pread64),
	NAME(prlimit64),
	NAME(pselect6),
	NAME(pwrite64),
	NAME(read),
	NAME(readlinkat),
	NAME(readv),
	NAME(recvfrom),
	NAME(recvmsg),
	NAME(rt_sigaction),
	NAME(rt_sigprocmask),
	NAME(rt_sigtimedwait),
	NAME(sched_getaffinity),
	NAME(sched_getparam),
	NAME(sched_getscheduler),
	NAME(sched_setaffinity),
	NAME(sched_setscheduler),
	NAME(sched_yield),
	NAME(sendmsg),
	NAME(sendto),
	NAME(setpriority),
	NAME(shutdown),
	NAME(socket),
	NAME(statx),
	NAME(sysinfo),
	NAME(tgkill),
	NAME(timer_create),
	NAME(timer_delete),
	NAME(timer_settime),
	NAME(timerfd_settime),
	NAME(uname),
	NAME(unlinkat),
	NAME(write),
	NAME(writev),
#ifdef SYS_poll
	NAME(access),
	NAME(epoll_wait),
	NAME(fork),
	NAME(lstat),
	NAME(open),
	NAME(poll),
	NAME(readlink),
	NAME(select),
	NAME(stat),
	NAME(unlink),
	NAME(vfork),
#endif
#undef NAME
};

const char *
syscall_name(long number)
{
	size_t i = 0;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == number)
			return names[i].name;
	return NULL;
}

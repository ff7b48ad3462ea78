/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machine.c - asks the kernel in ways that only the real one answers. */
#include "tests/kit/machine.h"

#include <linux/seccomp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

size_t
machine_page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

bool
machine_has_seccomp(void)
{
	const uint32_t action = SECCOMP_RET_TRAP;

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
		return true;
	printf("# skipped: no seccomp filters here\n");
	return false;
}

bool
machine_heeds_advice(void)
{
	enum { NO_ADVICE = 12345 };
	const size_t page = machine_page_bytes();
	void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const bool heeds =
		memory != MAP_FAILED && madvise(memory, page, NO_ADVICE) != 0;

	if (memory != MAP_FAILED)
		munmap(memory, page);
	if (!heeds)
		printf("# skipped: madvise() says yes to anything here\n");
	return heeds;
}

void
machine_blockable_signals(sigset_t *ret_set)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_sigmask(SIG_SETMASK, &before, ret_set);
}

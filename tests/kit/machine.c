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

/* Whether SigBlk has this signal, as the kernel tells it of this thread. */
static bool
is_told_as_blocked(int signal_number)
{
	FILE *status = fopen("/proc/thread-self/status", "re");
	unsigned long long blocked = 0;
	char line[128];

	if (status == NULL)
		return false;
	while (fgets(line, sizeof(line), status) != NULL)
		if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
			break;
	fclose(status);
	return (blocked >> (signal_number - 1) & 1) != 0;
}

bool
machine_tells_signals(void)
{
	const int number = SIGRTMIN + 2;
	sigset_t one, before;
	bool told = false;

	sigemptyset(&one);
	pthread_sigmask(SIG_SETMASK, &one, &before);
	told = !is_told_as_blocked(number);
	sigaddset(&one, number);
	pthread_sigmask(SIG_SETMASK, &one, NULL);
	told = told && is_told_as_blocked(number);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!told)
		printf("# skipped: /proc does not tell our signals here\n");
	return told;
}

void
machine_blockable_signals(sigset_t *ret_set)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_sigmask(SIG_SETMASK, &before, ret_set);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hogs.c - each is a child that does nothing but tell how much it had; it ends
 * with the process that started it. */
#include "tests/kit/hogs.h"

#include "lib/base/clock.h"
#include "tests/kit/crew.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUSY_LOAD = 4 /* for each CPU */ };

/* Wants all of a CPU, as any program may. */
static _Noreturn void
hog(pid_t parent, ATOMIC(int64_t) * used_ns)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1); /* it had ended before that */
	for (;;)
		atomic_store_explicit(used_ns, clock_thread_cpu_ns(),
				      memory_order_relaxed);
}

void
hogs_start(struct hogs *hogs)
{
	const pid_t parent = getpid();
	cpu_set_t cpus;
	unsigned i;

	crew_check(sched_getaffinity(0, sizeof(cpus), &cpus) == 0);
	hogs->count = (unsigned)CPU_COUNT(&cpus);
	if (hogs->count > HOGS_MAX)
		hogs->count = HOGS_MAX;
	hogs->used_ns = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	crew_check(hogs->used_ns != MAP_FAILED);
	for (i = 0; i < hogs->count; i++) {
		hogs->pids[i] = fork();
		crew_check(hogs->pids[i] >= 0);
		if (hogs->pids[i] == 0)
			hog(parent, &hogs->used_ns[i]);
	}
}

void
hogs_stop(const struct hogs *hogs)
{
	unsigned i;

	for (i = 0; i < hogs->count; i++) {
		kill(hogs->pids[i], SIGKILL);
		crew_check(waitpid(hogs->pids[i], NULL, 0) == hogs->pids[i]);
	}
}

int64_t
hogs_used_ns(const struct hogs *hogs)
{
	int64_t sum_ns = 0;
	unsigned i;

	for (i = 0; i < hogs->count; i++)
		sum_ns += atomic_load(&hogs->used_ns[i]);
	return sum_ns;
}

bool
hogs_are_many(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double load = 0;

	return getloadavg(&load, 1) == 1 && load > BUSY_LOAD * (double)cpus;
}

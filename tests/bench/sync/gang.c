/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gang.c - the threads are pinned to the CPUs in turn, so that they meet. One
 * batch is a warm-up; then all go until the first that sees the time is over
 * says so. */
#include "tests/bench/sync/gang.h"

#include "lib/base/attr.h"
#include "lib/base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct gang {
	const struct gang_work *work;
	pthread_barrier_t start;
	int64_t length_ns;
	ATOMIC(bool) over;
	ATOMIC(uint64_t) batches;
	ATOMIC(uint64_t) cpu_ns;
	ATOMIC(uint64_t) wall_ns; /* of the longest */
};

struct member {
	struct gang *gang;
	unsigned index;
	pthread_t thread;
};

static void
note(struct gang *gang, uint64_t batches, int64_t cpu_ns, int64_t wall_ns)
{
	uint64_t longest = atomic_load(&gang->wall_ns);

	atomic_fetch_add(&gang->batches, batches);
	atomic_fetch_add(&gang->cpu_ns, (uint64_t)cpu_ns);
	while (longest < (uint64_t)wall_ns &&
	       !atomic_compare_exchange_weak(&gang->wall_ns, &longest,
					     (uint64_t)wall_ns))
		continue;
}

static void
work_until_over(struct member *member)
{
	struct gang *gang = member->gang;
	const struct gang_work *work = gang->work;
	const int64_t cpu_begin_ns = clock_thread_cpu_ns();
	const int64_t begin_ns = clock_now_ns();
	uint64_t batches = 0;
	int64_t now_ns;

	do {
		work->batch(work->context, member->index);
		batches++;
		now_ns = clock_now_ns();
		if (now_ns - begin_ns > gang->length_ns)
			atomic_store(&gang->over, true);
	} while (!atomic_load_explicit(&gang->over, memory_order_relaxed));
	note(gang, batches, clock_thread_cpu_ns() - cpu_begin_ns,
	     now_ns - begin_ns);
}

static void
pin(unsigned index)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(index % (unsigned)(cpus > 0 ? cpus : 1), &set);
	(void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *
member_main(void *argument)
{
	struct member *member = argument;
	const struct gang_work *work = member->gang->work;

	pin(member->index);
	if (work->begin != NULL)
		work->begin(work->context);
	work->batch(work->context, member->index);
	pthread_barrier_wait(&member->gang->start);
	work_until_over(member);
	if (work->end != NULL)
		work->end(work->context);
	return NULL;
}

void
gang_measure(const struct gang_work *work, unsigned threads, unsigned ms,
	     struct gang_cost *ret_cost)
{
	struct gang gang = {.work = work, .length_ns = ms * NS_PER_MS};
	struct member members[GANG_MAX];
	unsigned i;
	double times;

	pthread_barrier_init(&gang.start, NULL, threads);
	for (i = 0; i < threads; i++) {
		members[i].gang = &gang;
		members[i].index = i;
		if (pthread_create(&members[i].thread, NULL, member_main,
				   &members[i]) != 0)
			abort();
	}
	for (i = 0; i < threads; i++)
		pthread_join(members[i].thread, NULL);
	pthread_barrier_destroy(&gang.start);
	times = (double)atomic_load(&gang.batches) * GANG_BATCH;
	ret_cost->cpu_ns = (double)atomic_load(&gang.cpu_ns) / times;
	ret_cost->wall_ns = (double)atomic_load(&gang.wall_ns) / times;
}

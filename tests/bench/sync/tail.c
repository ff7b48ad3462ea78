/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tail.c - the waits of real-time readers.
 *
 * Two SCHED_FIFO readers wake every PERIOD_NS, pull a few times and time each
 * pull. The writer, an ordinary thread, changes members without a pause; HOGS
 * ordinary threads share its CPU, so that the scheduler takes the CPU from it
 * wherever it stands, and a reader's wake-up does where it stands on the same
 * CPU. What a pull then waits for is the point.
 *
 * A reader that gave up (a spinlock whose owner cannot run) sleeps for a
 * moment; a run ends early when that has happened GIVE_UPS_MAX times. */
#include "lib/base/attr.h"
#include "lib/base/clock.h"
#include "tests/bench/sync/bench_sync.h"
#include "tests/bench/sync/crowd.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
	READERS = 2,
	HOGS = 3,
	HOG_WORDS = 32 * 1024,
	PULLS_A_WAKE = 4,
	PRIORITY = 44,
	GIVE_UPS_MAX = 4,
};

#define PERIOD_NS (250 * NS_PER_US)
#define AFTER_GIVING_UP_NS (5 * NS_PER_MS)

struct run {
	const struct tail_spec *spec;
	struct crowd crowd;
	pthread_barrier_t start;
	ATOMIC(bool) over;
	ATOMIC(unsigned) give_ups;
	ATOMIC(bool) refused; /* SCHED_FIFO */
	uint64_t changes;     /* the writer's own */
};

struct reader {
	struct run *run;
	unsigned index;
	pthread_t thread;
	int64_t *waits_ns;
	size_t count;
	size_t most;
};

static void
pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	(void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void
sleep_until(int64_t time_ns)
{
	const struct timespec time = {time_ns / NS_PER_S, time_ns % NS_PER_S};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static void
pull_some(struct reader *reader)
{
	struct run *run = reader->run;
	const struct rival *rival = run->spec->rival;
	unsigned i;

	for (i = 0; i < PULLS_A_WAKE && reader->count < reader->most; i++) {
		const int64_t begin_ns = clock_now_ns();
		const int member = rival->pull(run->crowd.set, reader->index);
		const int64_t end_ns = clock_now_ns();

		reader->waits_ns[reader->count++] = end_ns - begin_ns;
		if (member != RIVAL_GAVE_UP)
			continue;
		atomic_fetch_add(&run->give_ups, 1);
		sleep_until(end_ns + AFTER_GIVING_UP_NS);
		return;
	}
}

static void *
read_main(void *argument)
{
	struct reader *reader = argument;
	struct run *run = reader->run;
	const struct rival *rival = run->spec->rival;
	const struct sched_param parameter = {.sched_priority = PRIORITY};
	int64_t due_ns, end_ns;

	pin(0);
	if (rival->thread_begin != NULL)
		rival->thread_begin(run->crowd.set);
	if (sched_setscheduler(0, SCHED_FIFO, &parameter) != 0)
		atomic_store(&run->refused, true);
	pthread_barrier_wait(&run->start);
	due_ns = clock_now_ns() + PERIOD_NS;
	end_ns = due_ns + run->spec->ms * NS_PER_MS;
	while (due_ns < end_ns && !atomic_load(&run->refused) &&
	       atomic_load(&run->give_ups) < GIVE_UPS_MAX) {
		sleep_until(due_ns);
		pull_some(reader);
		while (due_ns <= clock_now_ns())
			due_ns += PERIOD_NS;
	}
	if (rival->thread_end != NULL)
		rival->thread_end(run->crowd.set);
	return NULL;
}

static unsigned
cpu_of_writer(const struct run *run)
{
	return run->spec->layout == TAIL_TWO_CPUS ? 1 : 0;
}

static void *
write_main(void *argument)
{
	struct run *run = argument;
	const struct rival *rival = run->spec->rival;

	pin(cpu_of_writer(run));
	if (rival->thread_begin != NULL)
		rival->thread_begin(run->crowd.set);
	pthread_barrier_wait(&run->start);
	while (!atomic_load_explicit(&run->over, memory_order_relaxed)) {
		crowd_churn(&run->crowd);
		run->changes++;
	}
	if (rival->thread_end != NULL)
		rival->thread_end(run->crowd.set);
	return NULL;
}

static void *
hog_main(void *argument)
{
	struct run *run = argument;
	uint64_t *memory = calloc(HOG_WORDS, sizeof(*memory));
	volatile uint64_t *words = memory;
	struct dice dice = dice_seeded(run->spec->seed);

	pin(cpu_of_writer(run));
	pthread_barrier_wait(&run->start);
	while (!atomic_load_explicit(&run->over, memory_order_relaxed))
		if (words != NULL)
			words[dice_roll(&dice, HOG_WORDS)]++;
	free(memory);
	return NULL;
}

static int
compare(const void *a, const void *b)
{
	const int64_t left = *(const int64_t *)a;
	const int64_t right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

static void
report(const struct run *run, const struct reader readers[READERS])
{
	const size_t count = readers[0].count + readers[1].count;
	int64_t *waits_ns = calloc(count + 1, sizeof(*waits_ns));
	size_t i, before = 0;
	double sum = 0;

	if (waits_ns == NULL || count == 0)
		abort();
	for (i = 0; i < READERS; i++) {
		memcpy(waits_ns + before, readers[i].waits_ns,
		       readers[i].count * sizeof(*waits_ns));
		before += readers[i].count;
	}
	for (i = 0; i < count; i++)
		sum += (double)waits_ns[i];
	qsort(waits_ns, count, sizeof(*waits_ns), compare);
	printf("pulls %zu\nmean_ns %.1f\np50_ns %lld\np999_ns %lld\n", count,
	       sum / (double)count, (long long)waits_ns[count / 2],
	       (long long)waits_ns[count * 999 / 1000]);
	printf("max_ns %lld\ngave_up %u\nchanges %llu\n",
	       (long long)waits_ns[count - 1], atomic_load(&run->give_ups),
	       (unsigned long long)run->changes);
	free(waits_ns);
}

static void
start(pthread_t *thread, void *(*main)(void *argument), void *argument)
{
	if (pthread_create(thread, NULL, main, argument) != 0)
		abort();
}

static void
run_all(struct run *run, struct reader readers[READERS])
{
	pthread_t others[1 + HOGS];
	unsigned i;

	for (i = 0; i < READERS; i++)
		start(&readers[i].thread, read_main, &readers[i]);
	start(&others[0], write_main, run);
	for (i = 1; i <= HOGS; i++)
		start(&others[i], hog_main, run);
	for (i = 0; i < READERS; i++)
		pthread_join(readers[i].thread, NULL);
	atomic_store(&run->over, true);
	for (i = 0; i <= HOGS; i++)
		pthread_join(others[i], NULL);
}

int
tail_measure(const struct tail_spec *spec)
{
	static struct run run;
	static struct reader readers[READERS];
	const size_t most =
		(size_t)(spec->ms * NS_PER_MS / PERIOD_NS + 2) * PULLS_A_WAKE;
	unsigned i;

	run.spec = spec;
	crowd_init(&run.crowd, spec->rival, spec->size, spec->seed);
	pthread_barrier_init(&run.start, NULL, READERS + 1 + HOGS);
	for (i = 0; i < READERS; i++) {
		readers[i] = (struct reader){.run = &run, .index = i};
		readers[i].most = most;
		readers[i].waits_ns = calloc(most, sizeof(int64_t));
		if (readers[i].waits_ns == NULL)
			abort();
	}
	(void)mlockall(MCL_CURRENT | MCL_FUTURE);
	run_all(&run, readers);
	if (atomic_load(&run.refused))
		printf("SKIP: no right to SCHED_FIFO\n");
	else
		report(&run, readers);
	for (i = 0; i < READERS; i++)
		free(readers[i].waits_ns);
	pthread_barrier_destroy(&run.start);
	spec->rival->destroy(run.crowd.set);
	return atomic_load(&run.refused) ? 77 : 0;
}

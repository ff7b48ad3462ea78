/* SPDX-License-Identifier: GPL-3.0-or-later */
/* threads.c - workloads of two threads, each on a CPU of its own:
 * xfree and larson. */
#include "tests/bench/zone/bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum {
	LANE_PLACES = 1024,
	BENCH_PRIORITY = 10,
	XFREE_BLOCKS = 3000 * 1000,
	LARSON_BLOCKS = 1000,
	LARSON_STEPS = 20 * 1000,
	LARSON_LIVES = 40,
};

void
bench_stand_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu % (size_t)sysconf(_SC_NPROCESSORS_CONF), &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

void
bench_stand(int cpu)
{
	const struct sched_param param = {.sched_priority = BENCH_PRIORITY};
	const char *fifo = getenv("BENCH_FIFO");

	bench_stand_on(cpu);
	if (fifo == NULL || strcmp(fifo, "0") != 0)
		(void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
}

/* Places of blocks from one thread to one other; NULL: empty. */
struct lane {
	_Alignas(128) _Atomic(void *) places[LANE_PLACES];
};

struct porter {
	struct lane *out, *in; /* NULL: this way goes nothing */
	uint64_t seed;
	int cpu;
};

static void *
carry(void *argument)
{
	const struct porter *porter = argument;
	struct dice dice = dice_seeded(porter->seed);
	unsigned sent = porter->out != NULL ? 0 : XFREE_BLOCKS;
	unsigned got = porter->in != NULL ? 0 : XFREE_BLOCKS;

	bench_stand(porter->cpu);
	while (sent < XFREE_BLOCKS || got < XFREE_BLOCKS) {
		bool moved = false;

		while (sent < XFREE_BLOCKS &&
		       atomic_load_explicit(
			       &porter->out->places[sent % LANE_PLACES],
			       memory_order_relaxed) == NULL) {
			char *block = malloc(16 + dice_roll(&dice, 240));

			*(volatile char *)block = 1;
			atomic_store_explicit(
				&porter->out->places[sent % LANE_PLACES], block,
				memory_order_release);
			sent++;
			moved = true;
		}
		while (got < XFREE_BLOCKS) {
			_Atomic(void *) *place =
				&porter->in->places[got % LANE_PLACES];
			void *block = atomic_load_explicit(
				place, memory_order_acquire);

			if (block == NULL)
				break;
			atomic_store_explicit(place, NULL,
					      memory_order_relaxed);
			free(block);
			got++;
			moved = true;
		}
		if (!moved)
			(void)sched_yield();
	}
	return NULL;
}

void
bench_xfree(uint64_t seed, int both_ways)
{
	static struct lane lanes[2];
	struct porter porters[2] = {{&lanes[0], NULL, seed, 0},
				    {NULL, &lanes[0], seed + 1, 1}};
	const int64_t began_ns = bench_now_ns();
	const double blocks = both_ways ? 2. * XFREE_BLOCKS : XFREE_BLOCKS;
	pthread_t threads[2];
	unsigned i;

	if (both_ways) {
		porters[0].in = &lanes[1];
		porters[1].out = &lanes[1];
	}
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, carry, &porters[i]);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	bench_say("m_per_s",
		  blocks * 1e3 / (double)(bench_now_ns() - began_ns));
	bench_say("peak_mb", bench_memory_mb("VmHWM:"));
}

struct heir {
	void *blocks[LARSON_BLOCKS];
	uint64_t seed;
	unsigned lives;
	int cpu;
};

/* P. Larson and M. Krishnan, "Memory allocation for long-running server
 * applications", 1998: blocks outlive the threads that made them. */
static void *
live(void *argument)
{
	struct heir *heir = argument;
	struct dice dice = dice_seeded(heir->seed + heir->lives);
	unsigned i;

	for (i = 0; i < LARSON_STEPS; i++) {
		void **block = &heir->blocks[dice_roll(&dice, LARSON_BLOCKS)];

		free(*block);
		*block = malloc(10 + dice_roll(&dice, 490));
		*(volatile char *)*block = 1;
	}
	return NULL;
}

static void *
found_dynasty(void *heir)
{
	struct heir *first = heir;

	bench_stand(first->cpu); /* its children after it */

	for (; first->lives < LARSON_LIVES; first->lives++) {
		pthread_t thread;

		pthread_create(&thread, NULL, live, first);
		pthread_join(thread, NULL);
	}
	return NULL;
}

void
bench_larson(uint64_t seed)
{
	static struct heir heirs[2];
	const int64_t began_ns = bench_now_ns();
	pthread_t threads[2];
	unsigned i;

	for (i = 0; i < 2; i++) {
		heirs[i].seed = seed + i * 1000;
		heirs[i].cpu = (int)i;
		pthread_create(&threads[i], NULL, found_dynasty, &heirs[i]);
	}
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	bench_say("m_per_s", 2. * LARSON_LIVES * LARSON_STEPS * 1e3 /
				     (double)(bench_now_ns() - began_ns));
	bench_say("peak_mb", bench_memory_mb("VmHWM:"));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* realtime.c - workloads of a real-time thread, each 5 ms, while a nice thread
 * of the same process allocates hard on the same CPU: rt and rt-mlock. */
#include "tests/bench/zone/bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	RT_PERIODS = 1400,
	RT_WARM_PERIODS = 20,
	RT_PERIOD_NS = 5000 * 1000,
	RT_CALLS = 120,
};

/* Ours, where it is preloaded. */
int zone_thread_realtime(bool on) __attribute__((weak));
int zone_reserve(size_t bytes) __attribute__((weak));
int zone_janitor_start(int64_t period_ns) __attribute__((weak));

static atomic_int rt_stop;

static void *
rt_load(void *unused)
{
	static void *blocks[20000];
	struct dice dice = dice_seeded(77);
	unsigned i;

	(void)unused;
	bench_stand_on(0);
	(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
	for (i = 0; !atomic_load(&rt_stop); i++) {
		void **block = &blocks[dice_roll(&dice, 20000)];
		const size_t size =
			1 + dice_roll(&dice, i % 100 == 0 ? 200000 : 2000);

		free(*block);
		*block = malloc(size);
		memset(*block, 1, size);
	}
	return NULL;
}

/* Of one period, in ticks. */
struct rt_ticks {
	uint64_t sum;     /* of the calls */
	uint64_t touched; /* the first touch of each block too */
	uint64_t worst;   /* call */
};

static void
rt_count(struct rt_ticks *ticks, uint64_t call, uint64_t touched)
{
	ticks->sum += call;
	ticks->touched += touched;
	if (call > ticks->worst)
		ticks->worst = call;
}

static struct rt_ticks
rt_period(struct dice *dice, void **blocks)
{
	struct rt_ticks ticks = {0, 0, 0};
	unsigned i;

	for (i = 0; i < RT_CALLS; i++) {
		void **block = &blocks[dice_roll(dice, 200)];
		const size_t size =
			16 + dice_roll(dice, i % 10 == 0 ? 16000 : 600);
		const uint64_t before = bench_ticks();
		uint64_t after;

		free(*block);
		*block = malloc(size);
		after = bench_ticks();
		*(volatile char *)*block = 1;
		rt_count(&ticks, after - before, bench_ticks() - before);
	}
	return ticks;
}

/* As many regions without a call in them: what the machine does to them. */
static struct rt_ticks
rt_noise(struct dice *dice)
{
	struct rt_ticks ticks = {0, 0, 0};
	unsigned i, j;

	for (i = 0; i < RT_CALLS; i++) {
		const uint64_t before = bench_ticks();
		uint64_t after;

		for (j = 0; j < 20; j++)
			(void)*(volatile uint32_t *)&(uint32_t){
				dice_roll(dice, 100)};
		after = bench_ticks();
		rt_count(&ticks, after - before, after - before);
	}
	return ticks;
}

static double
ticks_per_us(void)
{
	const int64_t began_ns = bench_now_ns();
	const uint64_t began = bench_ticks();

	while (bench_now_ns() - began_ns < 20 * 1000 * 1000)
		;
	return (double)(bench_ticks() - began) * 1e3 /
	       (double)(bench_now_ns() - began_ns);
}

struct rt_result {
	struct rusage before, after;
	struct rt_ticks worst, worst_noise; /* each the worst of all periods */
	uint64_t sums[RT_PERIODS];
	int marked;
};

static void
rt_worsen(struct rt_ticks *worst, const struct rt_ticks *ticks)
{
	if (ticks->sum > worst->sum)
		worst->sum = ticks->sum;
	if (ticks->touched > worst->touched)
		worst->touched = ticks->touched;
	if (ticks->worst > worst->worst)
		worst->worst = ticks->worst;
}

static void
rt_sleep(struct timespec *next)
{
	next->tv_nsec += RT_PERIOD_NS;
	if (next->tv_nsec >= 1000000000) {
		next->tv_nsec -= 1000000000;
		next->tv_sec++;
	}
	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

static void *
rt_main(void *argument)
{
	const struct sched_param param = {.sched_priority = 40};
	struct rt_result *result = argument;
	struct timespec next;
	struct dice dice = dice_seeded(3);
	void *blocks[200] = {NULL};
	unsigned i;

	bench_stand_on(0);
	(void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	if (zone_thread_realtime != NULL && getenv("RT_UNMARKED") == NULL)
		result->marked = zone_reserve(16 << 20) == 0 &&
				 zone_janitor_start(10000000) == 0 &&
				 zone_thread_realtime(true) == 0;
	(void)clock_gettime(CLOCK_MONOTONIC, &next);
	for (i = 0; i < RT_PERIODS; i++) {
		struct rt_ticks ticks, noise;

		if (i == RT_WARM_PERIODS)
			(void)getrusage(RUSAGE_THREAD, &result->before);
		ticks = rt_period(&dice, blocks);
		noise = rt_noise(&dice);
		result->sums[i] = ticks.sum;
		if (i >= RT_WARM_PERIODS) {
			rt_worsen(&result->worst, &ticks);
			rt_worsen(&result->worst_noise, &noise);
		}
		rt_sleep(&next);
	}
	(void)getrusage(RUSAGE_THREAD, &result->after);
	return NULL;
}

static int
by_value(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a;
	const uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

void
bench_rt(uint64_t seed)
{
	static struct rt_result result;
	const double per_us = ticks_per_us();
	pthread_t load, thread;

	(void)seed;
	memset(&result, 1, sizeof(result)); /* its faults are not the calls' */
	memset(&result, 0, sizeof(result));
	pthread_create(&load, NULL, rt_load, NULL);
	pthread_create(&thread, NULL, rt_main, &result);
	pthread_join(thread, NULL);
	atomic_store(&rt_stop, 1);
	pthread_join(load, NULL);
	qsort(result.sums, RT_PERIODS, sizeof(result.sums[0]), by_value);
	bench_say("period_p50_us",
		  (double)result.sums[RT_PERIODS / 2] / per_us);
	bench_say("worst_period_us", (double)result.worst.sum / per_us);
	bench_say("worst_touched_us", (double)result.worst.touched / per_us);
	bench_say("worst_call", (double)result.worst.worst);
	bench_say("noise_period_us", (double)result.worst_noise.sum / per_us);
	bench_say("noise_call", (double)result.worst_noise.worst);
	bench_say("minor_faults",
		  (double)(result.after.ru_minflt - result.before.ru_minflt));
	bench_say("marked", result.marked);
	bench_say("peak_mb", bench_memory_mb("VmHWM:"));
}

void
bench_rt_locked(uint64_t seed)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		exit(1);
	bench_rt(seed);
}

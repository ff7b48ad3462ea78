/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench.h - what the workloads share: ticks, chance, histograms, memory, and
 * the line that tells a figure. Header only, one program.
 *
 * Ticks are the processor's own counter, nanoseconds where there is none. A
 * measured region costs some of them itself: the noise of an empty one is told
 * beside the figures. */
#ifndef ROTARY_BENCH_ZONE_BENCH_H
#define ROTARY_BENCH_ZONE_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/kit/dice.h"

enum { BENCH_BINS = 1 << 16, BENCH_PAGE = 4096 };

static inline int64_t
bench_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline uint64_t
bench_ticks(void)
{
#if defined(__x86_64__)
	unsigned unused;

	return __builtin_ia32_rdtscp(&unused);
#else
	return (uint64_t)bench_now_ns();
#endif
}

/* Not from malloc. */
static inline void *
bench_map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (at == MAP_FAILED)
		exit(1);
	return at;
}

/* 4 ticks a bin; beyond them each doubling has one, told by its upper end. */
struct bench_histogram {
	uint64_t bins[BENCH_BINS];
	uint64_t over[64];
	uint64_t count, sum, worst;
	uint64_t cut_count, cut_sum; /* without those over 50,000 ticks */
};

static inline void
bench_add(struct bench_histogram *histogram, uint64_t ticks)
{
	histogram->count++;
	histogram->sum += ticks;
	if (ticks < 50000) {
		histogram->cut_count++;
		histogram->cut_sum += ticks;
	}
	if (ticks > histogram->worst)
		histogram->worst = ticks;
	if (ticks / 4 < BENCH_BINS)
		histogram->bins[ticks / 4]++;
	else
		histogram->over[63 - __builtin_clzll(ticks)]++;
}

static inline uint64_t
bench_quantile(const struct bench_histogram *histogram, double part)
{
	const uint64_t rank = (uint64_t)((double)histogram->count * part);
	uint64_t seen = 0;
	unsigned i;

	for (i = 0; i < BENCH_BINS; i++) {
		seen += histogram->bins[i];
		if (seen > rank)
			return 4 * (uint64_t)i;
	}
	for (i = 0; i < 64; i++) {
		seen += histogram->over[i];
		if (seen > rank)
			return UINT64_C(2) << i;
	}
	return histogram->worst;
}

static inline double
bench_mean(const struct bench_histogram *histogram)
{
	return (double)histogram->sum /
	       (double)(histogram->count + (histogram->count == 0));
}

static inline double
bench_cut_mean(const struct bench_histogram *histogram)
{
	return (double)histogram->cut_sum /
	       (double)(histogram->cut_count + (histogram->cut_count == 0));
}

static inline void
bench_say(const char *name, double value)
{
	printf("%s %.3f\n", name, value);
}

/* VmHWM or VmRSS, MB. */
static inline double
bench_memory_mb(const char *name)
{
	char line[256];
	double value = 0;
	FILE *file = fopen("/proc/self/status", "re");

	if (file == NULL)
		return 0;
	while (fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtod(line + strlen(name), NULL) / 1024;
	(void)fclose(file);
	return value;
}

/* On a machine that does other things as well, a figure is only worth telling
 * of a thread that is not interrupted: stands on this CPU, and is SCHED_FIFO
 * where that is allowed and BENCH_FIFO is not 0. */
void bench_stand(int cpu);
void bench_stand_on(int cpu); /* only that */

void bench_storm(uint64_t seed, unsigned purge_each);
void bench_churn(uint64_t seed, unsigned realloc_percent);
void bench_reall(uint64_t seed);
void bench_frag(uint64_t seed);
void bench_xfree(uint64_t seed, int both_ways);
void bench_larson(uint64_t seed);
void bench_rt(uint64_t seed);
void bench_rt_locked(uint64_t seed);
void bench_sizes(uint64_t seed);
void bench_tree(uint64_t seed);
void bench_spawn(uint64_t seed);
void bench_nothing(uint64_t seed);
void bench_age(uint64_t seed);
void bench_hot(uint64_t seed);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timer.c - preloaded before an allocator, takes the time of each call of it,
 * for programs that are not ours. At the end of the process it prints what it
 * saw, to the file descriptor in ZONE_TIMER_FD, or to none. One thread. */
#include "tests/bench/zone/bench.h"

#include <dlfcn.h>

static struct {
	void *(*take)(size_t size);
	void *(*take_zeroed)(size_t count, size_t size);
	void *(*resize)(void *block, size_t size);
	void (*give)(void *block);
} next;

static struct bench_histogram takes, zeroed, resizes, gives;

/* What dlsym() itself asks for. Never freed. */
static char early[4096] __attribute__((aligned(16)));
static size_t early_used;

static void *
take_early(size_t size)
{
	void *block = early + early_used;

	early_used += (size + 15) / 16 * 16;
	return early_used <= sizeof(early) ? block : NULL;
}

static int
is_early(const void *block)
{
	return (uintptr_t)block - (uintptr_t)early < sizeof(early);
}

static void
find(void)
{
	static int finding;

	if (finding)
		return;
	finding = 1;
	next.take_zeroed = (void *(*)(size_t, size_t))(uintptr_t)dlsym(
		RTLD_NEXT, "calloc");
	next.resize = (void *(*)(void *, size_t))(uintptr_t)dlsym(RTLD_NEXT,
								  "realloc");
	next.give = (void (*)(void *))(uintptr_t)dlsym(RTLD_NEXT, "free");
	next.take = (void *(*)(size_t))(uintptr_t)dlsym(RTLD_NEXT, "malloc");
	finding = 0;
}

void *
malloc(size_t size)
{
	uint64_t before;
	void *block;

	if (next.take == NULL)
		find();
	if (next.take == NULL)
		return take_early(size);
	before = bench_ticks();
	block = next.take(size);
	bench_add(&takes, bench_ticks() - before);
	return block;
}

void *
calloc(size_t count, size_t size)
{
	uint64_t before;
	void *block;

	if (next.take == NULL)
		find();
	if (next.take == NULL)
		return take_early(count * size);
	before = bench_ticks();
	block = next.take_zeroed(count, size);
	bench_add(&zeroed, bench_ticks() - before);
	return block;
}

void *
realloc(void *block, size_t size)
{
	uint64_t before;
	void *moved;

	if (next.take == NULL)
		find();
	before = bench_ticks();
	moved = next.resize(block, size);
	bench_add(&resizes, bench_ticks() - before);
	return moved;
}

void
free(void *block)
{
	uint64_t before;

	if (block == NULL || is_early(block))
		return;
	if (next.take == NULL)
		find();
	before = bench_ticks();
	next.give(block);
	bench_add(&gives, bench_ticks() - before);
}

static void
tell(FILE *file, const char *name, const struct bench_histogram *histogram)
{
	fprintf(file, "%s_calls %.0f\n", name, (double)histogram->count);
	fprintf(file, "%s_p99.99 %.0f\n", name,
		(double)bench_quantile(histogram, .9999));
}

__attribute__((destructor)) static void
tell_all(void)
{
	const uint64_t sum = takes.sum + zeroed.sum + resizes.sum + gives.sum;
	const uint64_t cut = takes.cut_sum + zeroed.cut_sum + resizes.cut_sum +
			     gives.cut_sum;
	const char *fd = getenv("ZONE_TIMER_FD");
	FILE *file = fd != NULL ? fdopen(atoi(fd), "w") : NULL;

	if (file == NULL)
		return;
	tell(file, "malloc", &takes);
	tell(file, "calloc", &zeroed);
	tell(file, "realloc", &resizes);
	tell(file, "free", &gives);
	fprintf(file, "mticks %.3f\nmticks_cut %.3f\n", (double)sum / 1e6,
		(double)cut / 1e6);
	fflush(file);
}

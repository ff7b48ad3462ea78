/* SPDX-License-Identifier: GPL-3.0-or-later */
/* single.c - workloads of one thread: storm, churn, reall, frag, sizes. */
#include "tests/bench/zone/bench.h"

#include <stdbool.h>

enum {
	STORM_CALLS = 7500 * 1000,
	STORM_PURGE_PERCENT = 40,
	CHURN_SLOTS = 4096,
	CHURN_STEPS = 4000 * 1000,
	FRAG_BYTES = 64 << 20,
};

struct storm {
	struct bench_histogram take, touch, give, noise;
	struct bench_histogram warm_take, warm_give; /* of the second half */
	bool warm;
};

/* Frees so many of the live blocks, chosen at random. */
static unsigned
purge(struct storm *storm, struct dice *dice, void **live, unsigned count)
{
	unsigned frees =
		(unsigned)((uint64_t)count * STORM_PURGE_PERCENT / 100);

	for (; frees > 0; frees--) {
		const unsigned i = dice_roll(dice, count);
		/* its way from memory is not the allocator's */
		void *volatile block = live[i];
		const uint64_t before = bench_ticks();
		uint64_t ticks;

		free(block);
		ticks = bench_ticks() - before;
		bench_add(&storm->give, ticks);
		if (storm->warm)
			bench_add(&storm->warm_give, ticks);
		count--;
		live[i] = live[count];
	}
	return count;
}

static void
say_storm(const struct storm *storm)
{
	const double noise = bench_mean(&storm->noise);

	bench_say("sum_net", bench_mean(&storm->take) +
				     bench_mean(&storm->touch) +
				     bench_mean(&storm->give) - 3 * noise);
	bench_say("sum_cut", bench_cut_mean(&storm->take) +
				     bench_cut_mean(&storm->touch) +
				     bench_cut_mean(&storm->give) -
				     3 * bench_cut_mean(&storm->noise));
	bench_say("malloc_net", bench_mean(&storm->take) - noise);
	bench_say("free_net", bench_mean(&storm->give) - noise);
	bench_say("malloc_cut",
		  bench_cut_mean(&storm->take) - bench_cut_mean(&storm->noise));
	bench_say("malloc_p99", (double)bench_quantile(&storm->take, .99));
	bench_say("malloc_p99.9", (double)bench_quantile(&storm->take, .999));
	bench_say("malloc_p99.99", (double)bench_quantile(&storm->take, .9999));
	bench_say("free_p99.9", (double)bench_quantile(&storm->give, .999));
	bench_say("free_p99.99", (double)bench_quantile(&storm->give, .9999));
	bench_say("warm_malloc_p99.99",
		  (double)bench_quantile(&storm->warm_take, .9999));
	bench_say("warm_free_p99.99",
		  (double)bench_quantile(&storm->warm_give, .9999));
	bench_say("noise_p99.9", (double)bench_quantile(&storm->noise, .999));
	bench_say("noise_p99.99", (double)bench_quantile(&storm->noise, .9999));
	bench_say("peak_mb", bench_memory_mb("VmHWM:"));
}

void
bench_storm(uint64_t seed, unsigned purge_each)
{
	struct storm *storm = bench_map(sizeof(*storm));
	void **live = bench_map(sizeof(*live) * 4 * (size_t)purge_each);
	struct dice dice = dice_seeded(seed);
	unsigned count = 0, i;

	for (i = 0; i < STORM_CALLS; i++) {
		const size_t size = 1 + dice_roll(&dice, 512);
		const uint64_t first = bench_ticks();
		char *block = malloc(size);
		const uint64_t second = bench_ticks();

		*(volatile char *)block = 1;
		bench_add(&storm->touch, bench_ticks() - second);
		bench_add(&storm->take, second - first);
		storm->warm = i >= STORM_CALLS / 2;
		if (storm->warm)
			bench_add(&storm->warm_take, second - first);
		live[count] = block;
		count++;
		if (i % purge_each == purge_each - 1)
			count = purge(storm, &dice, live, count);
		if (i % 8 == 0) {
			const uint64_t before = bench_ticks();

			bench_add(&storm->noise, bench_ticks() - before);
		}
	}
	say_storm(storm);
}

/* Between 8 bytes and 64 KiB, each doubling as likely as the next. */
static size_t
log_size(struct dice *dice)
{
	const unsigned k = 3 + dice_roll(dice, 13);

	return ((size_t)1 << k) + dice_roll(dice, 1u << k);
}

void
bench_churn(uint64_t seed, unsigned realloc_percent)
{
	static char *slots[CHURN_SLOTS];
	struct dice dice = dice_seeded(seed);
	const int64_t began_ns = bench_now_ns();
	unsigned i;

	for (i = 0; i < CHURN_STEPS; i++) {
		char **slot = &slots[dice_roll(&dice, CHURN_SLOTS)];
		const size_t size = log_size(&dice);

		if (dice_roll(&dice, 100) < realloc_percent) {
			*slot = realloc(*slot, size);
		} else {
			free(*slot);
			*slot = malloc(size);
		}
		*(volatile char *)*slot = 1;
	}
	bench_say("ns", (double)(bench_now_ns() - began_ns) / CHURN_STEPS);
	bench_say("peak_mb", bench_memory_mb("VmHWM:"));
}

static void
touch_pages(char *block, size_t from, size_t size)
{
	for (; from < size; from += BENCH_PAGE)
		*(volatile char *)(block + from) = 1;
}

void
bench_reall(uint64_t seed)
{
	struct dice dice = dice_seeded(seed);
	char *slots[32] = {NULL};
	int64_t began_ns = bench_now_ns();
	unsigned round, i;
	size_t size;

	for (round = 0; round < 16; round++) {
		char *block = NULL;

		for (size = 1000; size < 4u << 20; size += 1000) {
			block = realloc(block, size);
			block[size - 1] = 1;
		}
		free(block);
	}
	bench_say("grow_ms", (double)(bench_now_ns() - began_ns) / 1e6);
	began_ns = bench_now_ns();
	for (i = 0; i < 400 * 1000; i++) {
		char **slot = &slots[dice_roll(&dice, 32)];

		size = 1 + dice_roll(&dice, 1u << (6 + dice_roll(&dice, 13)));
		*slot = realloc(*slot, size);
		touch_pages(*slot, 0, size);
	}
	bench_say("random_ns",
		  (double)(bench_now_ns() - began_ns) / (400 * 1000));
	bench_say("peak_mb", bench_memory_mb("VmHWM:"));
}

struct frag {
	void **kept;
	size_t *sizes;
	size_t live;
	unsigned count;
};

/* Frees all but so many in a thousand. */
static void
thin_out(struct frag *frag, struct dice *dice, unsigned first, unsigned spared)
{
	unsigned i;

	for (i = first; i < frag->count; i++)
		if (frag->kept[i] != NULL && dice_roll(dice, 1000) >= spared) {
			free(frag->kept[i]);
			frag->kept[i] = NULL;
			frag->live -= frag->sizes[i];
		}
}

/* Waves of one size each, of which one block in eight is kept, at random; at
 * the end four in eleven of those. */
void
bench_frag(uint64_t seed)
{
	enum { WAVES = 12, BLOCKS_MAX = 2 << 20 };
	struct frag frag = {bench_map(sizeof(void *) * BLOCKS_MAX),
			    bench_map(sizeof(size_t) * BLOCKS_MAX), 0, 0};
	struct dice dice = dice_seeded(seed);
	const double before = bench_memory_mb("VmRSS:");
	unsigned wave, i;
	double live_mb;

	for (wave = 0; wave < WAVES; wave++) {
		const size_t size = (size_t)24 << wave;
		const unsigned first = frag.count;
		const unsigned blocks =
			(unsigned)(FRAG_BYTES / WAVES / size) + 1;

		for (i = 0; i < blocks; i++, frag.count++) {
			frag.kept[frag.count] = malloc(size);
			frag.sizes[frag.count] = size;
			frag.live += size;
			memset(frag.kept[frag.count], 1, size);
		}
		thin_out(&frag, &dice, first, 125);
	}
	live_mb = (double)frag.live / 1048576;
	bench_say("peak_per_live",
		  (bench_memory_mb("VmHWM:") - before) / live_mb);
	thin_out(&frag, &dice, 0, 364);
	live_mb = (double)frag.live / 1048576;
	bench_say("end_per_live",
		  (bench_memory_mb("VmRSS:") - before) / live_mb);
}

/* Ticks of a pair of malloc and free against the size, warm. */
void
bench_sizes(uint64_t seed)
{
	enum { PAIRS = 200, BATCH = 32 };
	size_t size;

	(void)seed;
	for (size = 16; size <= 4u << 20; size *= 2) {
		void *blocks[BATCH];
		char name[32];
		uint64_t ticks;
		unsigned i, j;

		ticks = bench_ticks();
		for (i = 0; i < PAIRS; i++) {
			for (j = 0; j < BATCH; j++) {
				blocks[j] = malloc(size);
				*(volatile char *)blocks[j] = 1;
			}
			for (j = 0; j < BATCH; j++)
				free(blocks[j]);
		}
		ticks = (bench_ticks() - ticks) / (PAIRS * BATCH);
		(void)snprintf(name, sizeof(name), "size_%zu", size);
		bench_say(name, (double)ticks);
	}
}

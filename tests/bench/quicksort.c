/* SPDX-License-Identifier: GPL-3.0-or-later */
/* quicksort: sorts a file mapping that is larger than the memory it may use,
 * to keep the kernel busy reading pages in and writing them back.
 *
 *   quicksort FILE MIB SEED SECONDS
 *
 * Fills FILE with MIB of seeded random numbers and sorts them in place, in the
 * mapping (MAP_SHARED), until SECONDS are over; a file that is sorted before is
 * checked, filled anew and sorted again. With 0 SECONDS it is sorted once.
 *
 * Depth first, all but the first passes would fit into memory. So what is left
 * to do is a heap of spans of which a random one is next: any page may be
 * needed at any time. Only a span of a few pages is finished at once.
 *
 *   life cycle: fill -> { take a span -> split it -> put back both }* -> check
 *   invariant:  spans + bytes in their place = the whole file
 *
 * Prints "sorted MIB split MIB files N": in their final place, passed over by
 * a split, and finished from end to end. Exit: 0, 1 (not sorted, or no file),
 * 2 (usage). */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	SMALL_WORDS = 16 * 1024,
	SPANS_MAX = 65536,
	MIB_MAX = 65536, /* SPANS_MAX spans of SMALL_WORDS and more */
	DEPTH_MAX = 64,  /* of halves, smaller first: log2 of any size */
};

#define MIB (1024.0 * 1024.0)

struct span {
	size_t begin, end;
};

struct sort {
	uint32_t *words;
	size_t count;
	uint64_t random;
	struct span spans[SPANS_MAX];
	size_t span_count;
	uint64_t placed_words, split_words;
	unsigned files;
};

static volatile sig_atomic_t over;

static void
on_alarm(int number)
{
	(void)number;
	over = 1;
}

static uint64_t
next_random(struct sort *sort)
{
	sort->random ^= sort->random << 13;
	sort->random ^= sort->random >> 7;
	sort->random ^= sort->random << 17;
	return sort->random;
}

static void
swap(uint32_t *words, size_t a, size_t b)
{
	const uint32_t kept = words[a];

	words[a] = words[b];
	words[b] = kept;
}

/* Splits a span of two words or more in two that are not empty, none of the
 * first greater than one of the second. Returns the begin of the second; what
 * it returns once over is set is of no use. */
static size_t
split(struct sort *sort, const struct span *span)
{
	uint32_t *words = sort->words;
	const size_t length = span->end - span->begin;
	size_t left = span->begin;
	size_t right = span->end - 1;
	uint32_t pivot;

	/* A pivot at the begin keeps the second half from being empty. */
	swap(words, left, left + (size_t)(next_random(sort) % length));
	pivot = words[left];
	sort->split_words += length;
	while (!over) {
		while (words[left] < pivot)
			left++;
		while (words[right] > pivot)
			right--;
		if (left >= right)
			break;
		swap(words, left++, right--);
	}
	return right + 1;
}

/* The larger half waits, so that the stack stays small. */
static void
finish_span(struct sort *sort, struct span span)
{
	struct span waiting[DEPTH_MAX];
	size_t depth = 0;

	while (!over) {
		size_t middle;

		if (span.end - span.begin < 2) {
			sort->placed_words += span.end - span.begin;
			if (depth == 0)
				return;
			span = waiting[--depth];
			continue;
		}
		middle = split(sort, &span);
		if (middle - span.begin < span.end - middle) {
			waiting[depth++] = (struct span){middle, span.end};
			span.end = middle;
		} else {
			waiting[depth++] = (struct span){span.begin, middle};
			span.begin = middle;
		}
	}
}

static void
put_span(struct sort *sort, size_t begin, size_t end)
{
	const struct span span = {begin, end};

	if (end - begin <= SMALL_WORDS || sort->span_count == SPANS_MAX)
		finish_span(sort, span);
	else
		sort->spans[sort->span_count++] = span;
}

static struct span
take_span(struct sort *sort)
{
	const size_t index = (size_t)(next_random(sort) % sort->span_count);
	const struct span span = sort->spans[index];

	sort->spans[index] = sort->spans[--sort->span_count];
	return span;
}

static void
fill(struct sort *sort)
{
	size_t i;

	for (i = 0; i < sort->count && !over; i++)
		sort->words[i] = (uint32_t)(next_random(sort) >> 32);
	sort->span_count = 0;
}

static bool
is_sorted(const struct sort *sort)
{
	size_t i;

	for (i = 1; i < sort->count && !over; i++)
		if (sort->words[i - 1] > sort->words[i])
			return false;
	return true;
}

/* False when a file that should be sorted is not. */
static bool
sort_file(struct sort *sort)
{
	fill(sort);
	put_span(sort, 0, sort->count);
	while (sort->span_count > 0 && !over) {
		const struct span span = take_span(sort);
		const size_t middle = split(sort, &span);

		if (over)
			break;
		put_span(sort, span.begin, middle);
		put_span(sort, middle, span.end);
	}
	if (over)
		return true;
	sort->files++;
	return is_sorted(sort);
}

static bool
map_file(struct sort *sort, const char *path, size_t bytes)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *mapping = MAP_FAILED;

	/* Without holes, so that no write fault finds the disk full. */
	if (fd >= 0 && posix_fallocate(fd, 0, (off_t)bytes) == 0)
		mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			       fd, 0);
	if (fd >= 0)
		close(fd);
	if (mapping == MAP_FAILED)
		return false;
	sort->words = mapping;
	sort->count = bytes / sizeof(uint32_t);
	return true;
}

int
main(int argc, char *argv[])
{
	static struct sort sort;
	const unsigned long mib = argc == 5 ? strtoul(argv[2], NULL, 10) : 0;
	const unsigned long seconds =
		argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
	bool sorted = true;

	if (mib == 0 || mib > MIB_MAX) {
		(void)fprintf(stderr,
			      "usage: quicksort FILE MIB SEED SECONDS\n");
		return 2;
	}
	if (!map_file(&sort, argv[1], mib << 20)) {
		perror(argv[1]);
		return 1;
	}
	/* No seed may give 0, from which xorshift never comes back. */
	sort.random = strtoull(argv[3], NULL, 10) * 2 + 1;
	(void)signal(SIGALRM, on_alarm);
	(void)signal(SIGTERM, on_alarm);
	(void)alarm((unsigned)seconds);
	do
		sorted = sort_file(&sort);
	while (sorted && !over && seconds > 0);
	printf("sorted %.1f split %.1f files %u\n",
	       (double)sort.placed_words * 4 / MIB,
	       (double)sort.split_words * 4 / MIB, sort.files);
	if (!sorted)
		(void)fprintf(stderr, "quicksort: out of order\n");
	munmap(sort.words, mib << 20);
	return sorted ? 0 : 1;
}

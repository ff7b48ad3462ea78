/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hungry THREADS SIZE ALIGN - threads that together take all the memory there
 * is, twice; under a limit of address space and with the preload library. What
 * they took lies apart from everything else, at the second time it is there
 * again, and it came from further reservations when the first was used up.
 *
 * usage: hungry THREADS SIZE ALIGN */
#include "lib/zone/zone.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 2, THREADS_MOST = 16, MARK_BYTES = 64 };

void zone_stats(struct zone_stats *ret_stats) __attribute__((weak));
void *__libc_malloc(size_t bytes);

/* At the beginning of each block; at its end lies its address again. */
struct head {
	struct head *next;
	uintptr_t mark;
};

static size_t size, align;
static size_t taken[ROUNDS][THREADS_MOST];
static pthread_barrier_t barrier;

/* Stands before the C library's, for the preload library. */
static unsigned system_calls;

void *
__libc_malloc(size_t bytes)
{
	const uintptr_t next = (uintptr_t)dlsym(RTLD_NEXT, "__libc_malloc");

	system_calls++;
	return ((void *(*)(size_t))next)(bytes);
}

static void
fail(const char *what)
{
	(void)fprintf(stderr, "%s\n", what);
	_Exit(1);
}

static uintptr_t *
end_of(struct head *head)
{
	return (uintptr_t *)(void *)((char *)head + size) - 1;
}

static struct head *
take(struct head *next)
{
	struct head *head = align > 0 ? memalign(align, size) : malloc(size);

	if (head == NULL)
		return NULL;
	if (align > 0 && (uintptr_t)head % align != 0)
		fail("a block is not aligned");
	head->next = next;
	head->mark = ~(uintptr_t)head;
	*end_of(head) = (uintptr_t)head;
	return head;
}

static void
give(struct head *head)
{
	if (head->mark != ~(uintptr_t)head || *end_of(head) != (uintptr_t)head)
		fail("two blocks lie on each other");
	free(head);
}

static void *
run(void *argument)
{
	const size_t number = (size_t)(uintptr_t)argument;
	unsigned round;

	for (round = 0; round < ROUNDS; round++) {
		struct head *list = NULL, *head;

		pthread_barrier_wait(&barrier);
		while ((head = take(list)) != NULL) {
			list = head;
			taken[round][number]++;
		}
		pthread_barrier_wait(&barrier);
		while (list != NULL) {
			head = list->next;
			give(list);
			list = head;
		}
	}
	return NULL;
}

static size_t
sum(unsigned round)
{
	size_t all = 0, i;

	for (i = 0; i < THREADS_MOST; i++)
		all += taken[round][i];
	return all * size;
}

int
main(int argc, char **argv)
{
	pthread_t threads[THREADS_MOST];
	struct zone_stats stats = {0};
	unsigned count, i;

	if (argc != 4 || zone_stats == NULL)
		fail("usage: hungry THREADS SIZE ALIGN, on our malloc");
	count = (unsigned)atoi(argv[1]);
	size = (size_t)atol(argv[2]);
	align = (size_t)atol(argv[3]);
	if (count > THREADS_MOST || size < MARK_BYTES || size % 8 != 0)
		fail("not so");
	free(malloc(1));
	if (system_calls == 0)
		fail("the C library would set up its malloc with threads");
	pthread_barrier_init(&barrier, NULL, count);
	for (i = 1; i < count; i++) {
		pthread_attr_t small;

		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 256 << 10);
		if (pthread_create(&threads[i], &small, run,
				   (void *)(uintptr_t)i) != 0)
			fail("no thread");
	}
	(void)run(NULL);
	for (i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	zone_stats(&stats);
	printf("reservations %zu of %zu KiB, taken %zu and %zu KiB, blocks of "
	       "the system %llu\n",
	       stats.reservations, stats.reserved_bytes >> 10, sum(0) >> 10,
	       sum(1) >> 10, (unsigned long long)stats.system_blocks);
	if (stats.reservations < 2)
		fail("one reservation only");
	if (sum(1) < sum(0) / 8 * 7)
		fail("at the second time there is less");
	return 0;
}

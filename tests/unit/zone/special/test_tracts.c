/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_tracts.c - a first reservation of 8 MiB, for larger ones are refused:
 * when it is used up there are others, whatever else is refused, and everything
 * works with blocks of them as with those of the first. */
#include "lib/zone/zone.h"
#include "tests/kit/child.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	/* to 8 MiB, of 256 GiB or of 1 */
	HALVINGS = SIZE_MAX > UINT32_MAX ? 15 : 7,
	FIRST_BYTES = 8 << 20,
	BLOCK = 60000,
	MOST = 2000,
	THREADS = 4,
	SMALL = 200,
	LIMIT = 24 << 20,
};

static atomic_long calls;
static long fails_at = -1; /* call after the halvings; -1: none */

bool zone_test_fails(void);

bool
zone_test_fails(void)
{
	const long call = atomic_fetch_add(&calls, 1);

	return call < HALVINGS || call - HALVINGS == fails_at;
}

static size_t
reservations(size_t *ret_bytes)
{
	struct zone_stats stats;

	zone_stats(&stats);
	if (ret_bytes != NULL)
		*ret_bytes = stats.reserved_bytes;
	return stats.reservations;
}

static bool
is_filled(const unsigned char *block, unsigned char value)
{
	size_t at;

	for (at = 0; at < BLOCK; at += 997)
		if (block[at] != value)
			return false;
	return block[BLOCK - 1] == value;
}

/* Returns how many there were. */
static unsigned
take_all(unsigned char **blocks, unsigned most, unsigned char value)
{
	unsigned count = 0;

	while (count < most && (blocks[count] = zone_alloc(BLOCK)) != NULL) {
		memset(blocks[count], value, BLOCK);
		count++;
	}
	return count;
}

static bool
give_all(unsigned char **blocks, unsigned count, unsigned char value)
{
	bool right = true;
	unsigned i;

	for (i = 0; i < count; i++) {
		right = right && is_filled(blocks[i], value) &&
			zone_owns(blocks[i]) &&
			zone_usable_size(blocks[i]) >= BLOCK;
		zone_free(blocks[i]);
	}
	return right;
}

static int
use_up(void *unused)
{
	static unsigned char *blocks[MOST];
	unsigned counts[2], round;
	size_t bytes = 0;

	(void)unused;
	for (round = 0; round < 2; round++) {
		counts[round] = take_all(blocks, MOST, 7);
		if (zone_check(NULL) != 0 ||
		    !give_all(blocks, counts[round], 7))
			return 1;
	}
	if (reservations(&bytes) < 3 || bytes < 4 * FIRST_BYTES)
		return 2;
	if ((size_t)counts[0] * BLOCK < bytes / 10 * 8 ||
	    counts[1] < counts[0] - 20)
		return 3;
	zone_janitor_pass();
	zone_trim();
	return zone_owns(&bytes) || zone_check(NULL) != 0 ? 4 : 0;
}

static void
there_is_more_than_the_first(void **state)
{
	(void)state;
	assert_int_equal(child_run(use_up, NULL, NULL, 0), 0);
}

static pthread_barrier_t barrier;
static unsigned char *small[THREADS][SMALL];

/* Blocks that the next thread frees: bits of slabs in all of the tracts. */
static void *
use_up_together(void *argument)
{
	const unsigned number = (unsigned)(uintptr_t)argument;
	static __thread unsigned char *blocks[MOST];
	const unsigned char value = (unsigned char)(number + 1);
	unsigned next = (number + 1) % THREADS;
	unsigned count, i;

	pthread_barrier_wait(&barrier);
	count = take_all(blocks, MOST, value);
	pthread_barrier_wait(&barrier);
	if (!give_all(blocks, count / 2, value))
		return (void *)1;
	pthread_barrier_wait(&barrier);
	for (i = 0; i < SMALL; i++) {
		small[number][i] = zone_alloc(32 + i);
		if (small[number][i] == NULL)
			return (void *)2;
		memset(small[number][i], value, 32 + i);
	}
	pthread_barrier_wait(&barrier);
	for (i = 0; i < SMALL; i++) {
		if (small[next][i][31 + i] != next + 1)
			return (void *)3;
		zone_free(small[next][i]);
	}
	if (!give_all(blocks + count / 2, count - count / 2, value) ||
	    zone_check(NULL) != 0)
		return (void *)4;
	return NULL;
}

static int
be_many(void *unused)
{
	pthread_t threads[THREADS];
	int worst = 0;
	size_t i;

	(void)unused;
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, use_up_together,
				   (void *)(uintptr_t)i) != 0)
			return 10;
	for (i = 0; i < THREADS; i++) {
		void *result = NULL;

		pthread_join(threads[i], &result);
		if ((int)(intptr_t)result > worst)
			worst = (int)(intptr_t)result;
	}
	if (worst == 0 && reservations(NULL) < 3)
		return 11;
	zone_janitor_pass();
	zone_trim();
	return worst != 0 ? worst : zone_check(NULL) != 0;
}

static void
many_threads_add_them_at_once(void **state)
{
	(void)state;
	assert_int_equal(child_run(be_many, NULL, NULL, 0), 0);
}

/* Spans, moved between tracts; a private heap; memory for marked threads. */
static int
use_all_kinds(void *unused)
{
	static unsigned char *blocks[MOST];
	const unsigned count = take_all(blocks, FIRST_BYTES / BLOCK + 30, 3);
	unsigned char *span = zone_alloc(3 << 20);
	struct zone_heap *heap = zone_heap_create(LIMIT);
	unsigned char *inside = NULL, *aligned;

	(void)unused;
	if (reservations(NULL) < 2 || span == NULL || heap == NULL)
		return 1;
	memset(span, 5, 3 << 20);
	span = zone_resize(span, 7 << 20);
	if (span == NULL || span[(3 << 20) - 1] != 5)
		return 2;
	aligned = zone_alloc_aligned(100000, 1 << 20);
	if (aligned == NULL || (uintptr_t)aligned % (1 << 20) != 0)
		return 3;
	if (!zone_heap_enter(heap))
		return 4;
	inside = zone_alloc(2 << 20);
	if (zone_alloc(3000) == NULL || inside == NULL)
		return 5;
	zone_heap_leave(heap);
	zone_free(inside);
	zone_heap_destroy(heap);
	if (zone_reserve(1 << 20) != 0 || zone_thread_realtime(true) != 0 ||
	    zone_alloc(50000) == NULL || zone_thread_realtime(false) != 0)
		return 6;
	zone_free(aligned);
	zone_free(span);
	return !give_all(blocks, count, 3) || zone_check(NULL) != 0 ? 7 : 0;
}

static void
all_kinds_of_blocks_are_of_them(void **state)
{
	(void)state;
	assert_int_equal(child_run(use_all_kinds, NULL, NULL, 0), 0);
}

static int
go_on_after_a_failure(void *argument)
{
	static unsigned char *blocks[MOST];
	unsigned counts[2];

	fails_at = *(const long *)argument;
	counts[0] = take_all(blocks, MOST, 9);
	/* what failed is tried again */
	counts[1] = take_all(blocks + counts[0], MOST - counts[0], 9);
	if (zone_check(NULL) != 0 ||
	    !give_all(blocks, counts[0] + counts[1], 9))
		return 1;
	return (size_t)(counts[0] + counts[1]) * BLOCK > 3 * FIRST_BYTES ? 0
									 : 2;
}

static void
a_refusal_is_not_the_end(void **state)
{
	long n;

	(void)state;
	for (n = 5; n < 160; n += 1 + n / 16)
		assert_int_equal(child_run(go_on_after_a_failure, &n, NULL, 0),
				 0);
}

int
main(void)
{
	/* in children: this process must not have a reservation */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_is_more_than_the_first),
		cmocka_unit_test(many_threads_add_them_at_once),
		cmocka_unit_test(all_kinds_of_blocks_are_of_them),
		cmocka_unit_test(a_refusal_is_not_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

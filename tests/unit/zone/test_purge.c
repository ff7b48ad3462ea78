/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_purge.c - what is free goes back: pages of slabs in use to the kernel,
 * blocks that others freed to heaps whose owners sleep or are gone. */
#include "lib/zone/classes.h"
#include "lib/zone/zone.h"
#include "tests/kit/machine.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum {
	BLOCKS = 8192,
	SIZE = 1024,
	KEPT_EACH = 16, /* so that most pages hold no kept block */
	CLASS_1024 = 13,
	SENT = 3000,
	KEPT_MS = 10,
};

static unsigned char *blocks[BLOCKS];

static void
assert_sound(void)
{
	const char *what = "";

	if (zone_check(&what) != 0)
		fail_msg("%s", what);
}

static const struct zone_stats *
figures(void)
{
	static __thread struct zone_stats stats;

	zone_stats(&stats);
	return &stats;
}

static void
fill(void)
{
	unsigned i;

	for (i = 0; i < BLOCKS; i++) {
		blocks[i] = zone_alloc(SIZE);
		assert_non_null(blocks[i]);
		memset(blocks[i], (int)(i % 251), SIZE);
	}
}

static void
thin_out(void)
{
	unsigned i;

	for (i = 0; i < BLOCKS; i++)
		if (i % KEPT_EACH != 0) {
			zone_free(blocks[i]);
			blocks[i] = NULL;
		}
}

static bool
is_filled(const unsigned char *block, int value)
{
	unsigned i;

	for (i = 0; i < SIZE; i++)
		if (block[i] != value)
			return false;
	return true;
}

static void
empty(void)
{
	unsigned i;

	for (i = 0; i < BLOCKS; i++) {
		if (blocks[i] != NULL)
			assert_true(is_filled(blocks[i], (int)(i % 251)));
		zone_free(blocks[i]);
		blocks[i] = NULL;
	}
}

/* Without being asked; the kept blocks keep their bytes, and what is taken
 * again is whole. */
static void
pages_of_free_blocks_go_back(void **state)
{
	const uint64_t purged = figures()->purged_pages;
	unsigned round, i;

	(void)state;
	for (round = 0; round < 3; round++) {
		fill();
		thin_out();
		assert_sound();
		for (i = 0; i < BLOCKS; i++)
			if (blocks[i] == NULL) {
				blocks[i] = zone_alloc_zeroed(SIZE);
				assert_non_null(blocks[i]);
				assert_true(is_filled(blocks[i], 0));
				memset(blocks[i], (int)(i % 251), SIZE);
			}
		empty();
		assert_sound();
	}
	if (ZONE_PAGE_MAX > 4096 || !machine_heeds_advice())
		skip();
	assert_true(figures()->purged_pages - purged > 500);
}

static uint64_t
clock_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* So that all that is free has been so for as long as it may be kept. */
static void
let_it_lie(void)
{
	const uint64_t begun = clock_ms();

	while (clock_ms() - begun < 2 * KEPT_MS)
		;
}

/* Another thread would give pages of thinned out slabs back, and units that
 * have been ready for long. */
static void *
own_pages(void *unused)
{
	uint64_t calls;
	unsigned round;

	(void)unused;
	assert_int_equal(zone_thread_realtime(true), 0);
	assert_true(figures()->ready_bytes > 0);
	calls = figures()->kernel_calls;
	for (round = 0; round < 2; round++) {
		let_it_lie();
		fill();
		thin_out();
		assert_sound();
		empty();
	}
	assert_int_equal(figures()->kernel_calls, calls);
	assert_int_equal(zone_thread_realtime(false), 0);
	return NULL;
}

static void
a_marked_threads_pages_stay(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(zone_reserve(2 * BLOCKS * SIZE), 0);
	fill();
	empty();
	assert_int_equal(pthread_create(&thread, NULL, own_pages, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *sent[SENT];
static pthread_barrier_t barrier;

/* When it wakes it asks for a block of a class that has some left in a slab,
 * and none in the magazine. */
static void *
make_and_sleep(void *unused)
{
	void *others[9];
	unsigned i;

	(void)unused;
	for (i = 0; i < 8; i++)
		others[i] = zone_alloc(5000);
	for (i = 0; i < SENT; i++) {
		sent[i] = zone_alloc(32);
		assert_non_null(sent[i]);
	}
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier); /* asleep, for all others know */
	others[8] = zone_alloc(5000);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < 9; i++)
		zone_free(others[i]);
	return NULL;
}

static size_t
blocks_of_32(void)
{
	return figures()->classes[3].blocks_in_use;
}

/* Blocks of 32 bytes go home at once. Their owner takes them when it comes by
 * for something else altogether. */
static void
a_sleeping_owner_is_asked(void **state)
{
	const uint64_t asked = figures()->harvests_asked;
	size_t in_use = 0;
	pthread_t thread;
	unsigned i;

	(void)state;
	assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, make_and_sleep, NULL),
			 0);
	pthread_barrier_wait(&barrier);
	in_use = blocks_of_32();
	for (i = 0; i < SENT; i++)
		zone_free(sent[i]);
	assert_true(in_use - blocks_of_32() < SENT / 2);
	zone_janitor_pass();
	assert_int_equal(figures()->harvests_asked, asked);
	zone_janitor_pass();
	assert_int_equal(figures()->harvests_asked, asked + 1);
	zone_janitor_pass(); /* once is enough */
	assert_int_equal(figures()->harvests_asked, asked + 1);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	assert_true(in_use - blocks_of_32() >= SENT - 64);
	pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(pthread_barrier_destroy(&barrier), 0);
}

static void *
make_and_go(void *unused)
{
	unsigned i;

	(void)unused;
	for (i = 0; i < SENT; i++) {
		sent[i] = zone_alloc(32);
		assert_non_null(sent[i]);
	}
	return NULL;
}

static void
the_dead_owe_nothing(void **state)
{
	size_t in_use = 0;
	pthread_t thread;
	unsigned i;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, make_and_go, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	in_use = blocks_of_32();
	for (i = 0; i < SENT; i++)
		zone_free(sent[i]);
	zone_janitor_pass();
	assert_true(in_use - blocks_of_32() >= SENT - 64);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleeping_owner_is_asked),
		cmocka_unit_test(the_dead_owe_nothing),
		cmocka_unit_test(pages_of_free_blocks_go_back),
		cmocka_unit_test(a_marked_threads_pages_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

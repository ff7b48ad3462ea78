/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_private.c - heaps with a limit, freed whole. */
#include "lib/zone/zone.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LIMIT = 4 << 20 };

static void
the_limit_holds(void **state)
{
	struct zone_heap *heap = zone_heap_create(LIMIT);
	size_t total = 0;
	void *block;

	(void)state;
	assert_non_null(heap);
	assert_true(zone_heap_enter(heap));
	while ((block = zone_alloc(1000)) != NULL) {
		memset(block, 1, 1000);
		total += 1024;
		assert_true(total <= LIMIT);
	}
	assert_true(total > LIMIT * 9 / 10);
	assert_null(zone_alloc(100000));
	zone_heap_leave(heap);
	assert_int_equal(zone_heap_used(heap), LIMIT);
	block = zone_alloc(1000);
	assert_non_null(block);
	zone_free(block);
	zone_heap_destroy(heap);
}

static void
spans_count_too(void **state)
{
	struct zone_heap *heap = zone_heap_create(LIMIT);
	void *first, *second;

	(void)state;
	assert_true(zone_heap_enter(heap));
	first = zone_alloc(3 << 20);
	assert_non_null(first);
	second = zone_alloc(2 << 20);
	assert_null(second);
	zone_free(first);
	assert_int_equal(zone_heap_used(heap), 0);
	second = zone_alloc(2 << 20);
	assert_non_null(second);
	zone_heap_leave(heap);
	zone_heap_destroy(heap);
}

static void
destroying_gives_everything_back(void **state)
{
	struct zone_stats before, after;
	unsigned round, i;

	(void)state;
	for (round = 0; round < 50; round++) {
		struct zone_heap *heap = zone_heap_create(64 << 20);

		assert_true(zone_heap_enter(heap));
		for (i = 0; i < 2000; i++)
			assert_non_null(zone_alloc(i * 13 % 20000));
		assert_non_null(zone_alloc(1 << 20));
		zone_heap_leave(heap);
		zone_heap_destroy(heap);
		if (round == 1)
			zone_stats(&before);
	}
	zone_stats(&after);
	assert_int_equal(after.frontier_bytes, before.frontier_bytes);
	assert_int_equal(after.heaps, before.heaps);
	assert_int_equal(after.spans, before.spans);
	assert_int_equal(zone_check(NULL), 0);
	zone_heap_destroy(NULL);
}

struct batch {
	void *blocks[500];
};

static void *
free_batch(void *argument)
{
	struct batch *batch = argument;
	unsigned i;

	for (i = 0; i < 500; i++)
		zone_free(batch->blocks[i]);
	return NULL;
}

/* Another thread's frees come back to the heap, and nowhere else. */
static void
others_may_free(void **state)
{
	struct zone_heap *heap = zone_heap_create(LIMIT);
	struct batch batch;
	unsigned round, i;

	(void)state;
	for (round = 0; round < 40; round++) {
		pthread_t thread;

		assert_true(zone_heap_enter(heap));
		for (i = 0; i < 499; i++) {
			batch.blocks[i] = zone_alloc(4000);
			assert_non_null(batch.blocks[i]);
		}
		batch.blocks[499] = zone_alloc(1 << 20);
		assert_non_null(batch.blocks[499]);
		assert_int_equal(zone_check(NULL), 0);
		zone_heap_leave(heap);
		pthread_create(&thread, NULL, free_batch, &batch);
		pthread_join(thread, NULL);
	}
	zone_heap_destroy(heap);
}

static void
entering_nests(void **state)
{
	struct zone_heap *outer = zone_heap_create(LIMIT);
	struct zone_heap *inner = zone_heap_create(LIMIT);
	void *block;

	(void)state;
	assert_true(zone_heap_enter(outer));
	assert_true(zone_heap_enter(inner));
	block = zone_alloc(100);
	zone_heap_leave(inner);
	zone_free(block);
	assert_true(zone_heap_used(inner) > 0);
	assert_int_equal(zone_heap_used(outer), 0);
	zone_heap_leave(outer);
	zone_heap_destroy(inner);
	zone_heap_destroy(outer);
}

static void
allocator_uses_its_heap(void **state)
{
	struct zone_allocator allocator;
	struct zone_heap *heap = zone_heap_create(LIMIT);
	void *block;

	(void)state;
	zone_allocator_init(&allocator, heap);
	assert_null(allocator_new(&allocator.allocator, 2 * LIMIT));
	block = allocator_new(&allocator.allocator, 100);
	assert_non_null(block);
	assert_true(zone_heap_used(heap) > 0);
	allocator_delete(&allocator.allocator, block);
	zone_heap_destroy(heap);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_limit_holds),
		cmocka_unit_test(spans_count_too),
		cmocka_unit_test(destroying_gives_everything_back),
		cmocka_unit_test(others_may_free),
		cmocka_unit_test(entering_nests),
		cmocka_unit_test(allocator_uses_its_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Order, full and empty, one cell, records of odd sizes, no memory. */
#include "lib/sync/queue.h"

#include "tests/kit/failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void
records_come_in_order_and_the_newest_is_refused(void **state)
{
	struct queue *queue = queue_create(NULL, 4, sizeof(uint32_t));
	uint32_t record;
	uint32_t next = 0;
	uint32_t i;
	int lap;

	(void)state;
	assert_non_null(queue);
	assert_false(queue_pop(queue, &record));
	for (lap = 0; lap < 10; lap++) {
		for (i = 0; i < 4; i++) {
			record = next + i;
			assert_true(queue_push(queue, &record));
		}
		record = 999;
		assert_false(queue_push(queue, &record));
		assert_int_equal(queue_dropped(queue), lap + 1);
		for (i = 0; i < 4; i++) {
			assert_true(queue_pop(queue, &record));
			assert_int_equal(record, next + i);
		}
		assert_false(queue_pop(queue, &record));
		next += 4;
	}
	queue_destroy(queue);
}

static void
partly_filled_laps_keep_order(void **state)
{
	struct queue *queue = queue_create(NULL, 8, sizeof(uint32_t));
	uint32_t pushed = 0;
	uint32_t popped = 0;
	uint32_t record;
	uint32_t i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		if (queue_push(queue, &pushed))
			pushed++;
		if (i % 3 != 0 && queue_pop(queue, &record)) {
			assert_int_equal(record, popped);
			popped++;
		}
	}
	assert_true(pushed > 600);
	assert_int_equal(queue_dropped(queue) + pushed, 1000);
	queue_destroy(queue);
}

static void
one_cell_holds_one_record(void **state)
{
	struct queue *queue = queue_create(NULL, 1, 1);
	char record;
	char i;

	(void)state;
	for (i = 0; i < 9; i++) {
		assert_true(queue_push(queue, &i));
		assert_false(queue_push(queue, "x"));
		assert_true(queue_pop(queue, &record));
		assert_int_equal(record, i);
		assert_false(queue_pop(queue, &record));
	}
	queue_destroy(queue);
}

static void
records_of_odd_sizes_do_not_touch(void **state)
{
	struct queue *queue = queue_create(NULL, 4, 13);
	char record[13];
	char expected[13];
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		memset(record, 'a' + i, sizeof(record));
		assert_true(queue_push(queue, record));
	}
	for (i = 0; i < 4; i++) {
		memset(expected, 'a' + i, sizeof(expected));
		assert_true(queue_pop(queue, record));
		assert_memory_equal(record, expected, sizeof(record));
	}
	queue_destroy(queue);
}

static void
no_memory_gives_null_and_leaks_nothing(void **state)
{
	struct failing_allocator allocator;
	struct queue *queue;
	size_t calls;
	size_t i;

	(void)state;
	failing_allocator_init(&allocator, 0);
	queue = queue_create(&allocator.base, 4, 8);
	assert_non_null(queue);
	calls = allocator.calls;
	queue_destroy(queue);
	assert_int_equal(allocator.live, 0);
	for (i = 1; i <= calls; i++) {
		failing_allocator_init(&allocator, i);
		assert_null(queue_create(&allocator.base, 4, 8));
		assert_int_equal(allocator.live, 0);
	}
	assert_null(queue_create(NULL, (size_t)1 << 60, 1000));
	assert_null(queue_create(NULL, 2, SIZE_MAX - 4));
	queue_destroy(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			records_come_in_order_and_the_newest_is_refused),
		cmocka_unit_test(partly_filled_laps_keep_order),
		cmocka_unit_test(one_cell_holds_one_record),
		cmocka_unit_test(records_of_odd_sizes_do_not_touch),
		cmocka_unit_test(no_memory_gives_null_and_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

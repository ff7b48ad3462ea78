/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Three producers into a small queue: every record arrives once, whole, in its
 * producer's order; what was refused was counted. */
#include "lib/sync/queue.h"

#include "tests/kit/crew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PRODUCERS = 3, RECORDS = 20 * 1000, CAPACITY = 64 };

struct record {
	uint64_t producer;
	uint64_t number;
	uint64_t check;
};

struct shared {
	struct queue *queue;
	ATOMIC(uint64_t) refused;
};

static void
produce(void *argument, unsigned index)
{
	struct shared *shared = argument;
	uint64_t number = 0;

	while (number < RECORDS) {
		const struct record record = {
			.producer = index,
			.number = number,
			.check = number ^ (UINT64_C(0x5555) << index),
		};

		if (queue_push(shared->queue, &record)) {
			number++;
			continue;
		}
		atomic_fetch_add(&shared->refused, 1);
		crew_dawdle();
	}
}

static void
consume(void *argument, unsigned index)
{
	struct shared *shared = argument;
	uint64_t next[PRODUCERS] = {0};
	size_t left = (size_t)PRODUCERS * RECORDS;
	struct record record;

	(void)index;
	while (left > 0) {
		if (!queue_pop(shared->queue, &record)) {
			crew_dawdle();
			continue;
		}
		crew_check(record.producer < PRODUCERS);
		crew_check(record.number == next[record.producer]);
		crew_check(record.check ==
			   (record.number ^
			    (UINT64_C(0x5555) << record.producer)));
		next[record.producer]++;
		left--;
	}
	crew_check(!queue_pop(shared->queue, &record));
}

static void
every_record_arrives_once_in_order(void **state)
{
	struct shared shared = {0};
	const struct crew_member crew[] = {
		{produce, &shared},
		{produce, &shared},
		{produce, &shared},
		{consume, &shared},
	};

	(void)state;
	shared.queue = queue_create(NULL, CAPACITY, sizeof(struct record));
	assert_non_null(shared.queue);
	crew_run(crew, PRODUCERS + 1, CREW_JOLTED);
	assert_int_equal(queue_dropped(shared.queue),
			 atomic_load(&shared.refused));
	queue_destroy(shared.queue);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record_arrives_once_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A publisher whose every view is a function of one number, and readers that
 * must never see parts of two, nor go back in time. */
#include "lib/sync/timeline.h"

#include "tests/kit/crew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { VIEWS = 8 * 1000 };

struct shared {
	struct timeline timeline;
	ATOMIC(uint64_t) published;
};

static void
publish(void *argument, unsigned index)
{
	struct shared *shared = argument;
	struct timeline_view view = {0};
	uint64_t number;
	size_t i;

	(void)index;
	for (number = 1; number <= VIEWS; number++) {
		view.time_ns = (int64_t)number;
		view.written_frames = 2 * number;
		for (i = 0; i < TIMELINE_POINTS; i++)
			view.points[i].output_frame = number + i;
		timeline_publish(&shared->timeline, &view);
		atomic_store(&shared->published, number);
		if (number % 256 == 0)
			crew_dawdle();
	}
}

static void
watch(void *argument, unsigned index)
{
	struct shared *shared = argument;
	struct timeline_view view;
	uint64_t number = 0;
	size_t i;

	(void)index;
	while (number < VIEWS) {
		const uint64_t least = atomic_load(&shared->published);

		timeline_read(&shared->timeline, &view);
		crew_check((uint64_t)view.time_ns >= least);
		crew_check((uint64_t)view.time_ns >= number);
		number = (uint64_t)view.time_ns;
		crew_check(view.written_frames == 2 * number);
		for (i = 0; number != 0 && i < TIMELINE_POINTS; i++)
			crew_check(view.points[i].output_frame == number + i);
	}
}

static void
a_view_is_never_torn(void **state)
{
	static struct shared shared;
	const struct crew_member crew[] = {
		{publish, &shared},
		{watch, &shared},
		{watch, &shared},
	};

	(void)state;
	timeline_init(&shared.timeline);
	crew_run(crew, 3, CREW_JOLTED);
	assert_int_equal(atomic_load(&shared.published), VIEWS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_view_is_never_torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

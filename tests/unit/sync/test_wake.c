/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one thread alone can see of the event count; the rest is in
 * stress_wake.c. */
#include "lib/sync/wake.h"

#include "lib/base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void
nothing_posted_times_out(void **state)
{
	struct wake wake;
	uint32_t seen;
	int64_t before_ns;

	(void)state;
	wake_init(&wake);
	seen = wake_prepare(&wake);
	assert_false(wake_wait(&wake, seen, 0));
	before_ns = clock_now_ns();
	assert_false(wake_wait(&wake, seen, 2 * NS_PER_MS));
	/* a lower bound, which no load can break */
	assert_true(clock_now_ns() - before_ns >= 2 * NS_PER_MS);
	assert_int_equal(atomic_load(&wake.sleepers), 0);
}

static void
a_post_between_prepare_and_wait_is_not_lost(void **state)
{
	struct wake wake;
	uint32_t seen;

	(void)state;
	wake_init(&wake);
	seen = wake_prepare(&wake);
	wake_post(&wake);
	assert_true(wake_wait(&wake, seen, -1));
	assert_true(wake_wait(&wake, seen, 0));
	seen = wake_prepare(&wake);
	assert_false(wake_wait(&wake, seen, 0));
	wake_post_all(&wake);
	assert_true(wake_wait(&wake, seen, INT64_MAX));
}

static void
the_count_may_wrap(void **state)
{
	struct wake wake;
	uint32_t seen;

	(void)state;
	wake_init(&wake);
	atomic_store(&wake.count, UINT32_MAX);
	seen = wake_prepare(&wake);
	assert_false(wake_wait(&wake, seen, 0));
	wake_post(&wake);
	assert_int_equal(wake_prepare(&wake), 0);
	assert_true(wake_wait(&wake, seen, -1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_posted_times_out),
		cmocka_unit_test(a_post_between_prepare_and_wait_is_not_lost),
		cmocka_unit_test(the_count_may_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

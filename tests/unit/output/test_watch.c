/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When is the output thread stuck, and when has it only no CPU? */
#include "daemon/output/watch.h"

#include "lib/base/clock.h"
#include "lib/sync/takeback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ASLEEP = 4 | TAKEBACK_ASLEEP, IN_CALL = 4 | TAKEBACK_IN_CALL };

/* Looks each step_ms for ms on end; the last verdict. */
static enum watch_verdict
look_on(struct watch *watch, int64_t *now_ns, uint32_t seen, int64_t ms,
	int64_t step_ms)
{
	enum watch_verdict verdict = WATCH_FINE;
	int64_t gone_ms = 0;

	for (; gone_ms < ms; gone_ms += step_ms) {
		*now_ns += step_ms * NS_PER_MS;
		verdict = watch_look(watch, seen, *now_ns);
	}
	return verdict;
}

static void
a_call_of_two_seconds_is_stuck(void **state)
{
	struct watch watch = {0};
	int64_t now_ns = NS_PER_S;

	(void)state;
	assert_int_equal(look_on(&watch, &now_ns, IN_CALL, 2000, 200),
			 WATCH_SUSPECT);
	assert_int_equal(look_on(&watch, &now_ns, IN_CALL, 400, 200),
			 WATCH_STUCK);
}

static void
many_calls_are_not(void **state)
{
	struct watch watch = {0};
	int64_t now_ns = NS_PER_S;
	uint32_t i;

	(void)state;
	for (i = 0; i < 10; i++)
		assert_int_equal(
			look_on(&watch, &now_ns, IN_CALL + 4 * i, 1800, 200),
			WATCH_SUSPECT);
}

static void
a_sleep_may_last(void **state)
{
	struct watch watch = {0};
	int64_t now_ns = NS_PER_S;

	(void)state;
	assert_int_equal(look_on(&watch, &now_ns, ASLEEP, 100000, 1000),
			 WATCH_FINE);
}

/* A process that was stopped, or a machine that slept: looks far apart. */
static void
time_without_a_look_does_not_count(void **state)
{
	struct watch watch = {0};
	int64_t now_ns = NS_PER_S;

	(void)state;
	assert_int_equal(look_on(&watch, &now_ns, IN_CALL, 30000, 10000),
			 WATCH_SUSPECT);
}

static void
who_runs_for_long_is_starved_and_told_once(void **state)
{
	struct watch watch = {0};
	int64_t now_ns = NS_PER_S;

	(void)state;
	assert_int_equal(look_on(&watch, &now_ns, 4, 2200, 200), WATCH_SUSPECT);
	assert_int_equal(look_on(&watch, &now_ns, 4, 200, 200), WATCH_STARVED);
	assert_int_equal(look_on(&watch, &now_ns, 4, 60000, 200),
			 WATCH_SUSPECT);
	/* Another time is told again. */
	assert_int_equal(look_on(&watch, &now_ns, 8, 2200, 200), WATCH_SUSPECT);
	assert_int_equal(look_on(&watch, &now_ns, 8, 200, 200), WATCH_STARVED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_of_two_seconds_is_stuck),
		cmocka_unit_test(many_calls_are_not),
		cmocka_unit_test(a_sleep_may_last),
		cmocka_unit_test(time_without_a_look_does_not_count),
		cmocka_unit_test(who_runs_for_long_is_starved_and_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

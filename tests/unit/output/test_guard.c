/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How near to a card is taken back, by how it moved and how late we were. */
#include "daemon/output/guard.h"
#include "lib/base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum {
	RATE = 48000,
	A_MS = RATE / 1000,
	MANY = 1000,
};

/* Looks each millisecond at a card that moves by step_ms at once. */
static void
watch(struct guard *guard, unsigned looks, uint64_t step_ms, uint64_t *ms)
{
	for (unsigned i = 0; i < looks; i++) {
		*ms += 1;
		guard_look(guard, *ms / step_ms * step_ms * A_MS,
			   (int64_t)*ms * NS_PER_MS);
	}
}

static void
wake_up(struct guard *guard, unsigned times, int64_t late_ns)
{
	for (unsigned i = 0; i < times; i++)
		guard_wakeup(guard, late_ns);
}

static void
test_it_is_not_made_smaller_too_early(void **state)
{
	struct guard guard;

	(void)state;
	guard_begin(&guard, RATE);
	assert_int_equal(guard_frames(&guard), GUARD_FIRST_US / 1000 * A_MS);
	wake_up(&guard, GUARD_LEAST_WAKEUPS - 1, 50000);
	assert_int_equal(guard_frames(&guard), GUARD_FIRST_US / 1000 * A_MS);
	wake_up(&guard, 1, 50000);
	assert_int_equal(guard_frames(&guard), GUARD_MIN_US / 1000 * A_MS);
}

/* A card in steps may be a step further than it says. */
static void
test_steps_are_seen(void **state)
{
	(void)state;
	for (uint64_t step_ms = 5; step_ms <= 12; step_ms++) {
		struct guard guard;
		uint64_t ms = 1000;

		guard_begin(&guard, RATE);
		wake_up(&guard, MANY, 0);
		watch(&guard, MANY, step_ms, &ms);
		/* Looks of whole milliseconds see one less. */
		assert_true(guard_frames(&guard) >= step_ms * A_MS);
		assert_true(guard_frames(&guard) <= (step_ms + 2) * A_MS);
	}
}

/* Clocks differ: in a second by as much as a step is. */
static void
test_what_is_far_apart_is_no_step(void **state)
{
	struct guard guard;

	(void)state;
	guard_begin(&guard, RATE);
	wake_up(&guard, MANY, 0);
	for (uint64_t s = 1; s < 100; s++)
		guard_look(&guard, s * (RATE + RATE / 100),
			   (int64_t)s * NS_PER_S);
	assert_int_equal(guard_frames(&guard), GUARD_MIN_US / 1000 * A_MS);
}

static void
test_a_late_thread_is_given_more_time(void **state)
{
	struct guard guard;

	(void)state;
	guard_begin(&guard, RATE);
	/* At once, though little was seen. */
	wake_up(&guard, 1, 4 * NS_PER_MS);
	assert_int_equal(guard_frames(&guard), 13 * A_MS);
	/* And forgotten, but not soon. */
	wake_up(&guard, 10, 0);
	assert_true(guard_frames(&guard) >= 11 * A_MS);
	wake_up(&guard, MANY, 0);
	assert_int_equal(guard_frames(&guard), GUARD_MIN_US / 1000 * A_MS);
}

static void
test_it_stays_within_bounds(void **state)
{
	struct guard guard;
	uint64_t ms = 1000;

	(void)state;
	guard_begin(&guard, RATE);
	wake_up(&guard, 1, NS_PER_S);
	assert_int_equal(guard_frames(&guard), GUARD_MAX_US / 1000 * A_MS);
	/* Clocks that go back, positions that do. */
	guard_begin(&guard, RATE);
	wake_up(&guard, MANY, 0);
	watch(&guard, MANY, 1, &ms);
	guard_look(&guard, 0, 0);
	wake_up(&guard, 1, -NS_PER_S);
	assert_in_range(guard_frames(&guard), GUARD_MIN_US / 1000 * A_MS,
			GUARD_MAX_US / 1000 * A_MS);
}

/* What a card says after it was stopped is no step. */
static void
test_a_stop_is_no_step(void **state)
{
	struct guard guard;
	uint64_t ms = 1000;

	(void)state;
	guard_begin(&guard, RATE);
	wake_up(&guard, MANY, 0);
	watch(&guard, MANY, 1, &ms);
	guard_pause(&guard);
	ms += 10;
	guard_look(&guard, 0, (int64_t)ms * NS_PER_MS);
	assert_int_equal(guard_frames(&guard), GUARD_MIN_US / 1000 * A_MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_not_made_smaller_too_early),
		cmocka_unit_test(test_steps_are_seen),
		cmocka_unit_test(test_what_is_far_apart_is_no_step),
		cmocka_unit_test(test_a_late_thread_is_given_more_time),
		cmocka_unit_test(test_it_stays_within_bounds),
		cmocka_unit_test(test_a_stop_is_no_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

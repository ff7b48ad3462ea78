/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_clock.c - frames to time and back. */
#include "lib/base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

static const uint32_t RATES[] = {1,     8000,   11025,  44100, 48000,
				 96000, 192000, 352800, 768000};
enum { RATE_COUNT = sizeof(RATES) / sizeof(RATES[0]) };

static void
test_known(void **state)
{
	(void)state;
	assert_int_equal(clock_frames_to_ns(44100, 44100), NS_PER_S);
	assert_int_equal(clock_frames_to_ns(1, 44100), 22675);
	assert_int_equal(clock_ns_to_frames(22675, 44100), 0);
	assert_int_equal(clock_ns_to_frames(22676, 44100), 1);
	assert_int_equal(clock_ns_to_frames(0, 44100), 0);
	assert_int_equal(clock_ns_to_frames(-5 * NS_PER_S, 44100), 0);
}

/* Both round down, so that going there and back loses at most one frame. */
static void
test_round_trip(void **state)
{
	unsigned i, shift;

	(void)state;
	for (i = 0; i < RATE_COUNT; i++) {
		for (shift = 0; shift < 48; shift++) {
			const uint64_t frames = (UINT64_C(1) << shift) + shift;
			const int64_t ns =
				frames / RATES[i] < 9000000000
					? clock_frames_to_ns(frames, RATES[i])
					: -1;
			uint64_t back;

			if (ns < 0)
				continue;
			back = clock_ns_to_frames(ns, RATES[i]);
			assert_true(back == frames || back + 1 == frames);
		}
	}
}

static void
test_runs_on(void **state)
{
	const int64_t start = clock_now_ns();
	const int64_t cpu = clock_thread_cpu_ns();

	(void)state;
	while (clock_thread_cpu_ns() == cpu)
		;
	assert_true(clock_now_ns() > start);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_runs_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

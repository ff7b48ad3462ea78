/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/audio/gain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void
test_ramp_is_linear_between_its_ends(void **state)
{
	const struct gain_ramp ramp = {1000, 480, 0.25F, 1.0F};

	(void)state;
	assert_true(gain_ramp_at(&ramp, 0) == 0.25F);
	assert_true(gain_ramp_at(&ramp, 999) == 0.25F);
	assert_true(gain_ramp_at(&ramp, 1000) == 0.25F);
	assert_true(gain_ramp_at(&ramp, 1480) == 1.0F);
	assert_true(gain_ramp_at(&ramp, UINT64_MAX) == 1.0F);
	for (uint64_t i = 0; i < 480; i++) {
		const double want = 0.25 + 0.75 * (double)i / 480;

		assert_true(fabs(gain_ramp_at(&ramp, 1000 + i) - want) < 1e-6);
		assert_false(gain_ramp_done(&ramp, 1000 + i));
	}
	assert_true(gain_ramp_done(&ramp, 1480));
	assert_true(gain_ramp_done(&(struct gain_ramp){5, 9, 1, 1}, 0));
}

static void
test_step(void **state)
{
	const struct gain_ramp step = {10, 0, 1.0F, 0.5F};

	(void)state;
	assert_true(gain_ramp_at(&step, 9) == 1.0F);
	assert_true(gain_ramp_at(&step, 10) == 0.5F);
}

static void
test_two_fades_sum_to_one(void **state)
{
	const struct gain_ramp in = {70, 221, 0, 1}, out = {70, 221, 1, 0};

	(void)state;
	for (uint64_t i = 0; i < 400; i++)
		assert_true(fabsf(gain_ramp_at(&in, i) + gain_ramp_at(&out, i) -
				  1) < 1e-6F);
}

/* Far into a long uptime, and in any order, the values are the same. */
static void
test_values_depend_on_the_frame_alone(void **state)
{
	const uint64_t late = UINT64_C(1) << 50;
	const struct gain_ramp early = {100, 480, 0, 1};
	const struct gain_ramp later = {late + 100, 480, 0, 1};
	static float gains[600], again[600];

	(void)state;
	gain_fill(gains, 600, 1.0F);
	gain_multiply(gains, 600, &early, 0);
	for (size_t i = 600; i > 0; i--) {
		again[i - 1] = 1.0F;
		gain_multiply(&again[i - 1], 1, &later, late + i - 1);
	}
	assert_memory_equal(gains, again, sizeof(gains));
}

static void
test_sums(void **state)
{
	const int32_t integers[4] = {1 << 30, -(1 << 30), INT32_MIN, 256};
	const float floats[4] = {0.5F, -0.5F, 1.0F, 0.25F};
	const float gains[2] = {0.5F, 2.0F};
	float sum[4] = {1, 1, 1, 1};

	(void)state;
	gain_add_f32(sum, floats, gains, 2, 2);
	assert_true(sum[0] == 1.25F && sum[1] == 0.75F && sum[2] == 3.0F &&
		    sum[3] == 1.5F);
	memset(sum, 0, sizeof(sum));
	gain_add_s32(sum, integers, gains, 2, 2);
	assert_true(sum[0] == 0.25F && sum[1] == -0.25F && sum[2] == -2.0F &&
		    sum[3] == 0x1p-22F);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ramp_is_linear_between_its_ends),
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_two_fades_sum_to_one),
		cmocka_unit_test(test_values_depend_on_the_frame_alone),
		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

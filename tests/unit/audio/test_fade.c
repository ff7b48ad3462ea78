/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_fade.c - the gains of an overlap, against the mathematics library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/audio/fade.h"

#include <float.h>
#include <math.h>

static void
test_quarter_turn(void **state)
{
	enum { STEPS = 100000 };

	(void)state;
	for (int i = 0; i <= STEPS; i++) {
		const double x = (double)i / STEPS;
		const double comes = fade_gain(x), goes = fade_gain(1 - x);

		assert_true(fabs(comes - sin(acos(0.0) * x)) <= FLT_EPSILON);
		assert_true(fabs(comes * comes + goes * goes - 1) < 1e-6);
	}
}

static void
test_ends(void **state)
{
	(void)state;
	assert_true(fade_gain(0) == 0.0F && fade_gain(1) == 1.0F);
	assert_true(fade_gain(-1e-9) == 0.0F && fade_gain(-INFINITY) == 0.0F);
	assert_true(fade_gain(1 + 1e-9) == 1.0F && fade_gain(INFINITY) == 1.0F);
	assert_true(fade_gain(NAN) == 0.0F);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quarter_turn),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

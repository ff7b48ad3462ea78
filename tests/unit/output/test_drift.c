/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two clocks that differ, for hours of a time that costs nothing. What lies
 * between them is looked at as a real card allows: at uneven times, in steps,
 * and with noise. */
#include "daemon/output/drift.h"

#include "tests/kit/dice.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { HOURS = 4 };

struct clocks {
	double ppm;     /* that more comes than goes */
	double wander;  /* and swings about that in ten minutes */
	double start_s; /* too much at first */
	double step_s;  /* that the position moves in */
	double noise_s;
};

struct course {
	double worst_s;       /* after the first ten minutes */
	double worst_first_s; /* before */
	double ppm;           /* the mean of the last hour */
	double swing_ppm;     /* how far it went from that in it */
};

static double
unit(struct dice *dice)
{
	return (double)dice_roll(dice, 2000001) / 1000000 - 1;
}

static double
difference_at(const struct clocks *clocks, double now_s)
{
	return clocks->ppm * 1e-6 +
	       clocks->wander * 1e-6 * sin(2 * M_PI * now_s / 600);
}

static double
seen(const struct clocks *clocks, double error_s, struct dice *dice)
{
	const double noisy = error_s + clocks->noise_s * unit(dice);

	return clocks->step_s > 0
		       ? floor(noisy / clocks->step_s + 0.5) * clocks->step_s
		       : noisy;
}

static struct course
run(const struct clocks *clocks)
{
	const double end_s = HOURS * 3600.0;
	struct dice dice = dice_seeded(17);
	struct drift drift;
	struct course course = {0};
	double error_s = clocks->start_s, sum = 0, now_s = 0;
	unsigned count = 0;

	drift_init(&drift);
	while (now_s < end_s) {
		const double after_s = 0.075 + 0.05 * unit(&dice);
		const double parts = drift_look(
			&drift, seen(clocks, error_s, &dice), after_s);

		assert_true(fabs(parts) <= DRIFT_MAX);
		error_s += (difference_at(clocks, now_s) - parts) * after_s;
		now_s += after_s;
		if (now_s < 600)
			course.worst_first_s =
				fmax(course.worst_first_s, fabs(error_s));
		else
			course.worst_s = fmax(course.worst_s, fabs(error_s));
		if (now_s < end_s - 3600)
			continue;
		sum += parts;
		count++;
		course.ppm = sum / count * 1e6;
		if (count > 1000)
			course.swing_ppm = fmax(course.swing_ppm,
						fabs(parts * 1e6 - course.ppm));
	}
	return course;
}

static void
test_what_lies_between_stays(void **state)
{
	static const double ppms[] = {0, 100, -100, 300, -300};

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		const struct clocks clocks = {.ppm = ppms[i], .noise_s = 0.001};
		const struct course course = run(&clocks);

		assert_true(course.worst_first_s < 0.008);
		assert_true(course.worst_s < 0.001);
		assert_true(fabs(course.ppm - ppms[i]) < 1);
		assert_true(course.swing_ppm < 12);
	}
}

/* 10 ms periods, and as much again of noise. */
static void
test_a_coarse_card_is_no_worse(void **state)
{
	static const double ppms[] = {100, -300, 300};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct clocks clocks = {
			.ppm = ppms[i], .step_s = 0.01, .noise_s = 0.01};
		const struct course course = run(&clocks);

		assert_true(course.worst_first_s < 0.012);
		assert_true(course.worst_s < 0.002);
		assert_true(fabs(course.ppm - ppms[i]) < 5);
		assert_true(course.swing_ppm < 90);
	}
}

/* 40 ms too much or too little at first, and a crystal that warms up. */
static void
test_it_comes_back_from_anywhere(void **state)
{
	static const double starts[] = {0.04, -0.04};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct clocks clocks = {.ppm = 150,
					      .wander = 50,
					      .start_s = starts[i],
					      .noise_s = 0.002};
		const struct course course = run(&clocks);

		assert_true(course.worst_first_s < 0.05);
		assert_true(course.worst_s < 0.004);
	}
}

/* Past what may be corrected the fill grows for ever; the answer stays where it
 * is, and comes back at once when the clocks do. */
static void
test_its_limit_is_no_trap(void **state)
{
	struct drift drift;
	unsigned i;

	(void)state;
	drift_init(&drift);
	for (i = 0; i < 100000; i++)
		assert_true(drift_look(&drift, 0.5, 0.075) <= DRIFT_MAX);
	assert_true(drift.parts == DRIFT_MAX);
	for (i = 0; i < 400 && drift.parts > 0; i++)
		(void)drift_look(&drift, -0.02, 0.075);
	assert_true(i < 400);
	drift_jump(&drift);
	assert_true(drift.parts == drift.sum);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_lies_between_stays),
		cmocka_unit_test(test_a_coarse_card_is_no_worse),
		cmocka_unit_test(test_it_comes_back_from_anywhere),
		cmocka_unit_test(test_its_limit_is_no_trap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

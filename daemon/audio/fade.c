/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fade.c - the sine of a quarter turn by its series: seven terms, of which the
 * first that is left out, (pi/2)^15 / 15!, is 6.7e-10. */
#include "daemon/audio/fade.h"

RT_SAFE float
fade_gain(double x)
{
	static const double quarter_turn = 1.57079632679489661923;
	double a, s, sum;

	if (!(x > 0))
		return 0.0F;
	if (x >= 1)
		return 1.0F;
	a = x * quarter_turn;
	s = a * a;
	sum = 1.0 - s / 156.0;
	sum = 1.0 - s / 110.0 * sum;
	sum = 1.0 - s / 72.0 * sum;
	sum = 1.0 - s / 42.0 * sum;
	sum = 1.0 - s / 20.0 * sum;
	sum = 1.0 - s / 6.0 * sum;
	return (float)(a * sum);
}

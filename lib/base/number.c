/* SPDX-License-Identifier: GPL-3.0-or-later */
/* number.c - numbers, words for yes and no, and times, as whole strings.
 *
 * The grammar is checked here before the C library converts anything: no
 * leading space, no hexadecimal, no "inf" or "nan", and a point is a point
 * whatever locale the program runs in. */
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

static bool
is_digit(char character)
{
	return character >= '0' && character <= '9';
}

static const char *
skip_digits(const char *string)
{
	while (is_digit(*string))
		string++;
	return string;
}

static const char *
skip_sign(const char *string)
{
	return *string == '-' || *string == '+' ? string + 1 : string;
}

int
text_parse_int(const char *string, int64_t min, int64_t max, int64_t *ret_value)
{
	const char *digits = skip_sign(string);
	intmax_t value = 0;

	if (!is_digit(*digits) || *skip_digits(digits) != '\0')
		return -EINVAL;
	errno = 0;
	value = strtoimax(string, NULL, 10);
	if (errno != 0 || value < min || value > max)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

static locale_t c_locale;

static void
make_c_locale(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* [+-] digits [. digits] [e [+-] digits], digits on one side of the point. */
static bool
is_decimal(const char *string)
{
	const char *start = skip_sign(string);
	const char *at = skip_digits(start);
	ptrdiff_t digits = at - start;

	if (*at == '.') {
		start = at + 1;
		at = skip_digits(start);
		digits += at - start;
	}
	if (digits == 0)
		return false;
	if (*at == 'e' || *at == 'E') {
		at = skip_sign(at + 1);
		if (!is_digit(*at))
			return false;
		at = skip_digits(at);
	}
	return *at == '\0';
}

int
text_parse_double(const char *string, double *ret_value)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	double value = 0;

	if (!is_decimal(string))
		return -EINVAL;
	pthread_once(&once, make_c_locale);
	value = c_locale != (locale_t)0 ? strtod_l(string, NULL, c_locale)
					: strtod(string, NULL);
	if (!isfinite(value))
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int
text_parse_bool(const char *string, bool *ret_value)
{
	static const char *const words[][2] = {
		{"no", "yes"}, {"false", "true"}, {"off", "on"}, {"0", "1"}};
	size_t i = 0;
	int value = 0;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (value = 0; value < 2; value++) {
			if (strcasecmp(string, words[i][value]) == 0) {
				*ret_value = value == 1;
				return 0;
			}
		}
	}
	return -EINVAL;
}

/* The digits after the point as ns; what is finer is cut. */
static const char *
parse_fraction(const char *at, int64_t *ret_ns)
{
	int64_t scale = NS_PER_S / 10, ns = 0;

	for (; is_digit(*at); at++, scale /= 10)
		ns += (*at - '0') * scale;
	*ret_ns = ns;
	return at;
}

/* Adds the digits at *at, one part between colons; -EINVAL when there are
 * none, -ERANGE when a part after the first reaches 60. */
static int
parse_part(const char **at, bool first, int64_t *seconds)
{
	const int64_t most = INT64_MAX / NS_PER_S / 60 - 1;
	int64_t part = 0;

	if (!is_digit(**at))
		return -EINVAL;
	for (; is_digit(**at); (*at)++) {
		part = part * 10 + (**at - '0');
		if (part > most)
			return -ERANGE;
	}
	if (!first && part >= 60)
		return -ERANGE;
	*seconds = *seconds * 60 + part;
	return *seconds > most ? -ERANGE : 0;
}

int
text_parse_time(const char *string, int64_t *ret_ns)
{
	int64_t seconds = 0, fraction_ns = 0;
	int colons = 0, result = 0;

	for (colons = 0;; colons++) {
		result = parse_part(&string, colons == 0, &seconds);
		if (result < 0)
			return result;
		if (colons == 2 || *string != ':')
			break;
		string++;
	}
	if (*string == '.') {
		if (!is_digit(string[1]))
			return -EINVAL;
		string = parse_fraction(string + 1, &fraction_ns);
	}
	if (*string != '\0')
		return -EINVAL;
	*ret_ns = seconds * NS_PER_S + fraction_ns;
	return 0;
}

void
text_add_time(struct text *text, int64_t ns)
{
	const int64_t seconds = ns / NS_PER_S;

	if (ns < 0) {
		text_add_char(text, '-');
		text_add_time(text, ns == INT64_MIN ? INT64_MAX : -ns);
	} else if (seconds < 3600) {
		text_printf(text, "%" PRId64 ":%02" PRId64, seconds / 60,
			    seconds % 60);
	} else {
		text_printf(text, "%" PRId64 ":%02" PRId64 ":%02" PRId64,
			    seconds / 3600, seconds / 60 % 60, seconds % 60);
	}
}

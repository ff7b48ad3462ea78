/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_number.c - numbers, yes and no, and times. */
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void
test_int(void **state)
{
	static const char *const BAD[] = {"",    "-",    "+",  " 1", "1 ",
					  "1.0", "0x1f", "1a", "--1"};
	int64_t value = 7;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
		assert_int_equal(text_parse_int(BAD[i], -99, 99, &value),
				 -EINVAL);
	assert_int_equal(text_parse_int("100", -99, 99, &value), -ERANGE);
	assert_int_equal(text_parse_int("-100", -99, 99, &value), -ERANGE);
	assert_int_equal(text_parse_int("9223372036854775808", INT64_MIN,
					INT64_MAX, &value),
			 -ERANGE);
	assert_int_equal(value, 7); /* untouched so far */
	assert_int_equal(text_parse_int("-99", -99, 99, &value), 0);
	assert_int_equal(value, -99);
	assert_int_equal(text_parse_int("+007", -99, 99, &value), 0);
	assert_int_equal(value, 7);
	assert_int_equal(text_parse_int("-9223372036854775808", INT64_MIN,
					INT64_MAX, &value),
			 0);
	assert_true(value == INT64_MIN);
}

static void
test_double(void **state)
{
	static const char *const BAD[] = {"",      ".",  "-",  "inf", "nan",
					  "0x1p3", " 1", "1 ", "1e",  "1,5",
					  "1.5.2", "e5", "1e+"};
	double value = 7;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
		assert_int_equal(text_parse_double(BAD[i], &value), -EINVAL);
	assert_int_equal(text_parse_double("1e999", &value), -ERANGE);
	assert_true(value == 7);
	assert_int_equal(text_parse_double("1.5", &value), 0);
	assert_true(value == 1.5);
	assert_int_equal(text_parse_double("-.25", &value), 0);
	assert_true(value == -0.25);
	assert_int_equal(text_parse_double("2.", &value), 0);
	assert_true(value == 2);
	assert_int_equal(text_parse_double("1E3", &value), 0);
	assert_true(value == 1000);
}

static void
test_bool(void **state)
{
	static const char *const YES[] = {"yes", "true", "on", "1", "YES"};
	static const char *const NO[] = {"no", "false", "off", "0", "Off"};
	static const char *const BAD[] = {"", "y", "2", "yes ", "maybe"};
	bool value;
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		value = false;
		assert_int_equal(text_parse_bool(YES[i], &value), 0);
		assert_true(value);
		assert_int_equal(text_parse_bool(NO[i], &value), 0);
		assert_false(value);
		assert_int_equal(text_parse_bool(BAD[i], &value), -EINVAL);
	}
}

static void
test_time(void **state)
{
	static const struct {
		const char *string;
		int64_t ns;
	} GOOD[] = {
		{"0", 0},
		{"90", 90 * NS_PER_S},
		{"1:30", 90 * NS_PER_S},
		{"01:02:03", 3723 * NS_PER_S},
		{"1:30.25", 90 * NS_PER_S + 250 * NS_PER_MS},
		{"0.0000000019", 1},
		{"5.", -EINVAL},
		{"", -EINVAL},
		{":", -EINVAL},
		{"1:", -EINVAL},
		{":30", -EINVAL},
		{"-5", -EINVAL},
		{"1:60", -ERANGE},
		{"1:2:3:4", -EINVAL},
		{"1.5:3", -EINVAL},
		{"1 ", -EINVAL},
		{"99999999999999999999", -ERANGE},
		{"153722867:00:00", -ERANGE},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
		int64_t ns = -1;
		const int result = text_parse_time(GOOD[i].string, &ns);

		if (GOOD[i].ns < 0) {
			assert_int_equal(result, GOOD[i].ns);
			assert_int_equal(ns, -1);
		} else {
			assert_int_equal(result, 0);
			assert_true(ns == GOOD[i].ns);
		}
	}
}

static void
test_add_time(void **state)
{
	struct text text = {0};

	(void)state;
	text_add_time(&text, 0);
	text_add_char(&text, ' ');
	text_add_time(&text, 61 * NS_PER_S + 999 * NS_PER_MS);
	text_add_char(&text, ' ');
	text_add_time(&text, 3600 * NS_PER_S);
	text_add_char(&text, ' ');
	text_add_time(&text, -5 * NS_PER_S);
	assert_string_equal(text_string(&text), "0:00 1:01 1:00:00 -0:05");
	text_clear(&text);
	text_add_time(&text, INT64_MIN);
	assert_string_equal(text_string(&text), "-2562047:47:16");
	text_finish(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_int),      cmocka_unit_test(test_double),
		cmocka_unit_test(test_bool),     cmocka_unit_test(test_time),
		cmocka_unit_test(test_add_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

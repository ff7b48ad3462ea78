/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_key_names.c - the names that rotary knows, and what it takes a wrong one
 * for. */
#include "remote/cli/key_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void
test_names(void **state)
{
	(void)state;
	assert_true(key_names_has("OK"));
	assert_true(key_names_has("ok"));
	assert_true(key_names_has("KEY_VOLUMEUP"));
	assert_true(key_names_has("1"));
	assert_true(key_names_has("REL_DIAL"));
	assert_true(key_names_has("BTN_0"));
	assert_false(key_names_has(""));
	assert_false(key_names_has("KEY_"));
	assert_false(key_names_has("MAX"));
	assert_false(key_names_has("CNT"));
	assert_false(key_names_has("VOLUME"));
}

static void
test_nearest(void **state)
{
	static const char *const pairs[][2] = {
		{"VOLUMUP", "VOLUMEUP"},       {"volume-up", "VOLUMEUP"},
		{"KEY_PLAYPAUS", "PLAYPAUSE"}, {"RIHGT", "RIGHT"},
		{"NUMERIC_10", "NUMERIC_0"},   {"REL_DAIL", "REL_DIAL"},
	};
	size_t i = 0;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_string_equal(key_names_nearest(pairs[i][0]),
				    pairs[i][1]);
	assert_null(key_names_nearest("xylophone"));
	assert_null(key_names_nearest(""));
	assert_null(key_names_nearest(
		"a name that is a good deal longer than any key's name is"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

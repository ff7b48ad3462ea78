/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_text.c - growable text: what is added, dropped, quoted and cut. */
#include "lib/base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void
test_empty(void **state)
{
	struct text text = {0};

	(void)state;
	assert_string_equal(text_string(&text), "");
	text_drop(&text, 5);
	text_clear(&text);
	text_add(&text, "");
	assert_string_equal(text_string(&text), "");
	assert_int_equal(text.length, 0);
	text_finish(&text);
	text_finish(NULL);
}

static void
test_grows(void **state)
{
	struct text text = {0};
	int i;

	(void)state;
	for (i = 0; i < 10000; i++)
		text_add_char(&text, (char)('a' + i % 26));
	text_printf(&text, "%d-%s", 42, "x");
	assert_false(text.failed);
	assert_int_equal(text.length, 10004);
	for (i = 0; i < 10000; i++)
		assert_int_equal(text.bytes[i], 'a' + i % 26);
	assert_string_equal(text.bytes + 10000, "42-x");
	text_finish(&text);
	assert_null(text.bytes);
}

static void
test_exact_growth(void **state)
{
	size_t length;

	(void)state;
	/* Every length around the capacities, added at once and in two. */
	for (length = 60; length < 260; length++) {
		struct text text = {0};
		char bytes[260];

		memset(bytes, 'q', sizeof(bytes));
		text_add_bytes(&text, bytes, length);
		assert_int_equal(text.length, length);
		assert_true(text.length < text.capacity);
		text_add_bytes(&text, bytes, length);
		assert_int_equal(strlen(text.bytes), 2 * length);
		text_finish(&text);
	}
}

static void
test_drop(void **state)
{
	struct text text = {0};

	(void)state;
	text_add(&text, "hello world");
	text_drop(&text, 6);
	assert_string_equal(text_string(&text), "world");
	text_drop(&text, 99);
	assert_string_equal(text_string(&text), "");
	text_add(&text, "again");
	assert_string_equal(text_string(&text), "again");
	text_finish(&text);
}

static void
test_failure_is_remembered(void **state)
{
	struct text text = {0};

	(void)state;
	text_add(&text, "kept");
	text_add_bytes(&text, "x", SIZE_MAX / 2);
	assert_true(text.failed);
	text_add(&text, "dropped");
	assert_string_equal(text_string(&text), "kept");
	text_clear(&text);
	text_add(&text, "new");
	assert_string_equal(text_string(&text), "new");
	text_finish(&text);
}

static void
test_json(void **state)
{
	struct text text = {0};

	(void)state;
	text_add_json(&text, "a\"b\\c\n\t\x01\x7f\xc3\xa9\xff/");
	assert_string_equal(
		text_string(&text),
		"\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\xc3\xa9\xef\xbf\xbd/\"");
	text_finish(&text);
}

static void
test_quotes(void **state)
{
	struct text text = {0};

	(void)state;
	text_add_quoted(&text, "");
	text_add_quoted(&text, "a \"b\" \\c'");
	assert_string_equal(text_string(&text), "\"\"\"a \\\"b\\\" \\\\c'\"");
	text_finish(&text);
}

static void
test_errors_have_words(void **state)
{
	(void)state;
	assert_string_equal(text_of_error(ENOENT), "No such file or directory");
	assert_string_equal(text_of_error(-ENOENT),
			    "No such file or directory");
	assert_string_equal(text_of_error(-99999), "unknown error");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_exact_growth),
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_failure_is_remembered),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_errors_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

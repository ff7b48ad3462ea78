/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/server/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Splits a copy of text, on the heap so that a sanitizer sees its ends. */
struct split {
	char *bytes;
	struct line line;
	enum line_result result;
	const char *error;
};

static struct split
split(const char *text)
{
	struct split s = {.bytes = strdup(text), .error = ""};

	assert_non_null(s.bytes);
	s.result = line_split(s.bytes, &s.line, &s.error);
	return s;
}

static void
assert_args(const char *text, size_t count, const char *const *args)
{
	struct split s = split(text);
	size_t i;

	assert_int_equal(s.result, LINE_OK);
	assert_int_equal(s.line.arg_count, count);
	for (i = 0; i < count; i++)
		assert_string_equal(s.line.args[i], args[i]);
	free(s.bytes);
}

static void
assert_refused(const char *text, enum line_result result, const char *error)
{
	struct split s = split(text);

	assert_int_equal(s.result, result);
	assert_string_equal(s.error, error);
	free(s.bytes);
}

static void
test_words(void **state)
{
	struct split s;

	(void)state;
	s = split("status");
	assert_int_equal(s.result, LINE_OK);
	assert_string_equal(s.line.word, "status");
	assert_int_equal(s.line.arg_count, 0);
	free(s.bytes);
	s = split("Play_2 1");
	assert_int_equal(s.result, LINE_OK);
	assert_string_equal(s.line.word, "Play_2");
	free(s.bytes);
	assert_refused("", LINE_NOT_OURS, "Letter expected");
	assert_refused(" ping", LINE_NOT_OURS, "Letter expected");
	assert_refused("1ping", LINE_NOT_OURS, "Letter expected");
	assert_refused("\"ping\"", LINE_NOT_OURS, "Letter expected");
	assert_refused("foo-bar", LINE_NOT_OURS, "Invalid word character");
	assert_refused("foo\"bar\"", LINE_NOT_OURS, "Invalid word character");
	assert_refused("foo\xc3\xa4", LINE_NOT_OURS, "Invalid word character");
}

static void
test_plain_arguments(void **state)
{
	(void)state;
	assert_args("a b", 1, (const char *[]){"b"});
	assert_args("a b c", 2, (const char *[]){"b", "c"});
	assert_args("a  b\t\x01 c ", 2, (const char *[]){"b", "c"});
	assert_args("a \\b", 1, (const char *[]){"\\b"});
	assert_args("a \x7f\x80\xff", 1, (const char *[]){"\x7f\x80\xff"});
	assert_refused("a 'b'", LINE_BAD, "Invalid unquoted character");
	assert_refused("a b'c", LINE_BAD, "Invalid unquoted character");
	assert_refused("a b\"c\"", LINE_BAD, "Invalid unquoted character");
}

static void
test_quoted_arguments(void **state)
{
	(void)state;
	assert_args("a \"\"", 1, (const char *[]){""});
	assert_args("a \"b c\"", 1, (const char *[]){"b c"});
	assert_args("a  \"b\"  \"c\" ", 2, (const char *[]){"b", "c"});
	assert_args("a \"it's\"", 1, (const char *[]){"it's"});
	assert_args("a \"\\\"\\\\\\n\"", 1, (const char *[]){"\"\\n"});
	assert_args("a \"(artist == \\\"x\\\")\" 1", 2,
		    (const char *[]){"(artist == \"x\")", "1"});
	assert_refused("a \"", LINE_BAD, "Missing closing '\"'");
	assert_refused("a \"b", LINE_BAD, "Missing closing '\"'");
	assert_refused("a \"b\\", LINE_BAD, "Missing closing '\"'");
	assert_refused("a \"b\\\"", LINE_BAD, "Missing closing '\"'");
	assert_refused("a \"b\"c", LINE_BAD,
		       "Space expected after closing '\"'");
	assert_refused("a \"b\"\"c\"", LINE_BAD,
		       "Space expected after closing '\"'");
}

static void
test_argument_count(void **state)
{
	char text[256] = "a";
	struct split s;
	int i;

	(void)state;
	for (i = 0; i < LINE_ARGS_MAX; i++)
		strcat(text, " b");
	s = split(text);
	assert_int_equal(s.result, LINE_OK);
	assert_int_equal(s.line.arg_count, LINE_ARGS_MAX);
	free(s.bytes);
	strcat(text, " ");
	s = split(text);
	assert_int_equal(s.result, LINE_OK);
	free(s.bytes);
	strcat(text, "b");
	assert_refused(text, LINE_TOO_MANY, "Too many arguments");
}

static void
test_strip(void **state)
{
	char text[] = "ping \t\r";
	char blank[] = " \r";

	(void)state;
	line_strip(text);
	assert_string_equal(text, "ping");
	line_strip(blank);
	assert_string_equal(blank, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_plain_arguments),
		cmocka_unit_test(test_quoted_arguments),
		cmocka_unit_test(test_argument_count),
		cmocka_unit_test(test_strip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

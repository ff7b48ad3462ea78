/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/source/name.h"

#include "lib/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void
test_outside(void **state)
{
	static const struct {
		const char *inside, *outside;
	} names[] = {
		{"plain.flac", "plain.flac"},
		{"100%.flac", "100%.flac"},
		{"a%FF.flac", "a%FF.flac"},
		{"caf\xc3\xa9", "caf\xc3\xa9"},
		{"caf\xe9", "caf%E9"},
		{"caf\xe9 100%", "caf%E9 100%25"},
		{"\xc3\xa9\xe9\xc3", "\xc3\xa9%E9%C3"},
		{"tab\there", "tab%09here"},
		{"\xf0\x9f\x8e\xb5 \xf0\x9f\x8e", "\xf0\x9f\x8e\xb5 %F0%9F%8E"},
		{"\xed\xa0\x80", "%ED%A0%80"},
		{"x\xff/100%/y", "x%FF/100%/y"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct text text = {0};
		struct text back = {0};
		bool differs;

		name_add_outside(&text, names[i].inside);
		assert_string_equal(text_string(&text), names[i].outside);
		differs = name_add_inside(&back, text_string(&text));
		if (strcmp(names[i].inside, names[i].outside) != 0) {
			assert_true(differs);
			assert_string_equal(text_string(&back),
					    names[i].inside);
		}
		text_finish(&text);
		text_finish(&back);
	}
}

/* What no name would be written as stays what it is. */
static void
test_inside(void **state)
{
	static const char *const plain[] = {
		"100%",     "100%25",  "a%", "a%4", "a%e9", "a%41",
		"%2F%FF/x", "a%00%FF", "",   "/",   "a//b",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		struct text text = {0};

		assert_false(name_add_inside(&text, plain[i]));
		assert_string_equal(text_string(&text), plain[i]);
		text_finish(&text);
	}
}

/* Every byte string comes back. */
static void
test_every_pair(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 65536; i++) {
		const char name[] = {'a', (char)(i >> 8), (char)i, '\0'};
		struct text text = {0};
		struct text back = {0};

		if ((i & 0xff) == 0 || i >> 8 == 0 || i >> 8 == '/' ||
		    (i & 0xff) == '/')
			continue;
		name_add_outside(&text, name);
		assert_true(utf8_valid(text.bytes, text.length));
		(void)name_add_inside(&back, text_string(&text));
		assert_string_equal(text_string(&back), name);
		text_finish(&text);
		text_finish(&back);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_every_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

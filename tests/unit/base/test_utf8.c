/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_utf8.c - UTF-8 against a second decoder, one that computes the code
 * point and asks whether this was its shortest form. */
#include "lib/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Length of the character at bytes by arithmetic, or 0. */
static size_t
reference_length(const unsigned char *bytes, size_t length)
{
	static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t point;
	size_t need, i;

	if (bytes[0] < 0x80)
		return 1;
	for (need = 2; need <= 4; need++) {
		const unsigned mask = (0xFF00U >> need) & 0xFF;
		const unsigned next = 0x80U >> need;

		if ((bytes[0] & mask) == mask && (bytes[0] & next) == 0)
			break;
	}
	if (need > 4 || length < need)
		return 0;
	point = bytes[0] & (0x7FU >> need);
	for (i = 1; i < need; i++) {
		if (bytes[i] >> 6 != 2)
			return 0;
		point = point << 6 | (bytes[i] & 0x3F);
	}
	if (point < LEAST[need] || point > 0x10FFFF)
		return 0;
	return point >= 0xD800 && point <= 0xDFFF ? 0 : need;
}

static bool
reference_valid(const unsigned char *bytes, size_t length)
{
	while (length > 0) {
		const size_t step = reference_length(bytes, length);

		if (step == 0 || *bytes == 0)
			return false;
		bytes += step;
		length -= step;
	}
	return true;
}

static void
check(const unsigned char *bytes, size_t length)
{
	if (utf8_valid((const char *)bytes, length) !=
	    reference_valid(bytes, length))
		fail_msg("%02x %02x %02x %02x (%zu bytes)", bytes[0], bytes[1],
			 bytes[2], bytes[3], length);
}

static void
test_all_pairs(void **state)
{
	unsigned char bytes[4] = {0};
	unsigned i;

	(void)state;
	for (i = 0; i < 0x10000; i++) {
		bytes[0] = (unsigned char)(i >> 8);
		bytes[1] = (unsigned char)i;
		check(bytes, 1);
		check(bytes, 2);
	}
}

/* Every first and second byte with the borders of the third and fourth. */
static void
test_long_forms(void **state)
{
	static const unsigned char BORDERS[] = {0x00, 0x41, 0x7F, 0x80,
						0x8F, 0xBF, 0xC0, 0xFF};
	unsigned char bytes[4];
	unsigned i, third, fourth;

	(void)state;
	for (i = 0; i < 0x10000; i++) {
		bytes[0] = (unsigned char)(i >> 8);
		bytes[1] = (unsigned char)i;
		for (third = 0; third < sizeof(BORDERS); third++) {
			bytes[2] = BORDERS[third];
			bytes[3] = 0;
			check(bytes, 3);
			for (fourth = 0; fourth < sizeof(BORDERS); fourth++) {
				bytes[3] = BORDERS[fourth];
				check(bytes, 4);
			}
		}
	}
}

static void
test_known(void **state)
{
	(void)state;
	assert_true(utf8_valid("", 0));
	assert_true(utf8_valid("\xf4\x8f\xbf\xbf", 4));  /* U+10FFFF */
	assert_false(utf8_valid("\xf4\x90\x80\x80", 4)); /* above it */
	assert_false(utf8_valid("\xed\xa0\x80", 3));     /* a surrogate */
	assert_false(utf8_valid("\xc0\xaf", 2));         /* overlong '/' */
	assert_false(utf8_valid("\xe0\x80\xaf", 3));
	assert_false(utf8_valid("\xf0\x80\x80\xaf", 4));
	assert_false(utf8_valid("a\0b", 3));
	assert_false(utf8_valid("\xe2\x82", 2)); /* cut off */
}

static void
assert_clean(const char *bytes, size_t length, size_t limit,
	     const char *expected)
{
	struct text text = {0};

	text_add_clean(&text, bytes, length, limit);
	assert_string_equal(text_string(&text), expected);
	assert_true(utf8_valid(text_string(&text), text.length));
	text_finish(&text);
}

static void
test_clean(void **state)
{
	(void)state;
	assert_clean("a\nb\tc\rd\0e\x7f", 10, 99, "a b c d e ");
	assert_clean("\xc2\x85x\xe2\x80\xa8y", 7, 99, " x y");
	assert_clean("\xffq", 2, 99, "\xef\xbf\xbdq");
	assert_clean("\xe2\x82z", 3, 99, "\xef\xbf\xbd\xef\xbf\xbdz");
	assert_clean("\xed\xa0\x80", 3, 99,
		     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	/* Cut at a character, never in one. */
	assert_clean("\xc3\xa9\xc3\xa9", 4, 3, "\xc3\xa9");
	assert_clean("abc", 3, 2, "ab");
	assert_clean("abc", 3, 0, "");
	assert_clean("\xff\xff", 2, 5, "\xef\xbf\xbd");
}

/* Whatever comes in, what comes out is valid and within the limit. */
static void
test_clean_noise(void **state)
{
	uint32_t random = 1;
	unsigned round;

	(void)state;
	for (round = 0; round < 2000; round++) {
		struct text text = {0};
		char bytes[48];
		size_t i;

		for (i = 0; i < sizeof(bytes); i++) {
			random = random * 1664525 + 1013904223;
			bytes[i] = (char)(random >> 24);
		}
		text_add_clean(&text, bytes, sizeof(bytes), round % 150);
		assert_true(text.length <= round % 150);
		assert_true(utf8_valid(text_string(&text), text.length));
		assert_null(strpbrk(text_string(&text), "\r\n\t\x01\x1b\x7f"));
		text_finish(&text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_pairs),
		cmocka_unit_test(test_long_forms),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_clean_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

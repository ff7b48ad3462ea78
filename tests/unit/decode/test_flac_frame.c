/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FLAC's headers, by examples worked out from RFC 9639 by hand. */
#include "daemon/decode/flac_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The first frame of the RFC's example 1 (appendix D.1): one block of 1 frame,
 * 44.1 kHz, 2 channels, 16 bits, number 0. */
static const uint8_t example[] = {0xff, 0xf8, 0x69, 0x18, 0x00, 0x00, 0xbf};

static void
test_the_example_of_the_standard(void **state)
{
	struct flac_frame frame;

	(void)state;
	assert_int_equal(flac_frame_parse(example, sizeof(example), &frame),
			 FLAC_PARSE_OK);
	assert_int_equal(frame.header_bytes, 7);
	assert_int_equal(frame.block_frames, 1);
	assert_int_equal(frame.rate_hz, 44100);
	assert_int_equal(frame.channels, 2);
	assert_int_equal(frame.bits, 16);
	assert_int_equal(frame.number, 0);
	assert_false(frame.variable);
	for (size_t length = 0; length < sizeof(example); length++)
		assert_int_equal(flac_frame_parse(example, length, &frame),
				 FLAC_PARSE_SHORT);
}

static void
test_each_flipped_bit_is_noticed(void **state)
{
	(void)state;
	for (size_t bit = 0; bit < sizeof(example) * 8; bit++) {
		uint8_t bytes[FLAC_FRAME_HEADER_MAX] = {0};
		struct flac_frame frame;

		memcpy(bytes, example, sizeof(example));
		bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		assert_int_not_equal(
			flac_frame_parse(bytes, sizeof(bytes), &frame),
			FLAC_PARSE_OK);
	}
}

/* The same frame with its samples, 25588 and 10372, and its CRC-16. */
static void
test_a_whole_frame(void **state)
{
	static const uint8_t whole[] = {0xff, 0xf8, 0x69, 0x18, 0x00,
					0x00, 0xbf, 0x03, 0x58, 0xfd,
					0x03, 0x12, 0x8b, 0xaa, 0x9a};
	uint8_t bytes[sizeof(whole) + 1] = {0};

	(void)state;
	assert_true(flac_frame_is_whole(whole, sizeof(whole)));
	for (size_t length = 1; length < sizeof(whole); length++)
		assert_false(flac_frame_is_whole(whole, length));
	for (size_t bit = 0; bit < sizeof(whole) * 8; bit++) {
		memcpy(bytes, whole, sizeof(whole));
		bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		assert_false(flac_frame_is_whole(bytes, sizeof(whole)));
	}
	memcpy(bytes, whole, sizeof(whole));
	bytes[sizeof(whole)] = 1;
	assert_false(flac_frame_is_whole(bytes, sizeof(bytes)));
}

static uint8_t
crc8(const uint8_t *bytes, size_t length)
{
	unsigned int crc = 0;

	for (size_t i = 0; i < length * 8; i++) {
		const unsigned int bit = bytes[i / 8] >> (7 - i % 8) & 1;
		const unsigned int out = crc >> 7 & 1;

		crc = (crc << 1 & 0xff) ^ (bit != out ? 7 : 0);
	}
	return (uint8_t)crc;
}

static void
test_numbers_of_each_length(void **state)
{
	static const struct {
		uint64_t number;
		size_t length;
		uint8_t coded[7];
	} cases[] = {
		{0x7f, 1, {0x7f}},
		{0x80, 2, {0xc2, 0x80}},
		{0x7ff, 2, {0xdf, 0xbf}},
		{0xffff, 3, {0xef, 0xbf, 0xbf}},
		{0x1fffff, 4, {0xf7, 0xbf, 0xbf, 0xbf}},
		{0x3ffffff, 5, {0xfb, 0xbf, 0xbf, 0xbf, 0xbf}},
		{0x7fffffff, 6, {0xfd, 0xbf, 0xbf, 0xbf, 0xbf, 0xbf}},
		{0xfffffffff, 7, {0xfe, 0xbf, 0xbf, 0xbf, 0xbf, 0xbf, 0xbf}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* 4608 frames, rate of 2 bytes in 10 Hz, 6 channels, 24 bits */
		uint8_t bytes[FLAC_FRAME_HEADER_MAX] = {0xff, 0xf9, 0x5e, 0x5c};
		size_t length = 4 + cases[i].length;
		struct flac_frame frame;

		memcpy(bytes + 4, cases[i].coded, cases[i].length);
		bytes[length++] = 0x13;
		bytes[length++] = 0x88;
		bytes[length] = crc8(bytes, length);
		assert_int_equal(flac_frame_parse(bytes, length + 1, &frame),
				 FLAC_PARSE_OK);
		assert_int_equal(frame.number, cases[i].number);
		assert_true(frame.variable);
		assert_int_equal(frame.block_frames, 4608);
		assert_int_equal(frame.rate_hz, 50000);
		assert_int_equal(frame.channels, 6);
		assert_int_equal(frame.bits, 24);
		assert_int_equal(frame.header_bytes, length + 1);
	}
}

static void
test_finding(void **state)
{
	uint8_t bytes[300];
	struct flac_frame frame;
	bool found;

	(void)state;
	memset(bytes, 0xff, sizeof(bytes));
	memcpy(bytes + 200, example, sizeof(example));
	assert_int_equal(flac_frame_find(bytes, 300, 0, &frame, &found), 200);
	assert_true(found);
	assert_int_equal(flac_frame_find(bytes, 203, 0, &frame, &found), 200);
	assert_false(found);
	assert_int_equal(flac_frame_find(bytes, 150, 3, &frame, &found), 149);
	assert_false(found);
	assert_int_equal(flac_frame_find(bytes + 201, 5, 0, &frame, &found), 5);
	assert_false(found);
}

static void
test_stream_info(void **state)
{
	/* The standard's example 1 again. */
	static const uint8_t bytes[FLAC_STREAM_INFO_BYTES] = {
		0x10, 0x00, 0x10, 0x00, 0x00, 0x00, 0x0f, 0x00, 0x00, 0x0f,
		0x0a, 0xc4, 0x42, 0xf0, 0x00, 0x00, 0x00, 0x01, 0x3e, 0x84};
	uint8_t bad[FLAC_STREAM_INFO_BYTES];
	struct flac_stream_info info;

	(void)state;
	assert_true(flac_stream_info_parse(bytes, &info));
	assert_int_equal(info.block_min, 4096);
	assert_int_equal(info.block_max, 4096);
	assert_int_equal(info.frame_bytes_max, 15);
	assert_int_equal(info.rate_hz, 44100);
	assert_int_equal(info.channels, 2);
	assert_int_equal(info.bits, 16);
	assert_int_equal(info.frames, 1);
	memcpy(bad, bytes, sizeof(bad));
	memset(bad + 10, 0, 3);
	assert_false(flac_stream_info_parse(bad, &info));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_example_of_the_standard),
		cmocka_unit_test(test_each_flipped_bit_is_noticed),
		cmocka_unit_test(test_a_whole_frame),
		cmocka_unit_test(test_numbers_of_each_length),
		cmocka_unit_test(test_finding),
		cmocka_unit_test(test_stream_info),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

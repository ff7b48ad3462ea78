/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/decode/reader.h"
#include "lib/sync/byte_ring.h"
#include "tests/kit/music/music.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RING_BYTES = 8000 };

static void
test_suffixes(void **state)
{
	(void)state;
	assert_true(decoder_knows_suffix("a.flac"));
	assert_true(decoder_knows_suffix("b/c.d/X.FLAC"));
	assert_true(decoder_knows_suffix("a.ogg"));
	assert_true(decoder_knows_suffix(".oga"));
	assert_false(decoder_knows_suffix("flac"));
	assert_false(decoder_knows_suffix("a.flac/b"));
	assert_false(decoder_knows_suffix("a.flac.part"));
	assert_false(decoder_knows_suffix(""));
}

/* What decoder_open() says of length bytes under a name. */
static int
open_bytes(const void *bytes, size_t length, const char *name,
	   const char **ret_reason, const char **ret_format)
{
	static uint8_t buffer[RING_BYTES];
	struct byte_ring ring;
	struct reader reader;
	struct decoder *decoder = NULL;
	size_t room;
	int error;

	byte_ring_init(&ring, buffer, sizeof(buffer));
	memcpy(byte_ring_write_span(&ring, &room), bytes, length);
	byte_ring_commit(&ring, length);
	byte_ring_end(&ring);
	reader_init(&reader, &ring, NULL);
	*ret_reason = NULL;
	error = decoder_open(NULL, &reader, name, &decoder, ret_reason);
	*ret_format = decoder != NULL ? decoder->ops->name : NULL;
	if (decoder != NULL) {
		uint32_t samples[100];
		size_t frames;

		assert_int_equal(
			decoder->ops->decode(decoder, samples, 100, &frames),
			DECODE_OK);
		assert_int_equal(frames, 100);
	}
	decoder_destroy(decoder);
	return error;
}

static void
test_content_is_stronger_than_the_name(void **state)
{
	const struct recipe recipe = {.rate_hz = 8000,
				      .channels = 1,
				      .bits = 8,
				      .frames = 500,
				      .seed = 1};
	struct bytes file = {0};
	const char *reason;
	const char *format;

	(void)state;
	make_flac(&recipe, &file, NULL);
	assert_true(file.length < RING_BYTES);
	assert_int_equal(
		open_bytes(file.data, file.length, "x.ogg", &reason, &format),
		0);
	assert_string_equal(format, "flac");
	assert_int_equal(
		open_bytes(file.data, file.length, "x", &reason, &format), 0);
	/* The magic is broken, but the name says where to look. */
	file.data[0] = 'F';
	assert_int_equal(
		open_bytes(file.data, file.length, "x", &reason, &format),
		-EINVAL);
	assert_non_null(reason);
	assert_int_equal(
		open_bytes(file.data, file.length, "x.flac", &reason, &format),
		0);
	bytes_finish(&file);
}

static void
test_nothing_and_noise_are_refused(void **state)
{
	static const char *const names[] = {"x.flac", "x.ogg", "x.oga", "x"};
	static uint8_t noise[3000];
	const char *reason;
	const char *format;

	(void)state;
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)(i * i * 31 >> 3);
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		for (size_t length = 0; length < sizeof(noise); length += 999) {
			assert_int_equal(open_bytes(noise, length, names[n],
						    &reason, &format),
					 -EINVAL);
			assert_non_null(reason);
			assert_null(format);
		}
	/* A header and no sound. */
	assert_int_equal(
		open_bytes("fLaC\x80\0\0\x22\x10\0\x10\0\0\0\0\0\0\0"
			   "\x0a\xc4\x42\xf0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
			   "\0\0\0\0",
			   42, "x.flac", &reason, &format),
		-EINVAL);
	assert_non_null(strstr(reason, "no sound"));
}

/* Where nothing but the ring is: formats must not want to go back. */
static void
test_without_a_source(void **state)
{
	struct recipe recipe = {.rate_hz = 8000,
				.channels = 1,
				.bits = 8,
				.frames = 600,
				.seed = 1};
	static const char *const formats[] = {"flac", "ogg flac", "vorbis"};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct bytes file = {0};
		const char *reason;
		const char *format;

		recipe.ogg = i == 1;
		if (i == 2)
			make_vorbis(&recipe, &file);
		else
			make_flac(&recipe, &file, NULL);
		assert_true(file.length < RING_BYTES);
		assert_int_equal(open_bytes(file.data, file.length, "x",
					    &reason, &format),
				 0);
		assert_string_equal(format, formats[i]);
		bytes_finish(&file);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suffixes),
		cmocka_unit_test(test_content_is_stronger_than_the_name),
		cmocka_unit_test(test_without_a_source),
		cmocka_unit_test(test_nothing_and_noise_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

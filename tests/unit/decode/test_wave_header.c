/* SPDX-License-Identifier: GPL-3.0-or-later */
/* WAVE headers as they are found in the wild, and worse, written by hand. */
#include "tests/kit/music/music.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { FRAMES = 300, SIZE_UNKNOWN = -1, SIZE_NONE = -2, SIZE_LARGE = -3 };

struct format {
	uint32_t tag;
	uint32_t channels;
	uint32_t rate_hz;
	uint32_t bytes; /* of a sample */
	uint32_t bits;
	uint32_t valid; /* not 0: extensible */
};

static const struct format plain = {1, 2, 44100, 2, 16, 0};

static void
put(struct bytes *file, uint64_t value, unsigned bytes)
{
	for (; bytes > 0; bytes--, value >>= 8)
		bytes_append(file, &(uint8_t){(uint8_t)value}, 1);
}

static void
put_text(struct bytes *file, const char *text)
{
	bytes_append(file, text, strlen(text));
}

static void
put_chunk(struct bytes *file, const char *id, const char *body, size_t length)
{
	put_text(file, id);
	put(file, length, 4);
	bytes_append(file, body, length);
	bytes_append(file, NULL, length % 2);
}

static void
put_format(struct bytes *file, const struct format *format)
{
	const bool extensible = format->valid > 0;
	const uint32_t frame = format->channels * format->bytes;

	put_text(file, "fmt ");
	put(file, extensible ? 40 : 16, 4);
	put(file, extensible ? 0xfffe : format->tag, 2);
	put(file, format->channels, 2);
	put(file, format->rate_hz, 4);
	put(file, (uint64_t)format->rate_hz * frame, 4);
	put(file, frame, 2);
	put(file, format->bits, 2);
	if (!extensible)
		return;
	put(file, 22, 2);
	put(file, format->valid, 2);
	put(file, 0, 4);
	put(file, format->tag, 2);
	bytes_append(file, "\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 14);
}

static void
put_begin(struct bytes *file)
{
	put_text(file, "RIFF");
	put(file, 0, 4);
	put_text(file, "WAVE");
}

/* Sound: a byte never is what the one beside it is. size >= 0: bytes. */
static void
put_data(struct bytes *file, uint32_t bytes, int size)
{
	put_text(file, "data");
	put(file,
	    size >= 0              ? (uint32_t)size
	    : size == SIZE_UNKNOWN ? UINT32_MAX
	    : size == SIZE_LARGE   ? 0x7fffffff
				   : 0,
	    4);
	for (uint32_t i = 0; i < bytes; i++)
		put(file, i * 37 + (i >> 8), 1);
}

static void
seal(struct bytes *file)
{
	const uint32_t size = (uint32_t)file->length - 8;

	for (unsigned i = 0; i < 4; i++)
		file->data[4 + i] = (uint8_t)(size >> (8 * i));
}

/* A whole file. */
static void
make(struct bytes *file, const struct format *format, uint32_t frames)
{
	const uint32_t bytes = frames * format->channels * format->bytes;

	put_begin(file);
	put_format(file, format);
	put_data(file, bytes, (int)bytes);
	seal(file);
}

/* Plays frames frames of 16 bits: what put_data() put. */
static void
check_plays(const struct bytes *file, uint64_t frames)
{
	struct bytes got = {0};
	struct decoder_info info;

	assert_int_equal(play(file, &got, &info), DECODE_END);
	assert_int_equal(info.frames, frames);
	assert_int_equal(got.length, frames * 8);
	for (size_t i = 0; i < got.length; i++) {
		const uint32_t k = (uint32_t)(i / 4 * 2 + i % 4 - 2);

		assert_int_equal(got.data[i],
				 i % 4 < 2 ? 0 : (uint8_t)(k * 37 + (k >> 8)));
	}
	bytes_finish(&got);
}

static void
check_refused(const struct bytes *file, int error, const char *reason)
{
	struct player player;

	assert_int_equal(player_open(&player, file, 0, 0, NULL), error);
	assert_non_null(strstr(player.reason, reason));
	player_close(&player);
}

static void
test_sizes_that_were_never_finished(void **state)
{
	static const int sizes[] = {0, SIZE_UNKNOWN, SIZE_LARGE, FRAMES * 4,
				    FRAMES * 4 + 100};
	struct bytes file = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		file.length = 0;
		put_begin(&file);
		put_format(&file, &plain);
		put_data(&file, FRAMES * 4, sizes[i]);
		check_plays(&file, FRAMES); /* with a RIFF size of 0 */
		seal(&file);
		check_plays(&file, FRAMES);
		memset(file.data + 4, 0xff, 4);
		check_plays(&file, FRAMES);
		/* Half a frame more is none. */
		put(&file, 1, 3);
		check_plays(&file, FRAMES);
	}
	bytes_finish(&file);
}

static void
test_chunks_around_the_sound(void **state)
{
	struct bytes file = {0};

	(void)state;
	put_begin(&file);
	put_chunk(&file, "JUNK", "odd", 3);
	put_format(&file, &plain);
	put_chunk(&file, "bext", "something", 9);
	put_chunk(&file, "fact", "\1\0\0\0", 4);
	put_data(&file, FRAMES * 4, FRAMES * 4);
	put_chunk(&file, "id3 ", "ID3\3\0\0\0\0\0\0", 10);
	put_chunk(&file, "cue ", "\0\0\0\0", 4);
	seal(&file);
	check_plays(&file, FRAMES);
	bytes_finish(&file);
}

/* A chunk of size 0 with others behind it has no sound in it. */
static void
test_no_frame_at_all(void **state)
{
	struct bytes file = {0};

	(void)state;
	make(&file, &plain, 0);
	check_refused(&file, -EINVAL, "no sound");
	put_chunk(&file, "LIST", "INFOINAM\2\0\0\0x\0", 14);
	seal(&file);
	check_refused(&file, -EINVAL, "no sound");
	bytes_finish(&file);
}

static void
test_id3_in_front(void **state)
{
	static const char tag[] = "ID3\3\0\0\0\0\0\x05"
				  "abcde";
	struct bytes file = {0};
	struct bytes tagged = {0};

	(void)state;
	make(&file, &plain, FRAMES);
	bytes_append(&tagged, tag, sizeof(tag) - 1);
	bytes_append(&tagged, tag, sizeof(tag) - 1);
	bytes_append(&tagged, file.data, file.length);
	check_plays(&tagged, FRAMES);
	bytes_finish(&file);
	bytes_finish(&tagged);
}

static void
test_bw64(void **state)
{
	struct bytes file = {0};

	(void)state;
	put_text(&file, "BW64");
	put(&file, UINT32_MAX, 4);
	put_text(&file, "WAVE");
	put_text(&file, "ds64");
	put(&file, 28, 4);
	put(&file, 12 + 36 + 24 + 8 + FRAMES * 4 - 8, 8);
	put(&file, FRAMES * 4, 8);
	put(&file, FRAMES, 8);
	put(&file, 0, 4);
	put_format(&file, &plain);
	put_data(&file, FRAMES * 4, SIZE_UNKNOWN);
	check_plays(&file, FRAMES);
	bytes_finish(&file);
}

static void
test_bits_that_count(void **state)
{
	static const struct {
		struct format format;
		uint32_t bits;
	} rows[] = {
		{{1, 2, 44100, 1, 8, 0}, 8},    {{1, 2, 44100, 2, 16, 0}, 16},
		{{1, 2, 44100, 2, 12, 0}, 12},  {{1, 2, 44100, 3, 20, 0}, 20},
		{{1, 2, 44100, 3, 24, 20}, 20}, {{1, 2, 44100, 3, 24, 24}, 24},
		{{1, 2, 44100, 4, 32, 24}, 24}, {{1, 2, 44100, 4, 32, 32}, 32},
		{{1, 2, 44100, 4, 32, 7}, 32},  {{1, 2, 44100, 3, 24, 99}, 24},
		{{3, 2, 44100, 4, 32, 0}, 0},   {{3, 2, 44100, 8, 64, 0}, 0},
	};
	struct bytes file = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes got = {0};
		struct decoder_info info;

		file.length = 0;
		make(&file, &rows[i].format, FRAMES);
		assert_int_equal(play(&file, &got, &info), DECODE_END);
		assert_int_equal(info.frames, FRAMES);
		assert_int_equal(info.spec.bits, rows[i].bits);
		bytes_finish(&got);
	}
	bytes_finish(&file);
}

static void
test_what_is_refused(void **state)
{
	static const struct {
		struct format format;
		int error;
		const char *reason;
	} rows[] = {
		{{1, 9, 44100, 2, 16, 0}, -ENOTSUP, "8 channels"},
		{{1, 255, 44100, 2, 16, 0}, -ENOTSUP, "8 channels"},
		{{1, 2, 0, 2, 16, 0}, -EINVAL, ""},
		{{1, 0, 44100, 2, 16, 0}, -EINVAL, ""},
		{{1, 2, 0xffffffff, 2, 16, 0}, -EINVAL, ""},
		{{1, 2, 2000000, 2, 16, 0}, -ENOTSUP, ""},
		{{0x31, 1, 8000, 1, 0, 0}, -ENOTSUP, "compressed"},
		{{0x55, 2, 44100, 1, 0, 0}, -ENOTSUP, "compressed"},
		{{0x161, 2, 44100, 2, 16, 0}, -ENOTSUP, "compressed"},
	};
	struct bytes file = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		file.length = 0;
		make(&file, &rows[i].format, FRAMES);
		check_refused(&file, rows[i].error, rows[i].reason);
	}
	bytes_finish(&file);
}

static void
note_tag(void *context, const char *name, const char *value, size_t length)
{
	struct bytes *seen = context;

	assert_true(length == strlen(value));
	put_text(seen, name);
	put_text(seen, "=");
	put_text(seen, value);
	put_text(seen, ";");
}

static void
test_tags_in_front_and_behind(void **state)
{
	static const char list[] = "INFOINAM\6\0\0\0Title\0"
				   "IART\5\0\0\0Me\xe9 \0\0IPRD\2\0\0\0X\0"
				   "ICRD\5\0\0\0"
				   "1999\0\0ITRK\2\0\0\0"
				   "3\0"
				   "IGNR\2\0\0\0G\0";
	struct bytes file = {0};

	(void)state;
	for (int behind = 0; behind < 2; behind++) {
		struct bytes seen = {0};
		struct player player;

		file.length = 0;
		put_begin(&file);
		put_format(&file, &plain);
		if (behind == 0)
			put_chunk(&file, "LIST", list, sizeof(list) - 1);
		put_data(&file, FRAMES * 4, FRAMES * 4);
		if (behind == 1)
			put_chunk(&file, "LIST", list, sizeof(list) - 1);
		seal(&file);
		check_plays(&file, FRAMES);
		assert_int_equal(player_open(&player, &file, 0, 0, NULL), 0);
		assert_int_equal(player.decoder->ops->tags(player.decoder,
							   note_tag, &seen),
				 0);
		player_close(&player);
		put(&seen, 0, 1);
		assert_string_equal((char *)seen.data,
				    "TITLE=Title;ARTIST=Me\xe9 ;ALBUM=X;"
				    "DATE=1999;TRACKNUMBER=3;GENRE=G;");
		bytes_finish(&seen);
	}
	bytes_finish(&file);
}

/* A resampler would never get rid of a NaN. */
static void
test_floats_that_are_none(void **state)
{
	static const float in[] = {NAN,    -NAN,   INFINITY, -INFINITY, 1e38F,
				   -1e38F, 1e-45F, -0.5F,    1.5F,      0.0F};
	static const float wanted[] = {0.0F,     0.0F,      65536.0F, -65536.0F,
				       65536.0F, -65536.0F, 1e-45F,   -0.5F,
				       1.5F,     0.0F};
	const uint32_t count = sizeof(in) / sizeof(in[0]);

	(void)state;
	for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
		const struct format format = {3, 1, 48000, bytes, bytes * 8, 0};
		struct bytes file = {0};
		struct bytes got = {0};

		make(&file, &format, count);
		for (uint32_t i = 0; i < count; i++) {
			const double wide = (double)in[i];
			uint8_t *to = file.data + 44 + (size_t)i * bytes;

			if (bytes == 4)
				memcpy(to, &in[i], bytes);
			else
				memcpy(to, &wide, bytes);
		}
		assert_int_equal(play(&file, &got, NULL), DECODE_END);
		assert_int_equal(got.length, sizeof(wanted));
		assert_memory_equal(got.data, wanted, sizeof(wanted));
		bytes_finish(&file);
		bytes_finish(&got);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_that_were_never_finished),
		cmocka_unit_test(test_chunks_around_the_sound),
		cmocka_unit_test(test_no_frame_at_all),
		cmocka_unit_test(test_id3_in_front),
		cmocka_unit_test(test_bw64),
		cmocka_unit_test(test_bits_that_count),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_tags_in_front_and_behind),
		cmocka_unit_test(test_floats_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

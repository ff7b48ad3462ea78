/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/server/reply.h"

#include "daemon/library/song.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void
test_values_stay_one_line(void **state)
{
	struct text out = {0};

	(void)state;
	reply_add(&out, "Title", "a\nOK\r\nb\tc\x7f");
	assert_string_equal(out.bytes, "Title: a OK  b c \n");
	text_clear(&out);
	reply_add(&out, "Title", "x\xff\xc3(\xed\xa0\x80");
	assert_true(utf8_valid(out.bytes, out.length));
	assert_non_null(strstr(out.bytes, "Title: x\xef\xbf\xbd"));
	text_finish(&out);
}

/* A client's buffer of 4,096 bytes holds each line with its newline. */
static void
test_values_are_cut(void **state)
{
	const size_t length = 40000;
	struct text out = {0};
	char *value = malloc(length + 1);
	size_t i;

	(void)state;
	assert_non_null(value);
	for (i = 0; i < length; i += 2)
		memcpy(value + i, "\xc3\xa4", 2);
	value[length] = '\0';
	reply_add(&out, "Comment", value);
	assert_in_range(out.length, 4090, 4095);
	assert_int_equal(out.bytes[out.length - 1], '\n');
	assert_true(utf8_valid(out.bytes, out.length));
	free(value);
	text_finish(&out);
}

static void
test_numbers(void **state)
{
	struct text out = {0};

	(void)state;
	reply_seconds(&out, "a", 0);
	reply_seconds(&out, "b", -5);
	reply_seconds(&out, "c", 999499999);
	reply_seconds(&out, "d", 999500000);
	reply_seconds(&out, "e", 100 * NS_PER_S);
	reply_seconds(&out, "f", INT64_MAX);
	assert_string_equal(out.bytes, "a: 0.000\nb: 0.000\nc: 0.999\n"
				       "d: 1.000\ne: 100.000\n"
				       "f: 9223372036.855\n");
	assert_int_equal(reply_round_s(-1), 0);
	assert_int_equal(reply_round_s(62499999999), 62);
	assert_int_equal(reply_round_s(62500000000), 63);
	assert_int_equal(reply_round_s(INT64_MAX), 9223372037);
	text_finish(&out);
}

static void
test_times_and_formats(void **state)
{
	struct text out = {0};

	(void)state;
	reply_time(&out, "Last-Modified", 0);
	reply_format(&out, "Format", &(struct audio_spec){.channels = 2});
	reply_format(&out, "Format", NULL);
	assert_int_equal(out.length, 0);
	reply_time(&out, "Last-Modified", 1700000000);
	reply_format(&out, "audio",
		     &(struct audio_spec){96000, 2, SAMPLE_S32, 24});
	reply_format(&out, "audio",
		     &(struct audio_spec){48000, 6, SAMPLE_F32, 0});
	assert_string_equal(out.bytes, "Last-Modified: 2023-11-14T22:13:20Z\n"
				       "audio: 96000:24:2\n"
				       "audio: 48000:f:6\n");
	text_finish(&out);
}

static void
test_song_block(void **state)
{
	struct song_builder *builder = song_builder_create("a/b c.flac");
	struct text out = {0};
	struct song *song;

	(void)state;
	assert_non_null(builder);
	song_builder_tag(builder, TAG_TITLE, "T", 1);
	song_builder_tag(builder, TAG_ARTIST, "One", 3);
	song_builder_tag(builder, TAG_ARTIST, "Two", 3);
	song_builder_audio(builder,
			   &(struct audio_spec){44100, 2, SAMPLE_S32, 16},
			   63499 * NS_PER_MS);
	song_builder_mtime(builder, 1700000000);
	song = song_builder_finish(builder);
	assert_non_null(song);
	reply_song(&out, song, UINT64_C(1) << TAG_ARTIST);
	assert_string_equal(out.bytes, "file: a/b c.flac\n"
				       "Last-Modified: 2023-11-14T22:13:20Z\n"
				       "Format: 44100:16:2\n"
				       "Artist: One\nArtist: Two\n"
				       "Time: 63\nduration: 63.499\n");
	song_unref(song);
	text_finish(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_stay_one_line),
		cmocka_unit_test(test_values_are_cut),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_times_and_formats),
		cmocka_unit_test(test_song_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

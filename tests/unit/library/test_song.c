/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Songs: what goes in comes out, cleaned and within limits. */
#include "daemon/library/song.h"

#include "lib/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void
add(struct song_builder *builder, enum tag tag, const char *value)
{
	song_builder_tag(builder, tag, value, strlen(value));
}

static void
test_round(void **state)
{
	const struct audio_spec spec = {96000, 6, SAMPLE_S32, 24};
	struct song_builder *builder = song_builder_create("a/b.flac");
	const char *value;
	struct song *song;

	(void)state;
	assert_non_null(builder);
	add(builder, TAG_TITLE, "Title");
	add(builder, TAG_ARTIST, "One");
	add(builder, TAG_ARTIST, "Two");
	song_builder_audio(builder, &spec, INT64_C(1500000000));
	song_builder_mtime(builder, 1234567890);
	song = song_builder_finish(builder);
	assert_non_null(song);
	assert_string_equal(song_uri(song), "a/b.flac");
	assert_int_equal(song_tag_count(song), 3);
	assert_int_equal(song_tag(song, 0, &value), TAG_TITLE);
	assert_string_equal(value, "Title");
	assert_int_equal(song_tag(song, 2, &value), TAG_ARTIST);
	assert_string_equal(value, "Two");
	assert_string_equal(song_tag_value(song, TAG_ARTIST), "One");
	assert_null(song_tag_value(song, TAG_ALBUM));
	assert_int_equal(song_duration_ns(song), 1500000000);
	assert_int_equal(song_mtime_s(song), 1234567890);
	assert_memory_equal(song_spec(song), &spec, sizeof(spec));
	assert_ptr_equal(song_ref(song), song);
	song_unref(song);
	assert_string_equal(song_uri(song), "a/b.flac");
	song_unref(song);
	song_unref(NULL);
}

static void
test_unknown(void **state)
{
	struct song_builder *builder = song_builder_create("x");
	struct song *song = song_builder_finish(builder);

	(void)state;
	assert_int_equal(song_duration_ns(song), -1);
	assert_int_equal(song_mtime_s(song), 0);
	assert_int_equal(song_tag_count(song), 0);
	assert_int_equal(song_spec(song)->rate_hz, 0);
	song_unref(song);
}

static void
test_dirty(void **state)
{
	struct song_builder *builder = song_builder_create("a\n/\xff.flac");
	struct song *song;

	(void)state;
	add(builder, TAG_ARTIST, "");
	add(builder, TAG_ARTIST, " \n\t ");
	add(builder, TAG_TITLE, "  two\nlines\xff ");
	song_builder_tag(builder, TAG_ALBUM, "nul\0inside", 10);
	add(builder, TAG_ARTIST, "\x7f\x01");
	add(builder, TAG_GENRE, "\x7f a \x7f");
	song_builder_tag(builder, TAG_COUNT, "no such tag", 11);
	song = song_builder_finish(builder);
	assert_string_equal(song_uri(song), "a%0A/%FF.flac");
	assert_int_equal(song_tag_count(song), 3);
	assert_string_equal(song_tag_value(song, TAG_GENRE), "a");
	assert_string_equal(song_tag_value(song, TAG_TITLE),
			    "two lines\xef\xbf\xbd");
	assert_string_equal(song_tag_value(song, TAG_ALBUM), "nul inside");
	song_unref(song);
}

static void
test_limits(void **state)
{
	struct song_builder *builder = song_builder_create("x");
	char *large = malloc(100000);
	struct song *song;

	(void)state;
	/* Two bytes a character: never cut in the middle of one. */
	for (size_t i = 0; i < 100000; i += 2) {
		large[i] = '\xc3';
		large[i + 1] = '\xa9';
	}
	large[0] = 'x';
	large[1] = 'y';
	large[2] = 'z';
	memmove(large + 3, large + 4, 99996);
	for (size_t i = 0; i < SONG_TAGS_MAX + 10; i++)
		song_builder_tag(builder, TAG_COMMENT, large, 99999);
	song = song_builder_finish(builder);
	assert_int_equal(song_tag_count(song), SONG_TAGS_MAX);
	for (size_t i = 0; i < SONG_TAGS_MAX; i++) {
		const char *value;

		assert_int_equal(song_tag(song, i, &value), TAG_COMMENT);
		assert_int_equal(strlen(value), SONG_VALUE_MAX - 1);
		assert_true(utf8_valid(value, strlen(value)));
	}
	song_unref(song);
	free(large);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_dirty),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

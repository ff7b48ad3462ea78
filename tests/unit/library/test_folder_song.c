/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What real FLAC files in a folder of our own say about themselves. */
#include "daemon/library/folder.h"

#include "lib/base/clock.h"
#include "tests/kit/flac_file.h"
#include "tests/unit/library/tree.h"

/* A FLAC file of one second with these comments. */
static void
make_flac(const char *name, const char *const *comments)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	flac_file_write(path, comments, FLAC_FILE_RATE_HZ);
}

static bool
check_song(void *context, const struct folder_entry *entry)
{
	unsigned *seen = context;

	assert_non_null(entry->song);
	(*seen)++;
	if (strcmp(entry->uri, "bad.flac") == 0) {
		assert_int_equal(song_tag_count(entry->song), 0);
		assert_int_equal(song_duration_ns(entry->song), -1);
		return true;
	}
	assert_string_equal(song_tag_value(entry->song, TAG_ARTIST), "One");
	assert_string_equal(song_tag_value(entry->song, TAG_TRACK), "7");
	assert_string_equal(song_tag_value(entry->song, TAG_ALBUM_ARTIST),
			    "All");
	assert_int_equal(song_tag_count(entry->song), 4);
	assert_int_equal(song_duration_ns(entry->song), NS_PER_S);
	assert_int_equal(song_spec(entry->song)->rate_hz, 44100);
	assert_int_equal(song_spec(entry->song)->channels, 1);
	assert_int_equal(song_spec(entry->song)->bits, 16);
	assert_true(song_mtime_s(entry->song) == entry->mtime_s);
	assert_true(entry->size_bytes > 100);
	return true;
}

static void
test_tags(void **state)
{
	const char *const comments[] = {
		"ARTIST=One",       "artist=Two\nlines", "TRACKNUMBER=7",
		"ALBUM ARTIST=All", "MY_OWN=x",          NULL,
	};
	const struct path_root root = {top, true};
	struct folder_request request = {
		.root = &root, .ref = {"", getuid()}, .tags = true};
	const char *reason;
	struct song *song;
	unsigned seen = 0;

	(void)state;
	make_flac("good.flac", comments);
	make_file("bad.flac", "this is no sound");
	make_file("other.txt", "");
	assert_int_equal(folder_read(&request, check_song, &seen, &reason), 0);
	assert_null(reason);
	assert_int_equal(seen, 2);
	request.ref.uri = "good.flac";
	assert_int_equal(folder_read(&request, check_song, &seen, &reason), 0);
	assert_null(reason);
	request.ref.uri = "bad.flac";
	assert_int_equal(folder_read(&request, check_song, &seen, &reason), 0);
	assert_non_null(reason);
	assert_int_equal(seen, 4);

	request.ref.uri = "missing.flac";
	assert_int_equal(folder_read_song(&root, &request.ref, &song, &reason),
			 -ENOENT);
	assert_string_equal(reason, "there is no such file");
	request.ref.uri = "";
	assert_int_equal(folder_read_song(&root, &request.ref, &song, &reason),
			 -EISDIR);
}

static void
test_bytes(void **state)
{
	const char *const comments[] = {"TITLE=found", NULL};
	const struct path_root root = {top, true};
	const struct source_ref ref = {"bad%E9/\xc3\xa9%FE.flac", getuid()};
	const char *reason;
	struct song *song;

	(void)state;
	make_folder("bad\xe9");
	make_file("a\xff.flac", "");
	make_flac("bad\xe9/\xc3\xa9\xfe.flac", comments);
	assert_int_equal(folder_read_song(&root, &ref, &song, &reason), 0);
	assert_null(reason);
	assert_string_equal(song_tag_value(song, TAG_TITLE), "found");
	assert_string_equal(song_uri(song), ref.uri);
	song_unref(song);
	/* A plain name that looks like such a form comes first. */
	make_flac("a%FF.flac", comments);
	assert_int_equal(
		folder_read_song(&root,
				 &(struct source_ref){"a%FF.flac", getuid()},
				 &song, &reason),
		0);
	assert_string_equal(song_tag_value(song, TAG_TITLE), "found");
	song_unref(song);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(test_tags),
		TREE_TEST(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

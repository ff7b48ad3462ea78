/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/library/tag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void
test_names(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TAG_COUNT; i++) {
		const char *name = tag_name((enum tag)i);

		assert_non_null(name);
		assert_int_equal(tag_from_name(name), i);
	}
	assert_null(tag_name(TAG_COUNT));
	assert_int_equal(tag_from_name("albumARTIST"), TAG_ALBUM_ARTIST);
	assert_int_equal(tag_from_name("Foo"), TAG_COUNT);
	assert_int_equal(tag_from_name(""), TAG_COUNT);
	assert_string_equal(tag_name(TAG_MUSICBRAINZ_WORKID),
			    "MUSICBRAINZ_WORKID");
	assert_true(TAG_MASK_ALL >> (TAG_COUNT - 1) == 1);
}

static void
test_vorbis(void **state)
{
	static const struct {
		const char *field;
		enum tag tag;
	} fields[] = {
		{"ARTIST", TAG_ARTIST},
		{"TRACKNUMBER", TAG_TRACK},
		{"tracknumber", TAG_TRACK},
		{"DISCNUMBER", TAG_DISC},
		{"ALBUMARTIST", TAG_ALBUM_ARTIST},
		{"ALBUM ARTIST", TAG_ALBUM_ARTIST},
		{"Album_Artist", TAG_ALBUM_ARTIST},
		{"ALBUMARTISTSORT", TAG_ALBUM_ARTIST_SORT},
		{"MUSICBRAINZ_TRACKID", TAG_MUSICBRAINZ_TRACKID},
		{"MOVEMENTNAME", TAG_MOVEMENT},
		{"MOVEMENT", TAG_MOVEMENT_NUMBER},
		{"ORIGINALDATE", TAG_ORIGINAL_DATE},
		{"DESCRIPTION", TAG_COMMENT},
		{"REPLAYGAIN_TRACK_GAIN", TAG_COUNT},
		{"", TAG_COUNT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		assert_int_equal(tag_from_vorbis(fields[i].field),
				 fields[i].tag);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_vorbis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

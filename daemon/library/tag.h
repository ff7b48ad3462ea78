/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tag.h - the tags that MPD's protocol names, in the order it lists them. Pure,
 * any thread. */
#ifndef ROTARY_LIBRARY_TAG_H
#define ROTARY_LIBRARY_TAG_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum tag {
	TAG_ARTIST,
	TAG_ARTIST_SORT,
	TAG_ALBUM,
	TAG_ALBUM_SORT,
	TAG_ALBUM_ARTIST,
	TAG_ALBUM_ARTIST_SORT,
	TAG_TITLE,
	TAG_TITLE_SORT,
	TAG_TRACK,
	TAG_NAME,
	TAG_GENRE,
	TAG_MOOD,
	TAG_DATE,
	TAG_ORIGINAL_DATE,
	TAG_COMPOSER,
	TAG_COMPOSER_SORT,
	TAG_PERFORMER,
	TAG_CONDUCTOR,
	TAG_WORK,
	TAG_MOVEMENT,
	TAG_MOVEMENT_NUMBER,
	TAG_SHOW_MOVEMENT,
	TAG_ENSEMBLE,
	TAG_LOCATION,
	TAG_GROUPING,
	TAG_COMMENT,
	TAG_DISC,
	TAG_LABEL,
	TAG_MUSICBRAINZ_ARTISTID,
	TAG_MUSICBRAINZ_ALBUMID,
	TAG_MUSICBRAINZ_ALBUMARTISTID,
	TAG_MUSICBRAINZ_TRACKID,
	TAG_MUSICBRAINZ_RELEASETRACKID,
	TAG_MUSICBRAINZ_RELEASEGROUPID,
	TAG_MUSICBRAINZ_WORKID,
	TAG_COUNT,
};

/* A set of tags, bit n for tag n. */
typedef uint64_t tag_mask;
#define TAG_MASK_ALL ((UINT64_C(1) << TAG_COUNT) - 1)

const char *tag_name(enum tag tag); /* "AlbumArtist" */
/* By protocol name, any case. TAG_COUNT: unknown. */
enum tag tag_from_name(const char *name);
/* By Vorbis comment field, any case: "ALBUMARTIST", "TRACKNUMBER", ... */
enum tag tag_from_vorbis(const char *field);

#endif

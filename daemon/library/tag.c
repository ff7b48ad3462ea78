/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tag.c - names of tags: the protocol's own, and those that files use.
 *
 * Both tables are constant. A file's field is looked up among its own names
 * first and then among the protocol's, so that "ALBUMARTIST" needs no second
 * entry. MOVEMENT holds a number and MOVEMENTNAME the name in the files that
 * taggers write (MusicBrainz Picard's mapping), whatever the words suggest. */
#include "daemon/library/tag.h"

#include <strings.h>

static const char *const names[TAG_COUNT] = {
	[TAG_ARTIST] = "Artist",
	[TAG_ARTIST_SORT] = "ArtistSort",
	[TAG_ALBUM] = "Album",
	[TAG_ALBUM_SORT] = "AlbumSort",
	[TAG_ALBUM_ARTIST] = "AlbumArtist",
	[TAG_ALBUM_ARTIST_SORT] = "AlbumArtistSort",
	[TAG_TITLE] = "Title",
	[TAG_TITLE_SORT] = "TitleSort",
	[TAG_TRACK] = "Track",
	[TAG_NAME] = "Name",
	[TAG_GENRE] = "Genre",
	[TAG_MOOD] = "Mood",
	[TAG_DATE] = "Date",
	[TAG_ORIGINAL_DATE] = "OriginalDate",
	[TAG_COMPOSER] = "Composer",
	[TAG_COMPOSER_SORT] = "ComposerSort",
	[TAG_PERFORMER] = "Performer",
	[TAG_CONDUCTOR] = "Conductor",
	[TAG_WORK] = "Work",
	[TAG_MOVEMENT] = "Movement",
	[TAG_MOVEMENT_NUMBER] = "MovementNumber",
	[TAG_SHOW_MOVEMENT] = "ShowMovement",
	[TAG_ENSEMBLE] = "Ensemble",
	[TAG_LOCATION] = "Location",
	[TAG_GROUPING] = "Grouping",
	[TAG_COMMENT] = "Comment",
	[TAG_DISC] = "Disc",
	[TAG_LABEL] = "Label",
	[TAG_MUSICBRAINZ_ARTISTID] = "MUSICBRAINZ_ARTISTID",
	[TAG_MUSICBRAINZ_ALBUMID] = "MUSICBRAINZ_ALBUMID",
	[TAG_MUSICBRAINZ_ALBUMARTISTID] = "MUSICBRAINZ_ALBUMARTISTID",
	[TAG_MUSICBRAINZ_TRACKID] = "MUSICBRAINZ_TRACKID",
	[TAG_MUSICBRAINZ_RELEASETRACKID] = "MUSICBRAINZ_RELEASETRACKID",
	[TAG_MUSICBRAINZ_RELEASEGROUPID] = "MUSICBRAINZ_RELEASEGROUPID",
	[TAG_MUSICBRAINZ_WORKID] = "MUSICBRAINZ_WORKID",
};

static const struct {
	const char *field;
	enum tag tag;
} fields[] = {
	{"TRACKNUMBER", TAG_TRACK},
	{"TRACKNUM", TAG_TRACK},
	{"DISCNUMBER", TAG_DISC},
	{"DISCNUM", TAG_DISC},
	{"ALBUM ARTIST", TAG_ALBUM_ARTIST},
	{"ALBUM_ARTIST", TAG_ALBUM_ARTIST},
	{"ALBUM ARTIST SORT", TAG_ALBUM_ARTIST_SORT},
	{"ALBUM_ARTIST_SORT", TAG_ALBUM_ARTIST_SORT},
	{"ARTIST SORT", TAG_ARTIST_SORT},
	{"ALBUM SORT", TAG_ALBUM_SORT},
	{"TITLE SORT", TAG_TITLE_SORT},
	{"YEAR", TAG_DATE},
	{"ORIGINALYEAR", TAG_ORIGINAL_DATE},
	{"ORIGINAL YEAR", TAG_ORIGINAL_DATE},
	{"ORIGINAL DATE", TAG_ORIGINAL_DATE},
	{"MOVEMENTNAME", TAG_MOVEMENT},
	{"MOVEMENT", TAG_MOVEMENT_NUMBER},
	{"DESCRIPTION", TAG_COMMENT},
	{"ORGANIZATION", TAG_LABEL},
	{"PUBLISHER", TAG_LABEL},
};

const char *
tag_name(enum tag tag)
{
	return (unsigned)tag < TAG_COUNT ? names[tag] : NULL;
}

enum tag
tag_from_name(const char *name)
{
	for (unsigned i = 0; i < TAG_COUNT; i++)
		if (strcasecmp(name, names[i]) == 0)
			return (enum tag)i;
	return TAG_COUNT;
}

enum tag
tag_from_vorbis(const char *field)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strcasecmp(field, fields[i].field) == 0)
			return fields[i].tag;
	return tag_from_name(field);
}

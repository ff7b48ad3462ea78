/* SPDX-License-Identifier: GPL-3.0-or-later */
/* song.c - a song in words. */
#include "remote/cli/song.h"

#include "lib/base/clock.h"

#include <string.h>

static const char *
find_within(const struct pairs *pairs, size_t from, size_t end,
	    const char *name)
{
	for (; from < end; from++)
		if (strcmp(pairs_name(pairs, from), name) == 0 &&
		    pairs_value(pairs, from)[0] != '\0')
			return pairs_value(pairs, from);
	return NULL;
}

void
song_add_title(const struct pairs *pairs, size_t from, size_t end,
	       struct text *text)
{
	const char *title = find_within(pairs, from, end, "Title");
	const char *artist = find_within(pairs, from, end, "Artist");
	const char *file = find_within(pairs, from, end, "file");
	const char *slash = NULL;

	if (title == NULL)
		title = find_within(pairs, from, end, "Name");
	if (title == NULL && file != NULL) {
		slash = strrchr(file, '/');
		title = slash != NULL && slash[1] != '\0' ? slash + 1 : file;
		artist = NULL;
	}
	if (title == NULL)
		return;
	if (artist != NULL) {
		text_add_clean(text, artist, strlen(artist), SIZE_MAX);
		text_add(text, " - ");
	}
	text_add_clean(text, title, strlen(title), SIZE_MAX);
}

int64_t
song_seconds(const struct pairs *pairs, const char *name)
{
	const char *value = pairs_find(pairs, 0, name);
	double seconds = 0;

	if (value == NULL || text_parse_double(value, &seconds) < 0 ||
	    seconds < 0 || seconds > 1e9)
		return -1;
	return (int64_t)(seconds * (double)NS_PER_S);
}

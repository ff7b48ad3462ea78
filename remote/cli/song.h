/* SPDX-License-Identifier: GPL-3.0-or-later */
/* song.h - a song, and what plays, in words. */
#ifndef ROTARY_CLI_SONG_H
#define ROTARY_CLI_SONG_H

#include "remote/cli/pairs.h"

/* The song whose pairs are [from, end): "Artist - Title", else a station's
 * name, else the last part of its file. */
void song_add_title(const struct pairs *pairs, size_t from, size_t end,
		    struct text *text);

/* A field of seconds ("215.360") as ns, or -1. */
int64_t song_seconds(const struct pairs *pairs, const char *name);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* song_pack.h - a song, but for its URI, as a short run of bytes: how the state
 * keeps it, so that a queue is restored without touching a file.
 * Threads: any; pure but for memory. */
#ifndef ROTARY_PLAYER_SONG_PACK_H
#define ROTARY_PLAYER_SONG_PACK_H

#include "daemon/library/song.h"

struct text;

void song_pack(const struct song *song, struct text *text);
/* The song with this URI and what was packed; what is not understood is left
 * out. NULL: no memory. */
NODISCARD struct song *song_unpack(const char *uri, const void *bytes,
				   size_t length);

#endif

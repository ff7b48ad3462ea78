/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever bytes a row of state.db holds: they give a song, and what that song
 * is packed into gives the same song again. */
#include "daemon/player/song_pack.h"

#include "lib/base/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct song *song = song_unpack("x", bytes, length);
	struct song *again;
	struct text first = {0};
	struct text second = {0};

	if (song == NULL)
		abort();
	song_pack(song, &first);
	again = song_unpack("x", first.bytes, first.length);
	if (again == NULL)
		abort();
	song_pack(again, &second);
	if (first.length != second.length ||
	    memcmp(first.bytes, second.bytes, first.length) != 0)
		abort();
	text_finish(&first);
	text_finish(&second);
	song_unref(song);
	song_unref(again);
	return 0;
}

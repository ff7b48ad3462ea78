/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player_overlap.c - crossfade: which songs are heard together, and how long.
 *
 * Only where one song ends by itself and another follows; a command that leaves
 * a song goes to the other at once, as ever. Both have to be twice as long as
 * the overlap. With single, songs stand for themselves.
 *
 * Songs that follow each other on their album are made to be heard so, and are
 * joined as they are: track n and n + 1 of a disc, and the first track of the
 * next disc. Where tracks have no numbers, it is the order of the queue that
 * tells, and in random mode nothing does. */
#include "daemon/player/player_parts.h"

#include "lib/base/clock.h"

#include <stdlib.h>
#include <string.h>

static bool
same_tag(const struct song *a, const struct song *b, enum tag tag)
{
	const char *value_a = song_tag_value(a, tag);
	const char *value_b = song_tag_value(b, tag);

	if (value_a == NULL || value_b == NULL)
		return value_a == value_b;
	return strcmp(value_a, value_b) == 0;
}

/* Of "7" or "07/12"; 0: there is none. */
static unsigned long
number_of(const struct song *song, enum tag tag)
{
	const char *value = song_tag_value(song, tag);

	if (value == NULL || value[0] < '0' || value[0] > '9')
		return 0;
	return strtoul(value, NULL, 10);
}

/* An album of one disc often says nothing of it. */
static unsigned long
disc_of(const struct song *song)
{
	const unsigned long disc = number_of(song, TAG_DISC);

	return disc > 0 ? disc : 1;
}

static bool
follows_in_queue(const struct player *player, uint32_t id, uint32_t next_id)
{
	const int64_t at = play_queue_find(player->queue, id);

	return !player->random && at >= 0 &&
	       play_queue_find(player->queue, next_id) == at + 1;
}

static bool
follows_on_album(const struct player *player, const struct slot *slot,
		 const struct slot *next)
{
	const struct song *a = slot->song, *b = next->song;
	const unsigned long track = number_of(a, TAG_TRACK);
	const unsigned long next_track = number_of(b, TAG_TRACK);

	if (song_tag_value(a, TAG_ALBUM) == NULL ||
	    !same_tag(a, b, TAG_ALBUM) || !same_tag(a, b, TAG_ALBUM_ARTIST))
		return false;
	if (track == 0 || next_track == 0)
		return follows_in_queue(player, slot->id, next->id);
	return disc_of(a) == disc_of(b)
		       ? next_track == track + 1
		       : disc_of(b) == disc_of(a) + 1 && next_track == 1;
}

static int64_t
overlap_ns(const struct player *player, const struct slot *slot,
	   const struct slot *next)
{
	const int64_t fade_ns = (int64_t)player->crossfade_s * NS_PER_S;

	if (player->single != PLAYER_OFF || slot->duration_ns < 2 * fade_ns ||
	    next->duration_ns < 2 * fade_ns ||
	    follows_on_album(player, slot, next))
		return 0;
	return fade_ns;
}

void
player_tell_overlap(struct player *player)
{
	struct slot *next = &player->next;
	int64_t fade_ns = 0;

	if (!player->current.told || !next->ready ||
	    player->ops->overlap == NULL)
		return;
	fade_ns = overlap_ns(player, &player->current, next);
	if (fade_ns == next->fade_ns)
		return;
	next->fade_ns = fade_ns;
	player->ops->overlap(player->context, next->stream, fade_ns);
}

void
player_tell_overlaps(struct player *player)
{
	const bool overlaps = player->crossfade_s > 0;

	if (overlaps == player->told_overlaps ||
	    player->ops->set_overlaps == NULL)
		return;
	player->told_overlaps = overlaps;
	player->ops->set_overlaps(player->context, overlaps);
}

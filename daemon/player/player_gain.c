/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player_gain.c - which of its gains a song gets.
 *
 * The mode is the engine's. What AUTO makes of each song is told of its stream,
 * before that is played or follows, and again when it changes: album where a
 * song beside it in the queue is of the same album and they are heard in that
 * order, else track. So what was prepared has its own gain from its first
 * sample on, whatever plays before it.
 *
 * A song that is heard with its album's gain keeps it, whatever leaves the
 * queue meanwhile, as all songs before it do with consume. */
#include "daemon/player/player_parts.h"

#include <string.h>

static bool
same_value(const struct song *a, const struct song *b, enum tag type)
{
	const char *value_a = song_tag_value(a, type);
	const char *value_b = song_tag_value(b, type);

	return value_a != NULL && value_b != NULL && value_a[0] != '\0' &&
	       strcmp(value_a, value_b) == 0;
}

/* Two of one name are two if they are of different artists. */
static bool
same_album(const struct song *a, const struct song *b)
{
	return same_value(a, b, TAG_ALBUM) &&
	       (song_tag_value(a, TAG_ALBUM_ARTIST) == NULL ||
		song_tag_value(b, TAG_ALBUM_ARTIST) == NULL ||
		same_value(a, b, TAG_ALBUM_ARTIST));
}

static bool
plays_album(const struct player *player, const struct slot *slot)
{
	const int64_t at = play_queue_find(player->queue, slot->id);
	const int64_t length = play_queue_length(player->queue);
	int64_t i = 0;

	if (player->random)
		return false;
	if (slot->album && slot->heard)
		return true;
	for (i = at - 1; at >= 0 && i <= at + 1; i += 2) {
		if (i >= 0 && i < length &&
		    same_album(slot->song,
			       play_queue_at(player->queue, (uint32_t)i)->song))
			return true;
	}
	return false;
}

void
player_tell_album(struct player *player, struct slot *slot)
{
	bool album = false;

	if (slot->stream == 0)
		return;
	slot->heard = slot->heard || slot->started;
	album = plays_album(player, slot);
	if (album == slot->album)
		return;
	slot->album = album;
	if (player->ops->set_album != NULL)
		player->ops->set_album(player->context, slot->stream, album);
}

void
player_tell_replay_gain(struct player *player)
{
	unsigned i = 0;

	player_tell_album(player, &player->current);
	player_tell_album(player, &player->next);
	for (i = 0; i < player->ahead_count; i++)
		player_tell_album(player, &player->ahead[i]);
	if (player->replay_gain == player->told_gain ||
	    player->ops->set_replay_gain == NULL)
		return;
	player->told_gain = player->replay_gain;
	player->ops->set_replay_gain(player->context, player->replay_gain);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player_slot.c - a song and the stream that was opened for it. All streams
 * are opened and released here and nowhere else. */
#include "daemon/player/player_parts.h"

bool
slot_open(struct player *player, struct slot *slot, uint32_t id,
	  int64_t start_ns)
{
	const int64_t position = play_queue_find(player->queue, id);

	if (position < 0)
		return false;
	slot->song = song_ref(
		play_queue_at(player->queue, (uint32_t)position)->song);
	slot->id = id;
	slot->start_ns = start_ns;
	slot->duration_ns = -1;
	slot->stream = player->ops->open(player->context, slot->song, start_ns);
	player_tell_album(player, slot);
	return slot->stream != 0;
}

void
slot_close(struct player *player, struct slot *slot)
{
	if (slot->stream != 0)
		player->ops->release(player->context, slot->stream);
	slot->stream = 0;
	slot->ready = false;
	slot->told = false;
	slot->started = false;
	slot->seek = false;
	slot->album = false;
	slot->heard = false;
}

void
slot_release(struct player *player, struct slot *slot)
{
	slot_close(player, slot);
	song_unref(slot->song);
	*slot = (struct slot){0};
}

int64_t
slot_duration_ns(const struct slot *slot)
{
	if (slot->song == NULL)
		return -1;
	if (slot->duration_ns >= 0)
		return slot->duration_ns;
	return song_duration_ns(slot->song);
}

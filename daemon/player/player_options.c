/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player_options.c - volume and modes. Each change of a mode asks anew what
 * comes next, which may be open already. */
#include "daemon/player/player_parts.h"

#include <errno.h>
#include <string.h>

static void
option_changed(struct player *player)
{
	player->changes |= PLAYER_CHANGE_OPTIONS;
	player_plan_next(player);
	player_flush(player);
}

int
player_set_volume(struct player *player, unsigned percent)
{
	if (player->no_volume)
		return -ENOTSUP;
	if (percent > 100)
		percent = 100;
	if (percent == player->volume)
		return 0;
	player->volume = percent;
	player->ops->set_volume(player->context, percent);
	player->changes |= PLAYER_CHANGE_MIXER;
	player_flush(player);
	return 0;
}

void
player_forgo_volume(struct player *player)
{
	player->no_volume = true;
}

void
player_on_volume(struct player *player, unsigned percent)
{
	if (percent == player->volume)
		return;
	player->volume = percent;
	player->changes |= PLAYER_CHANGE_MIXER;
	player_flush(player);
}

void
player_set_repeat(struct player *player, bool on)
{
	if (player->repeat == on)
		return;
	player->repeat = on;
	option_changed(player);
}

void
player_set_random(struct player *player, bool on)
{
	if (player->random == on)
		return;
	player->random = on;
	if (on)
		order_begin(&player->order, player->queue, player->current.id);
	else
		order_finish(&player->order);
	option_changed(player);
}

void
player_set_single(struct player *player, enum player_mode mode)
{
	if (player->single == mode)
		return;
	player->single = mode;
	option_changed(player);
}

void
player_set_consume(struct player *player, enum player_mode mode)
{
	if (player->consume == mode)
		return;
	player->consume = mode;
	option_changed(player);
}

void
player_preset_crossfade(struct player *player, uint32_t seconds)
{
	player->crossfade_s = seconds;
	player_flush(player);
}

void
player_set_crossfade(struct player *player, uint32_t seconds)
{
	if (player->has_crossfade && player->crossfade_s == seconds)
		return;
	player->has_crossfade = true;
	player->crossfade_s = seconds;
	option_changed(player);
}

void
player_set_mixramp_db(struct player *player, double db)
{
	if (player->mixramp_db == db)
		return;
	player->mixramp_db = db;
	option_changed(player);
}

void
player_set_mixramp_delay(struct player *player, double delay_s)
{
	if (player->mixramp_delay_s == delay_s)
		return;
	player->mixramp_delay_s = delay_s;
	option_changed(player);
}

static bool
same_album(const struct song *a, const struct song *b)
{
	const char *album_a = song_tag_value(a, TAG_ALBUM);
	const char *album_b = song_tag_value(b, TAG_ALBUM);

	return album_a != NULL && album_b != NULL && album_a[0] != '\0' &&
	       strcmp(album_a, album_b) == 0;
}

/* The current song and one beside it in the queue are of the same album, and
 * they are heard in that order. */
static bool
plays_album(const struct player *player)
{
	const int64_t at = play_queue_find(player->queue, player->current.id);
	const int64_t length = play_queue_length(player->queue);

	if (player->random || player->current.song == NULL || at < 0)
		return false;
	for (int64_t i = at - 1; i <= at + 1; i += 2) {
		if (i >= 0 && i < length &&
		    same_album(player->current.song,
			       play_queue_at(player->queue, (uint32_t)i)->song))
			return true;
	}
	return false;
}

void
player_tell_replay_gain(struct player *player)
{
	enum replay_gain_mode mode = player->replay_gain;

	if (mode == REPLAY_GAIN_AUTO)
		mode = plays_album(player) ? REPLAY_GAIN_ALBUM
					   : REPLAY_GAIN_TRACK;
	if (mode == player->told_gain || player->ops->set_replay_gain == NULL)
		return;
	player->told_gain = mode;
	player->ops->set_replay_gain(player->context, mode);
}

void
player_preset_replay_gain(struct player *player, enum replay_gain_mode mode)
{
	player->replay_gain = mode;
	player_flush(player);
}

void
player_set_replay_gain(struct player *player, enum replay_gain_mode mode)
{
	if (player->has_replay_gain && player->replay_gain == mode)
		return;
	player->has_replay_gain = true;
	player->replay_gain = mode;
	option_changed(player);
}

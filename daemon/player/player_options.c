/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player_options.c - volume and modes. Each change of a mode asks anew what
 * comes next, which may be open already. */
#include "daemon/player/player_parts.h"

#include <errno.h>

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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player_options.c - volume and modes. Each change of a mode asks anew what
 * comes next, which may be open already. */
#include "daemon/player/player_parts.h"

static void
option_changed(struct player *player)
{
	player->changes |= PLAYER_CHANGE_OPTIONS;
	player_plan_next(player);
	player_flush(player);
}

void
player_set_volume(struct player *player, unsigned percent)
{
	if (percent > 100)
		percent = 100;
	if (percent == player->volume)
		return;
	player->volume = percent;
	player->ops->set_volume(player->context, percent);
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

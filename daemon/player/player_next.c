/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player_next.c - which song comes next.
 *
 * In order: the first song behind the current one that has not failed; with
 * repeat the search goes on at the top. In random mode order.c draws. A song
 * that was deleted while it played leaves the queue's mark in its gap, and the
 * search begins there.
 *
 * Failed songs are passed over, so each failure leaves one candidate fewer and
 * a search comes to an end by itself. They are tried again after a command and
 * in each new round of repeat, but only when something was heard meanwhile:
 * else nothing would stop a queue in which all fail.
 *
 *               repeat off                    repeat on
 *   single off  next, at the end stop         next, at the end the first
 *   single on   next, paused at its start     the same again
 * With consume the song that was left is gone, so it is never next itself. */
#include "daemon/player/player_parts.h"

static uint32_t
first_in(const struct player *player, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		const uint32_t id = play_queue_at(player->queue, i)->id;

		if (!id_map_has(&player->failed, id))
			return id;
	}
	return 0;
}

/* A new round begins. */
static bool
forgive(struct player *player)
{
	if (!player->progress || player->failed.count == 0)
		return false;
	id_map_clear(&player->failed);
	player->progress = false;
	return true;
}

/* Where the search begins: behind the current song, or in its gap. */
static uint32_t
search_start(const struct player *player)
{
	const int64_t position =
		play_queue_find(player->queue, player->current.id);
	int64_t gap = 0;

	if (player->current.song == NULL)
		return 0;
	if (position >= 0)
		return (uint32_t)position + 1;
	gap = play_queue_mark(player->queue);
	return gap >= 0 ? (uint32_t)gap : 0;
}

static uint32_t
choose_in_order(struct player *player)
{
	const uint32_t length = play_queue_length(player->queue);
	const uint32_t start = search_start(player);
	uint32_t id = first_in(player, start, length);

	if (id != 0 || !player->repeat)
		return id;
	if (forgive(player))
		id = first_in(player, start, length);
	return id != 0 ? id
		       : first_in(player, 0, start < length ? start : length);
}

static uint32_t
choose_random(struct player *player)
{
	const struct order_draw draw = {
		.queue = player->queue,
		.failed = &player->failed,
		.random = player->ops->random,
		.context = player->context,
		.repeat = player->repeat,
	};
	const bool was_new = player->order.planned_round;
	uint32_t id = order_next(&player->order, &draw);

	if (player->repeat && (player->order.planned_round && !was_new) &&
	    forgive(player) && id == 0)
		id = order_next(&player->order, &draw);
	return id;
}

uint32_t
player_choose_after(const struct player *player, uint32_t id)
{
	const int64_t position = play_queue_find(player->queue, id);

	if (position < 0 || player->random || player->single != PLAYER_OFF ||
	    player->consume != PLAYER_OFF)
		return 0;
	return first_in(player, (uint32_t)position + 1,
			play_queue_length(player->queue));
}

uint32_t
player_choose_other(struct player *player)
{
	uint32_t id = player->random ? choose_random(player)
				     : choose_in_order(player);

	if (player->consume != PLAYER_OFF && id == player->current.id)
		id = 0;
	return id;
}

uint32_t
player_choose_natural(struct player *player)
{
	const uint32_t id = player->current.id;

	if (player->single == PLAYER_OFF || !player->repeat ||
	    player->consume != PLAYER_OFF ||
	    play_queue_find(player->queue, id) < 0)
		return player_choose_other(player);
	return id_map_has(&player->failed, id) ? 0 : id;
}

uint32_t
player_choose_previous(struct player *player)
{
	const int64_t position =
		play_queue_find(player->queue, player->current.id);
	const uint32_t length = play_queue_length(player->queue);
	uint32_t id = 0;

	if (player->random) {
		id = order_back(&player->order, player->queue);
		return id != 0 ? id : player->current.id;
	}
	if (position > 0)
		return play_queue_at(player->queue, (uint32_t)position - 1)->id;
	if (player->repeat && length > 0)
		return play_queue_at(player->queue, length - 1)->id;
	return player->current.id;
}

bool
player_stops_at_border(const struct player *player)
{
	return player->single != PLAYER_OFF && !player->repeat;
}

void
player_begin(struct player *player)
{
	id_map_clear(&player->failed);
	player->progress = false;
	player->failures = 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* order.h - the order in which random mode plays the queue.
 *
 * A shuffle that is drawn as it is needed: of ids[] the first done ones were
 * played, the last of them is the current one; what stands behind it is
 * planned: one song, or after going back those that were played already. A song
 * is drawn once a round; those of the highest priority first. A song that was
 * played comes again when its priority was raised above both what it was and
 * the current song's. Threads: control. Errors: 0 for "none" also when memory
 * runs out. */
#ifndef ROTARY_PLAYER_ORDER_H
#define ROTARY_PLAYER_ORDER_H

#include "daemon/player/id_map.h"
#include "daemon/player/queue.h"

#include <stdbool.h>

struct order {
	uint32_t *ids;
	size_t length;
	size_t capacity;
	size_t done;
	bool planned_round;   /* the planned song begins a new round */
	struct id_map played; /* in this round: id -> its priority then */
};

struct order_draw {
	const struct play_queue *queue;
	const struct id_map *failed; /* not to be drawn */
	uint32_t (*random)(void *context, uint32_t below);
	void *context;
	bool repeat;
};

void order_finish(struct order *order);
/* Begins a round with this song, 0: with none yet. */
void order_begin(struct order *order, const struct play_queue *queue,
		 uint32_t current);
/* The id that comes after the current one: the planned one while it still may,
 * else a new one. 0: the round is over. */
uint32_t order_next(struct order *order, const struct order_draw *draw);
/* id is the current song now: the planned one, or any other. */
void order_enter(struct order *order, const struct play_queue *queue,
		 uint32_t id);
/* Goes back to the song that was played before, which is the current one then;
 * 0: there is none. */
uint32_t order_back(struct order *order, const struct play_queue *queue);

#endif

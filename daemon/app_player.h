/* SPDX-License-Identifier: GPL-3.0-or-later */
/* app_player.h - carries the player's wishes to the engine, and the engine's
 * events to the player; tells state and clients what has changed.
 * Threads: control. */
#ifndef ROTARY_APP_PLAYER_H
#define ROTARY_APP_PLAYER_H

#include "daemon/engine/engine.h"
#include "daemon/player/player.h"

#include <stdbool.h>

struct server;
struct state;

/* What the go-between knows; members are filled in as the rooms come up. */
struct app_player {
	struct engine *engine;
	struct player *player;
	struct server *server;
	struct state *state;
	struct replay_gain_settings replay_gain;
	bool output_lost;
	bool output_held; /* lost, since none is enabled */
	/* Nothing was saved: the card's own volume stays, and is told. */
	bool keeps_volume;
};

/* For player_create() and engine_create(), with a struct app_player. */
extern const struct player_ops app_player_ops;
extern const struct engine_events app_engine_events;

/* Outputs that were disabled when they were saved are so again. */
void app_player_restore_outputs(struct app_player *app, struct state *state);

/* The gain of a volume in percent: 100 is 1.0, each step below takes half a
 * decibel, and 0 is silence. */
float app_volume_gain(unsigned percent);
/* The nearest percentage of a gain; 0 of silence alone. */
unsigned app_volume_percent(float gain);

#endif

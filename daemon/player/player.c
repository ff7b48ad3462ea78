/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player.c - what plays: the commands.
 *
 * The player is a function of its messages. A command or an event changes the
 * state, wishes go out through the ops as it does, and at the end one call
 * tells what has changed. The ops must not call back into the player.
 *
 *   player.c          commands, the queue's changes, restoring
 *   player_events.c   what the engine reports
 *   player_step.c     from song to song: the three slots
 *   player_next.c     which song comes next; order.c for random mode
 *   player_options.c  modes and volume
 *   player_overlap.c  crossfade: which songs are heard together
 *   player_status.c   what is shown
 *
 * Life cycle: create, restore once, then commands and events in any order. The
 * queue outlives the player. */
#include "daemon/player/player.h"

#include "daemon/player/player_parts.h"

#include <errno.h>
#include <stdlib.h>

enum { VOLUME_FULL = 100 };

struct player *
player_create(struct play_queue *queue, const struct player_ops *ops,
	      void *context)
{
	struct player *player = calloc(1, sizeof(*player));

	if (player == NULL)
		return NULL;
	player->queue = queue;
	player->ops = ops;
	player->context = context;
	player->volume = VOLUME_FULL;
	player->seek_ns = -1;
	player->mixramp_delay_s = -1;
	return player;
}

void
player_destroy(struct player *player)
{
	if (player == NULL)
		return;
	player_drop_ahead(player);
	slot_release(player, &player->next);
	slot_release(player, &player->leaving);
	slot_release(player, &player->current);
	order_finish(&player->order);
	id_map_finish(&player->failed);
	text_finish(&player->error);
	text_finish(&player->lost_reason);
	free(player);
}

static void
pause_engine(struct player *player)
{
	if (player->engine_paused ||
	    !(player->current.told || player->leaving.told))
		return;
	player->engine_paused = true;
	player->ops->pause(player->context, true);
}

/* Begins with this song, whatever the state was. */
static void
play_id(struct player *player, uint32_t id, int64_t start_ns)
{
	if (player->random && player->state == PLAYER_STOP &&
	    id != player->next_id)
		order_begin(&player->order, player->queue, id);
	player_renew_error(player);
	player_begin(player);
	player->state = PLAYER_PLAY;
	player_go_on(player, id, start_ns);
}

static void
resume(struct player *player)
{
	struct slot *current = &player->current;

	player->state = PLAYER_PLAY;
	player->changes |= PLAYER_CHANGE_PLAYER;
	player_renew_error(player);
	if (current->stream == 0) {
		player_begin(player);
		player_go_on(player, current->id, current->start_ns);
	} else if (current->told && player->engine_paused) {
		player->engine_paused = false;
		player->ops->pause(player->context, false);
	} else {
		/* Still opening: what leaves stays paused until then. */
		player_start_ready(player);
		player_plan_next(player);
	}
}

/* Play without a position: goes on, or begins. */
static void
play_on(struct player *player)
{
	uint32_t id = player->current.id;
	const int64_t start_ns = player->current.start_ns;

	if (player->state == PLAYER_PAUSE) {
		resume(player);
	} else if (player->state == PLAYER_PLAY) {
		player_renew_error(player);
	} else {
		player_begin(player);
		if (id == 0)
			id = player_choose_other(player);
		if (id != 0)
			play_id(player, id,
				id == player->current.id ? start_ns : 0);
	}
}

int
player_play(struct player *player, int64_t position)
{
	if (position >= (int64_t)play_queue_length(player->queue) ||
	    position < -1)
		return -ERANGE;
	if (position < 0)
		play_on(player);
	else
		play_id(player,
			play_queue_at(player->queue, (uint32_t)position)->id,
			0);
	player_flush(player);
	return 0;
}

int
player_play_id(struct player *player, uint32_t id)
{
	if (play_queue_find(player->queue, id) < 0)
		return -ENOENT;
	play_id(player, id, 0);
	player_flush(player);
	return 0;
}

void
player_pause(struct player *player, bool paused)
{
	if (paused && player->state == PLAYER_PLAY) {
		player->state = PLAYER_PAUSE;
		player->changes |= PLAYER_CHANGE_PLAYER;
		pause_engine(player);
	} else if (!paused && player->state == PLAYER_PAUSE) {
		resume(player);
	} else if (!paused && player->state == PLAYER_PLAY &&
		   player->output_lost) {
		player_renew_error(player);
	}
	player_flush(player);
}

void
player_toggle(struct player *player)
{
	/* While the card is away "pause" is shown: to toggle that asks for
	 * what is going to happen anyway. */
	player_pause(player,
		     player->state == PLAYER_PLAY && !player->output_lost);
}

void
player_stop(struct player *player)
{
	if (player->state == PLAYER_STOP)
		return;
	player_silence(player, false);
	if (player->random)
		order_begin(&player->order, player->queue, player->current.id);
	player_plan_next(player);
	player_flush(player);
}

void
player_next(struct player *player)
{
	if (player->state == PLAYER_STOP)
		return;
	player_renew_error(player);
	player_begin(player);
	player->state = PLAYER_PLAY;
	player_advance(player, PLAYER_SKIPPED);
	player_flush(player);
}

void
player_previous(struct player *player)
{
	uint32_t id = 0;

	if (player->state == PLAYER_STOP)
		return;
	id = player_choose_previous(player);
	play_id(player, id, 0);
	player_flush(player);
}

int
player_seek(struct player *player, uint32_t position, int64_t time_ns)
{
	const struct play_queue_item *item =
		play_queue_at(player->queue, position);
	int64_t duration_ns = 0;
	bool past = false;

	if (item == NULL)
		return -ERANGE;
	if (time_ns < 0)
		time_ns = 0;
	if (player->state != PLAYER_STOP && item->id == player->current.id) {
		player_begin(player);
		player_seek_within(player, time_ns);
		player_flush(player);
		return 0;
	}
	/* Past the end means the song after this one. */
	duration_ns = song_duration_ns(item->song);
	past = duration_ns >= 0 && time_ns >= duration_ns;
	if (player->state == PLAYER_STOP) {
		play_id(player, item->id, past ? 0 : time_ns);
	} else {
		player_renew_error(player);
		player_begin(player);
		player_go_on(player, item->id, past ? 0 : time_ns);
	}
	if (past && player->state != PLAYER_STOP &&
	    player->current.id == item->id)
		player_seek_within(player, time_ns);
	player_flush(player);
	return 0;
}

int
player_seek_current(struct player *player, int64_t time_ns, bool relative)
{
	if (player->state == PLAYER_STOP || player->current.song == NULL)
		return -ESRCH;
	if (relative)
		time_ns += player_elapsed_ns(player);
	player_begin(player);
	player_seek_within(player, time_ns);
	player_flush(player);
	return 0;
}

/* The current song left the queue: the one behind it takes its place. */
static void
current_deleted(struct player *player)
{
	uint32_t id = 0;

	if (player->state == PLAYER_STOP) {
		slot_release(player, &player->current);
		play_queue_set_mark(player->queue, 0);
		player->changes |= PLAYER_CHANGE_PLAYER;
		return;
	}
	id = player_choose_other(player);
	if (id == 0)
		player_begin(player);
	player_go_on(player, id, 0);
}

void
player_queue_changed(struct player *player)
{
	player->changes |= PLAYER_CHANGE_QUEUE;
	if (player->random && play_queue_length(player->queue) == 0)
		order_begin(&player->order, player->queue, 0);
	if (player->current.song != NULL &&
	    play_queue_find(player->queue, player->current.id) < 0)
		current_deleted(player);
	player_plan_next(player);
	player_flush(player);
}

void
player_restore(struct player *player, const struct player_saved *saved)
{
	const struct play_queue_item *item =
		saved->song < 0
			? NULL
			: play_queue_at(player->queue, (uint32_t)saved->song);

	player->volume =
		saved->volume > VOLUME_FULL ? VOLUME_FULL : saved->volume;
	if (!player->no_volume)
		player->ops->set_volume(player->context, player->volume);
	player->repeat = saved->repeat;
	player->random = saved->random;
	player->single = saved->single;
	player->consume = saved->consume;
	player->mixramp_db = saved->mixramp_db;
	player->mixramp_delay_s = saved->mixramp_delay_s;
	if (saved->has_replay_gain) {
		player->has_replay_gain = true;
		player->replay_gain = saved->replay_gain;
	}
	if (saved->has_crossfade) {
		player->has_crossfade = true;
		player->crossfade_s = saved->crossfade_s;
	}
	if (item != NULL) {
		player->current = (struct slot){
			.song = song_ref(item->song),
			.id = item->id,
			.start_ns = saved->elapsed_ns,
			.duration_ns = -1,
		};
		play_queue_set_mark(player->queue, item->id);
	}
	if (player->random)
		order_begin(&player->order, player->queue, player->current.id);
	if (item != NULL && saved->state != PLAYER_STOP) {
		/* A paused song is opened when it is to be heard. */
		player->state = PLAYER_PAUSE;
		if (saved->state == PLAYER_PLAY)
			resume(player);
	}
	player_plan_next(player);
	player->changes |= PLAYER_CHANGE_PLAYER | PLAYER_CHANGE_OPTIONS |
			   PLAYER_CHANGE_MIXER;
	player_flush(player);
}

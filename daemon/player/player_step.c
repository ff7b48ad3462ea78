/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player_step.c - from song to song.
 *
 * enter() makes a song current. What sounded before moves to the slot leaving
 * and sounds on until the new stream is ready; then play crosses over and it
 * is released. A stream that was primed is taken over as it is, so that "next"
 * needs no opening.
 *
 * A stream that was told by follow and is then not to follow any more is
 * released, never kept: the lane may have taken its first frames already.
 *
 * No step waits and no step recurses: a song that cannot be opened at once
 * leads to the next candidate in a loop of at most OPEN_TRIES. */
#include "daemon/player/player_parts.h"

enum { OPEN_TRIES = 8 };

static const char CANNOT_OPEN[] = "no stream is free for it";

static void
drop_next(struct player *player)
{
	struct slot *next = &player->next;

	if (next->told && player->current.told)
		player->ops->follow(player->context, player->current.stream, 0);
	player_drop_ahead(player);
	slot_release(player, next);
}

/* What is current makes room; if it sounds it goes on until it is replaced. */
static void
leave_current(struct player *player)
{
	if (player->current.told) {
		slot_release(player, &player->leaving);
		player->leaving = player->current;
		player->leaving.seek = false;
		player->current = (struct slot){0};
	} else {
		slot_release(player, &player->current);
	}
}

static bool
can_take_next(const struct player *player, uint32_t id, int64_t start_ns)
{
	return player->next.stream != 0 && player->next.id == id &&
	       start_ns == 0 &&
	       (!player->next.told || player->state == PLAYER_PLAY);
}

static bool
enter(struct player *player, uint32_t id, int64_t start_ns)
{
	struct slot taken = {0};

	if (can_take_next(player, id, start_ns)) {
		taken = player->next;
		taken.told = false;
		player->next = (struct slot){0};
		player_drop_ahead(player);
	} else {
		drop_next(player);
	}
	leave_current(player);
	player->seek_ns = -1;
	player->next_id = 0;
	player->changes |= PLAYER_CHANGE_PLAYER;
	play_queue_set_mark(player->queue, id);
	if (player->random)
		order_enter(&player->order, player->queue, id);
	if (taken.stream != 0) {
		player->current = taken;
		return true;
	}
	return slot_open(player, &player->current, id, start_ns);
}

/* Whether what could not be played is to stay current: a share that went away
 * makes one song after the other fail, and when it is back, play should go on
 * where that began. One broken song at the end of a queue is just the end. */
static bool
keeps_origin(const struct player *player)
{
	if (play_queue_find(player->queue, player->origin_id) < 0)
		return false;
	return player->failures > 1 ||
	       (player->failures == 1 &&
		(player->origin_heard || !player->progress));
}

/* Nothing is left to be played. */
static void
finish(struct player *player)
{
	const bool keeps = keeps_origin(player);
	const uint32_t id = player->origin_id;
	const int64_t position = play_queue_find(player->queue, id);

	player_silence(player, true);
	if (keeps) {
		player->current = (struct slot){
			.song = song_ref(
				play_queue_at(player->queue, (uint32_t)position)
					->song),
			.id = id,
			.start_ns = player->origin_ns,
			.duration_ns = -1,
		};
		play_queue_set_mark(player->queue, id);
	}
	if (player->random)
		order_begin(&player->order, player->queue, player->current.id);
	player_begin(player);
	player_plan_next(player);
}

void
player_silence(struct player *player, bool forget)
{
	const bool sounds = player->current.told || player->leaving.told;

	if (sounds)
		player->ops->stop(player->context);
	if (player->engine_paused)
		player->ops->pause(player->context, false);
	player->engine_paused = false;
	player_drop_ahead(player);
	slot_release(player, &player->next);
	slot_release(player, &player->leaving);
	slot_close(player, &player->current);
	player->current.start_ns = 0;
	if (forget) {
		slot_release(player, &player->current);
		play_queue_set_mark(player->queue, 0);
	}
	player->state = PLAYER_STOP;
	player->seek_ns = -1;
	player->next_id = 0;
	player->changes |= PLAYER_CHANGE_PLAYER;
}

/* The song of a slot cannot be played: it is passed over from now on. */
static void
fail_song(struct player *player, const struct slot *slot, const char *reason)
{
	if (player->failures++ == 0) {
		player->origin_id = slot->id;
		player->origin_ns = slot == &player->current
					    ? player_elapsed_ns(player)
					    : slot->start_ns;
		player->origin_heard = slot->started;
	}
	player_set_song_error(player, slot, reason);
	if (id_map_set(&player->failed, slot->id, 0) < 0)
		player->progress = false;
}

void
player_fail_current(struct player *player, const char *reason)
{
	fail_song(player, &player->current, reason);
	slot_close(player, &player->current);
}

void
player_fail_next(struct player *player, const char *reason)
{
	fail_song(player, &player->next, reason);
	drop_next(player);
	player_plan_next(player);
}

void
player_fail_ahead(struct player *player, struct slot *slot, const char *reason)
{
	fail_song(player, slot, reason);
	player_cut_ahead(player, slot);
	player_plan_next(player);
}

void
player_go_on(struct player *player, uint32_t id, int64_t start_ns)
{
	for (int tries = 0; id != 0 && tries < OPEN_TRIES; tries++) {
		if (enter(player, id, start_ns)) {
			player_start_ready(player);
			player_plan_next(player);
			return;
		}
		fail_song(player, &player->current, CANNOT_OPEN);
		id = player_choose_natural(player);
		start_ns = 0;
	}
	finish(player);
}

void
player_start_ready(struct player *player)
{
	struct slot *current = &player->current;

	if (player->state != PLAYER_PLAY || !current->ready || current->told)
		return;
	player_tell_more(player);
	player->ops->play(player->context, current->stream);
	current->told = true;
	if (player->engine_paused)
		player->ops->pause(player->context, false);
	player->engine_paused = false;
	slot_release(player, &player->leaving);
}

/* Removes a song that was played, or left by "next". */
static void
consume(struct player *player, uint32_t id)
{
	const int64_t position = play_queue_find(player->queue, id);

	if (player->consume == PLAYER_OFF || position < 0)
		return;
	if (play_queue_delete(player->queue, (uint32_t)position,
			      (uint32_t)position + 1) < 0)
		return; /* no memory: it stays, which harms nobody */
	player->changes |= PLAYER_CHANGE_QUEUE;
	if (player->consume == PLAYER_ONESHOT) {
		player->consume = PLAYER_OFF;
		player->changes |= PLAYER_CHANGE_OPTIONS;
	}
}

static void
use_up_single(struct player *player)
{
	if (player->single != PLAYER_ONESHOT)
		return;
	player->single = PLAYER_OFF;
	player->changes |= PLAYER_CHANGE_OPTIONS;
}

void
player_advance(struct player *player, enum player_cause cause)
{
	const uint32_t id = cause == PLAYER_SKIPPED
				    ? player_choose_other(player)
				    : player_choose_natural(player);

	if (cause != PLAYER_SKIPPED) {
		if (player_stops_at_border(player))
			player->state = PLAYER_PAUSE;
		use_up_single(player);
	}
	if (cause != PLAYER_FAILED)
		consume(player, player->current.id);
	player_go_on(player, id, 0);
}

void
player_join_next(struct player *player)
{
	const uint32_t id = player->next.id;

	player->progress = true;
	player->failures = 0;
	use_up_single(player);
	if (id != player->current.id)
		consume(player, player->current.id);
	slot_release(player, &player->current);
	player->current = player->next;
	player_shift_ahead(player);
	player->next_id = 0;
	player->seek_ns = -1;
	play_queue_set_mark(player->queue, id);
	if (player->random)
		order_enter(&player->order, player->queue, id);
	player->changes |= PLAYER_CHANGE_PLAYER;
	player_plan_next(player);
}

/* The same song at another time, from before on: with the same gain. */
static void
keep_gain(struct player *player, const struct slot *before)
{
	player->current.heard = before->album && before->started;
	if (player->current.heard && !player->current.album) {
		player->current.album = true;
		if (player->ops->set_album != NULL)
			player->ops->set_album(player->context,
					       player->current.stream, true);
	}
}

/* Opens the current song anew at another time. */
static void
reopen_at(struct player *player, int64_t time_ns)
{
	const struct slot before = player->current;
	const uint32_t id = before.id;

	if (player->next.told)
		drop_next(player);
	if (before.told) {
		leave_current(player);
	} else {
		slot_release(player, &player->current);
	}
	if (!slot_open(player, &player->current, id, time_ns)) {
		if (player->leaving.told && player->leaving.id == id) {
			player_set_song_error(player, &player->current,
					      CANNOT_OPEN);
			player_return_to_leaving(player);
		} else {
			fail_song(player, &player->current, CANNOT_OPEN);
			player_advance(player, PLAYER_FAILED);
		}
		return;
	}
	player->current.seek = true;
	keep_gain(player, &before);
	player->current.duration_ns = before.duration_ns;
	player->current.spec = before.spec;
	player->current.bitrate_bps = before.bitrate_bps;
}

void
player_seek_within(struct player *player, int64_t time_ns)
{
	struct slot *current = &player->current;
	const int64_t duration_ns = slot_duration_ns(current);

	if (time_ns < 0)
		time_ns = 0;
	player->seek_ns = -1;
	player->changes |= PLAYER_CHANGE_PLAYER;
	if (duration_ns >= 0 && time_ns >= duration_ns) {
		player->progress = true;
		player_advance(player, PLAYER_ENDED);
	} else if (current->stream == 0) {
		current->start_ns = time_ns;
	} else if (!current->ready) {
		player->seek_ns = time_ns;
	} else {
		reopen_at(player, time_ns);
	}
}

void
player_return_to_leaving(struct player *player)
{
	slot_release(player, &player->current);
	player->current = player->leaving;
	player->leaving = (struct slot){0};
	player->seek_ns = -1;
	if (player->state == PLAYER_PLAY && player->engine_paused) {
		player->ops->pause(player->context, false);
		player->engine_paused = false;
	}
	player->changes |= PLAYER_CHANGE_PLAYER;
	player_plan_next(player);
}

void
player_plan_next(struct player *player)
{
	const bool sounds = player->current.told;
	uint32_t wanted = 0;

	player_tell_replay_gain(player);
	player->next_id = player->current.song == NULL
				  ? 0
				  : player_choose_natural(player);
	wanted = player_stops_at_border(player) ? 0 : player->next_id;
	if (player->next.song != NULL && player->next.id != wanted)
		drop_next(player);
	if (!sounds)
		return;
	/* When no stream is free now, it is opened at the border. */
	if (wanted != 0 && player->next.song == NULL &&
	    !slot_open(player, &player->next, wanted, 0))
		slot_release(player, &player->next);
	player_tell_overlap(player);
	if (player->next.ready && !player->next.told) {
		player->next.told = true;
		player->ops->follow(player->context, player->current.stream,
				    player->next.stream);
	}
	player_plan_ahead(player);
	player_tell_more(player);
}

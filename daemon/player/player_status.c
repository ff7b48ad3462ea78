/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player_status.c - what the player shows and what it tells.
 *
 * A failed song's reason stays as the error until it is cleared or the user
 * plays something; the card's stays until the card is back. */
#include "daemon/player/player_parts.h"

#include "lib/base/log.h"

#include <string.h>

/* In a row: a share that went away would fill the log. */
enum { LOGGED_FAILURES = 10 };

int64_t
player_elapsed_ns(const struct player *player)
{
	const struct slot *current = &player->current;
	int64_t elapsed_ns = 0;

	if (player->state == PLAYER_STOP || current->song == NULL)
		return -1;
	if (player->seek_ns >= 0)
		return player->seek_ns;
	if (!current->started)
		return current->start_ns;
	elapsed_ns = player->ops->elapsed(player->context, current->stream);
	return elapsed_ns >= 0 ? elapsed_ns : current->start_ns;
}

static int64_t
position_of(const struct player *player, uint32_t id)
{
	const int64_t position = play_queue_find(player->queue, id);

	return position >= 0 ? position : -1;
}

void
player_get_status(const struct player *player, struct player_status *ret_status)
{
	const struct slot *current = &player->current;
	const bool open = player->state != PLAYER_STOP;

	*ret_status = (struct player_status){
		.state = player->output_lost && player->state == PLAYER_PLAY
				 ? PLAYER_PAUSE
				 : player->state,
		.song = position_of(player, current->id),
		.song_id = current->id,
		.next_song = position_of(player, player->next_id),
		.next_song_id = player->next_id,
		.elapsed_ns = player_elapsed_ns(player),
		.duration_ns = open ? slot_duration_ns(current) : -1,
		.spec = open ? current->spec : (struct audio_spec){0},
		.bitrate_bps = open ? current->bitrate_bps : 0,
		.volume = player->no_volume ? -1 : (int)player->volume,
		.repeat = player->repeat,
		.random = player->random,
		.single = player->single,
		.consume = player->consume,
		.replay_gain = player->replay_gain,
		.crossfade_s = player->crossfade_s,
		.mixramp_db = player->mixramp_db,
		.mixramp_delay_s = player->mixramp_delay_s,
		.error = player->error.length > 0 ? player->error.bytes : NULL,
	};
}

void
player_get_saved(const struct player *player, struct player_saved *ret_saved)
{
	/* Stopped, it is where play would begin. */
	const int64_t elapsed_ns = player->state == PLAYER_STOP
					   ? player->current.start_ns
					   : player_elapsed_ns(player);

	*ret_saved = (struct player_saved){
		.volume = player->volume,
		.repeat = player->repeat,
		.random = player->random,
		.single = player->single,
		.consume = player->consume,
		.has_replay_gain = player->has_replay_gain,
		.replay_gain = player->replay_gain,
		.has_crossfade = player->has_crossfade,
		.crossfade_s = player->crossfade_s,
		.mixramp_db = player->mixramp_db,
		.mixramp_delay_s = player->mixramp_delay_s,
		.state = player->state,
		.song = position_of(player, player->current.id),
		.elapsed_ns = elapsed_ns > 0 ? elapsed_ns : 0,
	};
}

void
player_set_song_error(struct player *player, const struct slot *slot,
		      const char *reason)
{
	text_clear(&player->error);
	text_printf(&player->error, "cannot play %s: ",
		    slot->song != NULL ? song_uri(slot->song) : "it");
	text_add_clean(&player->error, reason, strlen(reason), SIZE_MAX);
	if (player->failures <= LOGGED_FAILURES)
		log_warn("player", "%s", text_string(&player->error));
	if (player->failures == LOGGED_FAILURES)
		log_warn("player", "what fails after this is not logged until "
				   "something plays again");
	player->error_is_output = false;
	player->changes |= PLAYER_CHANGE_PLAYER;
}

void
player_drop_error(struct player *player)
{
	if (player->error.length == 0)
		return;
	text_clear(&player->error);
	player->error_is_output = false;
	player->changes |= PLAYER_CHANGE_PLAYER;
}

void
player_renew_error(struct player *player)
{
	player_drop_error(player);
	if (!player->output_lost)
		return;
	text_add(&player->error, text_string(&player->lost_reason));
	player->error_is_output = true;
	player->changes |= PLAYER_CHANGE_PLAYER;
}

void
player_clear_error(struct player *player)
{
	player_drop_error(player);
	player_flush(player);
}

void
player_flush(struct player *player)
{
	const unsigned changes = player->changes;

	player_tell_replay_gain(player);
	player_tell_overlaps(player);
	player->changes = 0;
	if (changes != 0)
		player->ops->changed(player->context, changes);
}

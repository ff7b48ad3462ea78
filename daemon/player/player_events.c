/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player_events.c - what the engine reports.
 *
 * An event names a stream; one that is in none of the three slots was released
 * before the event arrived, and is ignored. */
#include "daemon/player/player_parts.h"

#include "lib/base/clock.h"

/* A song that was heard for this long is a song, not a failure that begins
 * with a sound: it may be tried again in the next round. */
static const int64_t HEARD_NS = NS_PER_S;

static bool
is(const struct slot *slot, uint64_t stream)
{
	return stream != 0 && slot->stream == stream;
}

static void
current_ready(struct player *player)
{
	const struct slot *current = &player->current;
	const int64_t seek_ns = player->seek_ns;

	player->changes |= PLAYER_CHANGE_PLAYER;
	if (seek_ns >= 0)
		player_seek_within(player, seek_ns);
	else if (current->start_ns > 0 && current->duration_ns >= 0 &&
		 current->start_ns >= current->duration_ns)
		player_seek_within(player, current->start_ns);
	player_start_ready(player);
	player_plan_next(player);
}

void
player_on_ready(struct player *player, uint64_t stream,
		const struct audio_spec *spec, int64_t duration_ns,
		uint32_t bitrate_bps)
{
	struct slot *slot = is(&player->current, stream) ? &player->current
			    : is(&player->next, stream)
				    ? &player->next
				    : player_find_ahead(player, stream);

	if (slot == NULL || slot->ready)
		return;
	slot->ready = true;
	slot->spec = *spec;
	slot->duration_ns = duration_ns > 0 ? duration_ns : -1;
	slot->bitrate_bps = bitrate_bps;
	if (slot == &player->current)
		current_ready(player);
	else
		player_plan_next(player);
	player_flush(player);
}

static void
current_failed(struct player *player, const char *reason)
{
	struct slot *current = &player->current;
	const int64_t elapsed_ns = player_elapsed_ns(player);

	if (current->seek && player->leaving.told &&
	    player->leaving.id == current->id) {
		player_set_song_error(player, current, reason);
		player_return_to_leaving(player);
		return;
	}
	if (current->started && elapsed_ns - current->start_ns >= HEARD_NS)
		player->progress = true;
	player_fail_current(player, reason);
	player_advance(player, PLAYER_FAILED);
}

void
player_on_failed(struct player *player, uint64_t stream, const char *reason)
{
	struct slot *ahead = player_find_ahead(player, stream);

	if (is(&player->current, stream)) {
		current_failed(player, reason);
	} else if (is(&player->next, stream)) {
		player_fail_next(player, reason);
	} else if (ahead != NULL) {
		player_fail_ahead(player, ahead, reason);
	} else if (is(&player->leaving, stream)) {
		slot_release(player, &player->leaving);
	}
	player_flush(player);
}

/* What is heard was opened ahead: so all before it is over. */
static void
pass_to(struct player *player, uint64_t stream)
{
	const struct slot *ahead = player_find_ahead(player, stream);

	while (ahead != NULL && ahead->told) {
		player_join_next(player);
		ahead = player_find_ahead(player, stream);
	}
}

void
player_on_started(struct player *player, uint64_t stream)
{
	pass_to(player, stream);
	if (is(&player->current, stream) && !player->current.started) {
		player->current.started = true;
		player->failures = 0;
		player->changes |= PLAYER_CHANGE_PLAYER;
	} else if (is(&player->next, stream) && player->next.told) {
		player->next.started = true;
		player_join_next(player);
	}
	player_flush(player);
}

static void
current_ended(struct player *player)
{
	struct slot *current = &player->current;

	if (!current->started) {
		player_fail_current(player, "there is no sound in it");
		player_advance(player, PLAYER_FAILED);
		return;
	}
	player->progress = true;
	/* It sounds no more, so it does not move to leaving. */
	slot_close(player, current);
	player_advance(player, PLAYER_ENDED);
}

void
player_on_ended(struct player *player, uint64_t stream)
{
	/* The start of a song that is over already may have got lost. */
	pass_to(player, stream);
	if (is(&player->next, stream) && player->next.told)
		player_on_started(player, stream);
	if (is(&player->current, stream))
		current_ended(player);
	else if (is(&player->leaving, stream))
		slot_release(player, &player->leaving);
	player_flush(player);
}

void
player_on_output_lost(struct player *player, const char *reason)
{
	player->output_lost = true;
	text_clear(&player->lost_reason);
	text_add(&player->lost_reason, reason);
	/* Stopped, it is in the way of nothing. */
	if (player->state != PLAYER_STOP)
		player_renew_error(player);
	player->changes |= PLAYER_CHANGE_PLAYER;
	player_flush(player);
}

void
player_on_output_back(struct player *player)
{
	if (!player->output_lost)
		return;
	player->output_lost = false;
	if (player->error_is_output)
		player_drop_error(player);
	player->changes |= PLAYER_CHANGE_PLAYER;
	player_flush(player);
}

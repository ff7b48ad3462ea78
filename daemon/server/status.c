/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status.c - what is going on, in the protocol's order of lines; our own lines
 * stand behind. */
#include "daemon/server/groups.h"

#include "daemon/engine/engine.h"
#include "daemon/player/player.h"
#include "daemon/server/reply.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"
#include "lib/base/clock.h"

#include <inttypes.h>

static const char *
mode_word(enum player_mode mode)
{
	switch (mode) {
	case PLAYER_ON:
		return "1";
	case PLAYER_ONESHOT:
		return "oneshot";
	case PLAYER_OFF:
		break;
	}
	return "0";
}

static const char *
state_word(enum player_state state)
{
	switch (state) {
	case PLAYER_PLAY:
		return "play";
	case PLAYER_PAUSE:
		return "pause";
	case PLAYER_STOP:
		break;
	}
	return "stop";
}

static void
add_playing(struct text *out, const struct player_status *status)
{
	text_printf(out, "time: %" PRId64 ":%" PRId64 "\n",
		    reply_round_s(status->elapsed_ns),
		    reply_round_s(status->duration_ns));
	reply_seconds(out, "elapsed", status->elapsed_ns);
	reply_int(out, "bitrate", (status->bitrate_bps + 500) / 1000);
	if (status->duration_ns >= 0)
		reply_seconds(out, "duration", status->duration_ns);
	reply_format(out, "audio", &status->spec);
}

static void
add_output(struct session *session)
{
	const struct engine *engine = session->server->links.engine;
	struct engine_output output;
	const struct card_spec *spec = NULL;

	if (engine == NULL)
		return;
	engine_output(engine, &output);
	if (output.card == NULL)
		return;
	spec = &output.card->spec;
	if (spec->format == CARD_F32)
		text_printf(&session->out, "output_audio: %u:f:%u\n",
			    spec->rate_hz, spec->channels);
	else
		text_printf(&session->out, "output_audio: %u:%u:%u\n",
			    spec->rate_hz, spec->bits, spec->channels);
	reply_int(&session->out, "bitperfect", output.bit_perfect);
}

/* The player's error, else what is wrong with the output, else nothing. */
static void
add_error(struct session *session, const struct player_status *status)
{
	const struct engine *engine = session->server->links.engine;
	struct engine_output output;

	if (status->error != NULL) {
		reply_add(&session->out, "error", status->error);
		return;
	}
	if (engine == NULL)
		return;
	engine_output(engine, &output);
	/* The player has told of it, if it is in the way of anything. */
	if (output.held)
		return;
	if (output.error != NULL && output.error[0] != '\0')
		reply_add(&session->out, "error", output.error);
	else if (output.mixer_error != NULL && output.mixer_error[0] != '\0')
		text_printf(&session->out,
			    "error: %s; the volume is made in software\n",
			    output.mixer_error);
}

enum command_result
status_status(struct session *session, const struct request *request)
{
	const struct server *server = session->server;
	struct text *out = &session->out;
	struct player_status status;
	unsigned job = 0;

	(void)request;
	player_get_status(server->links.player, &status);
	if (status.volume >= 0)
		reply_int(out, "volume", status.volume);
	reply_int(out, "repeat", status.repeat);
	reply_int(out, "random", status.random);
	reply_add(out, "single", mode_word(status.single));
	reply_add(out, "consume", mode_word(status.consume));
	reply_add(out, "partition", "default");
	reply_int(out, "playlist", play_queue_version(server->links.queue));
	reply_int(out, "playlistlength",
		  play_queue_length(server->links.queue));
	text_printf(out, "mixrampdb: %.6g\n", status.mixramp_db);
	reply_add(out, "state", state_word(status.state));
	if (status.crossfade_s > 0)
		reply_int(out, "xfade", status.crossfade_s);
	if (status.mixramp_delay_s > 0)
		text_printf(out, "mixrampdelay: %.6g\n",
			    status.mixramp_delay_s);
	if (status.song >= 0) {
		reply_int(out, "song", status.song);
		reply_int(out, "songid", status.song_id);
	}
	if (status.state != PLAYER_STOP)
		add_playing(out, &status);
	job = updater_job(&server->updater);
	if (job > 0)
		reply_int(out, "updating_db", job);
	add_error(session, &status);
	if (status.next_song >= 0) {
		reply_int(out, "nextsong", status.next_song);
		reply_int(out, "nextsongid", status.next_song_id);
	}
	add_output(session);
	return COMMAND_OK;
}

enum command_result
status_currentsong(struct session *session, const struct request *request)
{
	const struct play_queue *queue = session->server->links.queue;
	struct player_status status;

	(void)request;
	player_get_status(session->server->links.player, &status);
	if (status.song >= 0 && status.song < play_queue_length(queue))
		reply_queue_song(&session->out,
				 play_queue_at(queue, (uint32_t)status.song),
				 (uint32_t)status.song, session->tags);
	return COMMAND_OK;
}

enum command_result
status_stats(struct session *session, const struct request *request)
{
	const struct server *server = session->server;
	const struct updater *updater = &server->updater;

	(void)request;
	reply_int(&session->out, "uptime",
		  (clock_now_ns() - server->started_ns) / NS_PER_S);
	reply_int(&session->out, "playtime",
		  server_played_ns(server) / NS_PER_S);
	if (updater->finished_s > 0) {
		reply_int(&session->out, "songs", (int64_t)updater->song_count);
		reply_int(&session->out, "db_update", updater->finished_s);
	}
	return COMMAND_OK;
}

enum command_result
status_clearerror(struct session *session, const struct request *request)
{
	(void)request;
	player_clear_error(session->server->links.player);
	return COMMAND_OK;
}

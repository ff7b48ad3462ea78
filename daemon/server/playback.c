/* SPDX-License-Identifier: GPL-3.0-or-later */
/* playback.c - commands that start, stop and move what plays. */
#include "daemon/server/groups.h"

#include "daemon/player/player.h"
#include "daemon/server/args.h"
#include "daemon/server/reply.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"

#include <string.h>
#include <strings.h>

static struct player *
player_of(const struct session *session)
{
	return session->server->links.player;
}

static bool
is_stopped(const struct session *session)
{
	struct player_status status;

	player_get_status(player_of(session), &status);
	return status.state == PLAYER_STOP;
}

static enum command_result
not_playing(struct session *session)
{
	return session_ack(session, ACK_PLAYER_SYNC, "Not playing");
}

enum command_result
playback_play(struct session *session, const struct request *request)
{
	int64_t position = -1;

	if (request->count > 0 && !arg_int(session, request->args[0], INT32_MIN,
					   INT32_MAX, &position))
		return COMMAND_ERROR;
	if (position < -1 ||
	    position >= play_queue_length(session->server->links.queue))
		return session_ack(session, ACK_ARGUMENT, "Bad song index");
	return arg_queue_result(session,
				player_play(player_of(session), position));
}

enum command_result
playback_playid(struct session *session, const struct request *request)
{
	int64_t id = -1;

	if (request->count > 0 &&
	    !arg_int(session, request->args[0], INT32_MIN, INT32_MAX, &id))
		return COMMAND_ERROR;
	if (id == -1)
		return arg_queue_result(session,
					player_play(player_of(session), -1));
	if (id <= 0)
		return session_ack(session, ACK_NO_EXIST, "No such song");
	return arg_queue_result(
		session, player_play_id(player_of(session), (uint32_t)id));
}

enum command_result
playback_pause(struct session *session, const struct request *request)
{
	bool paused = false;

	if (request->count == 0) {
		player_toggle(player_of(session));
		return COMMAND_OK;
	}
	if (!arg_bool(session, request->args[0], &paused))
		return COMMAND_ERROR;
	player_pause(player_of(session), paused);
	return COMMAND_OK;
}

enum command_result
playback_stop(struct session *session, const struct request *request)
{
	(void)request;
	player_stop(player_of(session));
	return COMMAND_OK;
}

enum command_result
playback_next(struct session *session, const struct request *request)
{
	(void)request;
	if (is_stopped(session))
		return not_playing(session);
	player_next(player_of(session));
	return COMMAND_OK;
}

enum command_result
playback_previous(struct session *session, const struct request *request)
{
	(void)request;
	if (is_stopped(session))
		return not_playing(session);
	player_previous(player_of(session));
	return COMMAND_OK;
}

enum command_result
playback_seek(struct session *session, const struct request *request)
{
	uint32_t position = 0;
	int64_t time_ns = 0;

	if (!arg_unsigned(session, request->args[0], INT32_MAX, &position) ||
	    !arg_seconds(session, request->args[1], &time_ns))
		return COMMAND_ERROR;
	return arg_queue_result(
		session, player_seek(player_of(session), position, time_ns));
}

enum command_result
playback_seekid(struct session *session, const struct request *request)
{
	uint32_t position = 0;
	int64_t time_ns = 0;

	if (!arg_song_id(session, request->args[0], &position) ||
	    !arg_seconds(session, request->args[1], &time_ns))
		return COMMAND_ERROR;
	return arg_queue_result(
		session, player_seek(player_of(session), position, time_ns));
}

enum command_result
playback_seekcur(struct session *session, const struct request *request)
{
	int64_t time_ns = 0;
	bool relative = false;

	if (!arg_seconds_signed(session, request->args[0], &time_ns, &relative))
		return COMMAND_ERROR;
	if (is_stopped(session))
		return not_playing(session);
	return arg_queue_result(
		session,
		player_seek_current(player_of(session), time_ns, relative));
}

/* Volume ---------------------------------------------------------------- */

static int64_t
volume_of(const struct session *session)
{
	struct player_status status;

	player_get_status(player_of(session), &status);
	return status.volume;
}

static enum command_result
set_volume(struct session *session, unsigned percent)
{
	if (player_set_volume(player_of(session), percent) < 0)
		return session_ack(session, ACK_SYSTEM,
				   "problems setting volume: the output has "
				   "none (mixer = none)");
	return COMMAND_OK;
}

enum command_result
playback_setvol(struct session *session, const struct request *request)
{
	uint32_t percent = 0;

	if (!arg_unsigned(session, request->args[0], 100, &percent))
		return COMMAND_ERROR;
	return set_volume(session, percent);
}

enum command_result
playback_volume(struct session *session, const struct request *request)
{
	int64_t change = 0, volume = 0;

	if (!arg_int(session, request->args[0], -100, 100, &change))
		return COMMAND_ERROR;
	volume = volume_of(session) + change;
	if (volume < 0)
		volume = 0;
	if (volume > 100)
		volume = 100;
	return set_volume(session, (unsigned)volume);
}

enum command_result
playback_getvol(struct session *session, const struct request *request)
{
	const int64_t volume = volume_of(session);

	(void)request;
	if (volume >= 0)
		reply_int(&session->out, "volume", volume);
	return COMMAND_OK;
}

/* Options --------------------------------------------------------------- */

enum command_result
playback_repeat(struct session *session, const struct request *request)
{
	bool on = false;

	if (!arg_bool(session, request->args[0], &on))
		return COMMAND_ERROR;
	player_set_repeat(player_of(session), on);
	return COMMAND_OK;
}

enum command_result
playback_random(struct session *session, const struct request *request)
{
	bool on = false;

	if (!arg_bool(session, request->args[0], &on))
		return COMMAND_ERROR;
	player_set_random(player_of(session), on);
	return COMMAND_OK;
}

static bool
arg_mode(struct session *session, const char *text, const char *name,
	 enum player_mode *ret_mode)
{
	if (strcmp(text, "0") == 0)
		*ret_mode = PLAYER_OFF;
	else if (strcmp(text, "1") == 0)
		*ret_mode = PLAYER_ON;
	else if (strcmp(text, "oneshot") == 0)
		*ret_mode = PLAYER_ONESHOT;
	else {
		session_ack(session, ACK_ARGUMENT,
			    "Unrecognized %s mode, expected 0, 1, or oneshot",
			    name);
		return false;
	}
	return true;
}

enum command_result
playback_single(struct session *session, const struct request *request)
{
	enum player_mode mode;

	if (!arg_mode(session, request->args[0], "single", &mode))
		return COMMAND_ERROR;
	player_set_single(player_of(session), mode);
	return COMMAND_OK;
}

enum command_result
playback_consume(struct session *session, const struct request *request)
{
	enum player_mode mode;

	if (!arg_mode(session, request->args[0], "consume", &mode))
		return COMMAND_ERROR;
	player_set_consume(player_of(session), mode);
	return COMMAND_OK;
}

enum command_result
playback_crossfade(struct session *session, const struct request *request)
{
	uint32_t seconds = 0;

	if (!arg_unsigned(session, request->args[0], UINT32_MAX, &seconds))
		return COMMAND_ERROR;
	player_set_crossfade(player_of(session), seconds);
	return COMMAND_OK;
}

enum command_result
playback_mixrampdb(struct session *session, const struct request *request)
{
	double db = 0;

	if (!arg_real(session, request->args[0], MIXRAMP_MAX, &db))
		return COMMAND_ERROR;
	player_set_mixramp_db(player_of(session), db);
	return COMMAND_OK;
}

/* nan, or less than 0: none. */
enum command_result
playback_mixrampdelay(struct session *session, const struct request *request)
{
	double delay_s = -1;

	if (strcasecmp(request->args[0], "nan") != 0 &&
	    !arg_real(session, request->args[0], MIXRAMP_MAX, &delay_s))
		return COMMAND_ERROR;
	player_set_mixramp_delay(player_of(session),
				 delay_s < 0 ? -1 : delay_s);
	return COMMAND_OK;
}

enum command_result
playback_replay_gain_mode(struct session *session,
			  const struct request *request)
{
	enum replay_gain_mode mode = REPLAY_GAIN_OFF;

	if (!replay_gain_mode_parse(request->args[0], &mode))
		return session_ack(session, ACK_ARGUMENT,
				   "Unrecognized replay gain mode");
	player_set_replay_gain(player_of(session), mode);
	return COMMAND_OK;
}

enum command_result
playback_replay_gain_status(struct session *session,
			    const struct request *request)
{
	struct player_status status;

	(void)request;
	player_get_status(player_of(session), &status);
	reply_add(&session->out, "replay_gain_mode",
		  replay_gain_mode_name(status.replay_gain));
	return COMMAND_OK;
}

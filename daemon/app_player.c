/* SPDX-License-Identifier: GPL-3.0-or-later */
/* app_player.c - the go-between of player and engine. Neither knows the other:
 * the player is a pure state machine, and the engine has no notion of songs. */
#include "daemon/app_player.h"

#include "daemon/player/state.h"
#include "daemon/server/server.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const double decibel_per_percent = 0.5;

float
app_volume_gain(unsigned percent)
{
	if (percent == 0)
		return 0.0F;
	if (percent >= 100)
		return 1.0F;
	return (float)pow(10.0, ((double)percent - 100.0) *
					decibel_per_percent / 20.0);
}

unsigned
app_volume_percent(float gain)
{
	double percent;

	if (!(gain > 0.0F))
		return 0;
	percent =
		round(100.0 + 20.0 * log10((double)gain) / decibel_per_percent);
	if (percent < 1)
		return 1;
	return percent > 100 ? 100 : (unsigned)percent;
}

/* The player's wishes. */

static uint64_t
open_song(void *context, const struct song *song, int64_t start_ns)
{
	struct app_player *app = context;
	const struct source_ref ref = {song_uri(song), getuid()};
	uint64_t stream = 0;
	int result = 0;

	result = engine_open(app->engine, LANE_MUSIC, &ref, start_ns, &stream);
	if (result < 0) {
		log_err("player", "cannot open %s: %s", song_uri(song),
			text_of_error(result));
		return 0;
	}
	return stream;
}

static void
release_stream(void *context, uint64_t stream)
{
	struct app_player *app = context;

	engine_release(app->engine, stream);
}

static void
play_stream(void *context, uint64_t stream)
{
	struct app_player *app = context;

	if (engine_play(app->engine, LANE_MUSIC, stream) < 0)
		player_on_failed(app->player, stream, "it is not ready");
}

static void
follow_stream(void *context, uint64_t stream, uint64_t next)
{
	struct app_player *app = context;
	int result = 0;

	result = engine_follow(app->engine, LANE_MUSIC, stream, next);
	if (result < 0)
		log_debug("player", "stream %llu cannot follow: %s",
			  (unsigned long long)next, text_of_error(result));
}

static void
overlap_stream(void *context, uint64_t next, int64_t fade_ns)
{
	struct app_player *app = context;

	engine_overlap(app->engine, next, fade_ns);
}

static void
set_overlaps(void *context, bool overlaps)
{
	struct app_player *app = context;

	engine_set_overlaps(app->engine, overlaps);
}

static void
expect_more(void *context, bool more)
{
	struct app_player *app = context;

	engine_expect(app->engine, LANE_MUSIC, more);
}

static void
stop_music(void *context)
{
	struct app_player *app = context;

	engine_stop(app->engine, LANE_MUSIC);
}

static void
pause_music(void *context, bool paused)
{
	struct app_player *app = context;

	engine_pause(app->engine, LANE_MUSIC, paused);
}

static void
set_volume(void *context, unsigned percent)
{
	struct app_player *app = context;

	if (!app->keeps_volume)
		engine_set_volume(app->engine, app_volume_gain(percent));
}

static void
set_replay_gain(void *context, enum replay_gain_mode mode)
{
	struct app_player *app = context;

	app->replay_gain.mode = mode;
	engine_set_replay_gain(app->engine, &app->replay_gain);
}

static void
set_album(void *context, uint64_t stream, bool album)
{
	struct app_player *app = context;

	engine_set_album(app->engine, stream, album);
}

static int64_t
elapsed(void *context, uint64_t stream)
{
	const struct app_player *app = context;
	struct engine_position position = {0};

	engine_position(app->engine, LANE_MUSIC, &position);
	return position.stream == stream ? position.elapsed_ns : -1;
}

/* Uniform below a bound: the top of the range that does not divide is thrown
 * away. */
static uint32_t
random_below(void *context, uint32_t below)
{
	const uint32_t limit = UINT32_MAX - UINT32_MAX % below;
	uint32_t value = 0;

	(void)context;
	do {
		if (getrandom(&value, sizeof(value), GRND_NONBLOCK) !=
		    sizeof(value))
			value = (uint32_t)clock_now_ns() * UINT32_C(2654435761);
	} while (value >= limit);
	return value % below;
}

static void
tell_changes(void *context, unsigned changes)
{
	struct app_player *app = context;

	if (app->state != NULL)
		state_changed(app->state, changes);
	if (app->server == NULL)
		return;
	if (changes & PLAYER_CHANGE_PLAYER)
		server_idle(app->server, IDLE_PLAYER);
	if (changes & PLAYER_CHANGE_QUEUE)
		server_idle(app->server, IDLE_PLAYLIST);
	if (changes & PLAYER_CHANGE_OPTIONS)
		server_idle(app->server, IDLE_OPTIONS);
	if (changes & PLAYER_CHANGE_MIXER)
		server_idle(app->server, IDLE_MIXER);
}

const struct player_ops app_player_ops = {
	.open = open_song,
	.release = release_stream,
	.play = play_stream,
	.follow = follow_stream,
	.overlap = overlap_stream,
	.set_overlaps = set_overlaps,
	.expect = expect_more,
	.stop = stop_music,
	.pause = pause_music,
	.set_volume = set_volume,
	.set_replay_gain = set_replay_gain,
	.set_album = set_album,
	.elapsed = elapsed,
	.random = random_below,
	.changed = tell_changes,
};

/* The engine's events. */

static void
on_ready(void *context, uint64_t stream, const struct decoder_info *info)
{
	struct app_player *app = context;
	const int64_t duration_ns =
		info->frames > 0
			? clock_frames_to_ns(info->frames, info->spec.rate_hz)
			: -1;

	player_on_ready(app->player, stream, &info->spec, duration_ns,
			info->bitrate_bps);
}

static void
on_failed(void *context, uint64_t stream, const char *reason)
{
	struct app_player *app = context;

	player_on_failed(app->player, stream, reason);
}

static void
on_started(void *context, enum lane_id lane, uint64_t stream)
{
	struct app_player *app = context;

	if (lane == LANE_MUSIC)
		player_on_started(app->player, stream);
}

static void
on_ended(void *context, enum lane_id lane, uint64_t stream)
{
	struct app_player *app = context;

	if (lane == LANE_MUSIC)
		player_on_ended(app->player, stream);
}

static void
keep_outputs(const struct app_player *app, struct state *state)
{
	struct state_outputs outputs = {0};
	struct engine_output_info info;
	unsigned i;

	for (i = 0; i < STATE_OUTPUTS_MAX; i++) {
		if (engine_output_info(app->engine, i, &info) < 0)
			break;
		snprintf(outputs.at[i].name, sizeof(outputs.at[i].name), "%s",
			 info.name);
		outputs.at[i].enabled = info.enabled;
	}
	outputs.count = i;
	state_set_outputs(state, &outputs);
}

void
app_player_restore_outputs(struct app_player *app, struct state *state)
{
	struct engine_output_info info;
	unsigned i;

	for (i = 0; engine_output_info(app->engine, i, &info) == 0; i++)
		if (state_output_is_off(state, info.name) &&
		    engine_output_enable(app->engine, i, false) == 0)
			log_info("output", "%s is off, as it was left",
				 info.name);
	keep_outputs(app, state);
}

static void
on_output_changed(void *context)
{
	struct app_player *app = context;
	struct engine_output output = {0};
	bool lost = false;

	engine_output(app->engine, &output);
	lost = output.held || output.state == OUTPUT_RETRY;
	if (lost && (!app->output_lost || output.held != app->output_held))
		player_on_output_lost(app->player, output.error);
	else if (!lost && app->output_lost)
		player_on_output_back(app->player);
	app->output_lost = lost;
	app->output_held = output.held;
	if (app->state != NULL)
		keep_outputs(app, app->state);
	if (app->server != NULL)
		server_idle(app->server, IDLE_OUTPUT);
}

static void
on_volume_changed(void *context, float volume)
{
	struct app_player *app = context;

	if (app->player != NULL)
		player_on_volume(app->player, app_volume_percent(volume));
}

const struct engine_events app_engine_events = {
	.ready = on_ready,
	.failed = on_failed,
	.started = on_started,
	.ended = on_ended,
	.output_changed = on_output_changed,
	.volume_changed = on_volume_changed,
};

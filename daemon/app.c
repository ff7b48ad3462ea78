/* SPDX-License-Identifier: GPL-3.0-or-later */
/* app.c - rotaryd as a whole.
 *
 * Life: the rooms come up from the bottom (work, queue and state, engine,
 * player, server), the loop runs, and they go down in the order that leaves
 * nothing lost: the music fades while the state is written, then the socket
 * goes, then the card. The loop is sd-event's: descriptors of work and engine,
 * the server's own, signals, and one timer that is set anew after each round
 * to the first deadline of all rooms. */
#include "daemon/app.h"

#include "daemon/app_options.h"
#include "daemon/app_player.h"
#include "daemon/player/state.h"
#include "daemon/server/server.h"
#include "daemon/source/skips.h"
#include "daemon/work/work.h"
#include "lib/base/clock.h"
#include "lib/base/conf.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/rt/rt.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

/* Longest waits at the end, together under half a second. */
static const int64_t state_wait_ns = 250 * NS_PER_MS;
static const int64_t work_wait_ns = 100 * NS_PER_MS;

struct app {
	const struct conf *conf;
	sd_event *loop;
	sd_event_source *timer;
	struct work *work;
	struct play_queue *queue;
	struct state *state;
	struct engine *engine;
	struct player *player;
	struct server *server;
	struct app_player between;
	int64_t state_interval_ns;
};

/* The loop. */

static int
on_signal(sd_event_source *source, const struct signalfd_siginfo *info,
	  void *context)
{
	(void)context;
	log_info("rotaryd", "%s: ending",
		 info->ssi_signo == SIGINT ? "interrupted" : "terminated");
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

static int
on_work(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct app *app = context;

	(void)source;
	(void)fd;
	(void)events;
	work_dispatch(app->work);
	/* A job of the card's may have set a new time to try again. */
	engine_dispatch(app->engine);
	return 0;
}

static int
on_engine(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct app *app = context;

	(void)source;
	(void)fd;
	(void)events;
	engine_dispatch(app->engine);
	log_rt_drain();
	return 0;
}

static int
on_timer(sd_event_source *source, uint64_t usec, void *context)
{
	struct app *app = context;

	(void)source;
	(void)usec;
	work_dispatch(app->work);
	engine_dispatch(app->engine);
	log_rt_drain();
	return 0;
}

/* After each round: what state wants, and when the next round is due. */
static int
on_post(sd_event_source *source, void *context)
{
	struct app *app = context;
	int64_t due =
		state_tick(app->state, clock_now_ns(), app->state_interval_ns);
	int64_t other = work_next_deadline(app->work);

	(void)source;
	if (other < due)
		due = other;
	other = engine_next_deadline(app->engine);
	if (other < due)
		due = other;
	if (due == INT64_MAX)
		return sd_event_source_set_enabled(app->timer, SD_EVENT_OFF);
	if (due < 0)
		due = 0;
	sd_event_source_set_time(app->timer,
				 (uint64_t)((due + NS_PER_US - 1) / NS_PER_US));
	return sd_event_source_set_enabled(app->timer, SD_EVENT_ONESHOT);
}

static int
loop_up(struct app *app)
{
	int result = sd_event_default(&app->loop);

	if (result >= 0)
		result = sd_event_add_signal(app->loop, NULL, SIGTERM,
					     on_signal, app);
	if (result >= 0)
		result = sd_event_add_signal(app->loop, NULL, SIGINT, on_signal,
					     app);
	if (result >= 0)
		result = sd_event_add_time(app->loop, &app->timer,
					   CLOCK_MONOTONIC, 0, 1000, on_timer,
					   app);
	return result < 0 ? result : 0;
}

/* Joins the rooms' descriptors to the loop, once they are all there. */
static int
loop_join(struct app *app)
{
	int result = sd_event_add_io(app->loop, NULL, work_event_fd(app->work),
				     EPOLLIN, on_work, app);

	if (result >= 0)
		result = sd_event_add_io(app->loop, NULL,
					 engine_event_fd(app->engine), EPOLLIN,
					 on_engine, app);
	if (result >= 0 && engine_mixer_fd(app->engine) >= 0)
		result = sd_event_add_io(app->loop, NULL,
					 engine_mixer_fd(app->engine), EPOLLIN,
					 on_engine, app);
	if (result >= 0)
		result = sd_event_add_post(app->loop, NULL, on_post, app);
	return result < 0 ? result : 0;
}

/* The rooms. Each logs its own failure: one line, with the next step. */

static int
fail(const char *what, int error)
{
	log_err("rotaryd", "cannot start %s: %s", what, text_of_error(error));
	return error;
}

static int
engine_up(struct app *app)
{
	struct engine_output_config others[CONF_FURTHER_MAX];
	const struct engine_config config =
		app_engine_options(app->conf, others);
	int result = rt_fence_init();

	if (result < 0)
		log_warn("rotaryd", "the fence cannot be built here: %s",
			 text_of_error(result));
	result = rt_crash_init();
	if (result < 0)
		log_warn("rotaryd", "a crash would not be told: %s",
			 text_of_error(result));
	result = engine_create(&config, app->work, &app_engine_events,
			       &app->between, &app->engine);
	if (result < 0)
		return fail("the engine", result);
	app->between.engine = app->engine;
	app->between.replay_gain = (struct replay_gain_settings){
		.preamp_db = (float)conf_int(app->conf, CONF_PLAYER_PREAMP_DB),
		.missing_preamp_db = (float)conf_int(
			app->conf, CONF_PLAYER_MISSING_PREAMP_DB),
	};
	engine_set_replay_gain(app->engine, &app->between.replay_gain);
	engine_set_duck(app->engine,
			(unsigned)conf_int(app->conf, CONF_SPEECH_DUCK_DB));
	return 0;
}

/* What the saved state comes to under the option player.resume. */
static void
restore(struct app *app, struct player_saved *saved)
{
	enum { RESUME_PLAY, RESUME_PAUSE, RESUME_STOP };
	const int resume = conf_choice(app->conf, CONF_PLAYER_RESUME);

	if (resume == RESUME_PAUSE && saved->state == PLAYER_PLAY)
		saved->state = PLAYER_PAUSE;
	else if (resume == RESUME_STOP)
		saved->state = PLAYER_STOP;
	player_restore(app->player, saved);
}

static int
player_up(struct app *app)
{
	app->queue = play_queue_create();
	if (app->queue != NULL)
		app->player = player_create(app->queue, &app_player_ops,
					    &app->between);
	if (app->player == NULL)
		return fail("the player", -ENOMEM);
	app->between.player = app->player;
	if (app_has_no_volume(app->conf))
		player_forgo_volume(app->player);
	/* The option lists them in the order of enum replay_gain_mode. */
	player_preset_replay_gain(app->player,
				  (enum replay_gain_mode)conf_choice(
					  app->conf, CONF_PLAYER_REPLAYGAIN));
	player_preset_crossfade(
		app->player,
		(uint32_t)conf_int(app->conf, CONF_PLAYER_CROSSFADE_S));
	return 0;
}

/* After the server, so that a second daemon has ended before it could touch
 * the first one's state. */
static int
state_up(struct app *app)
{
	struct text error = {0};
	struct player_saved saved = {
		.volume = 100, .song = -1, .mixramp_delay_s = -1};
	bool found = false;
	int result = 0;

	result = state_load(conf_text(app->conf, CONF_LIBRARY_STATE),
			    app->queue, &saved, &found, &app->state, &error);
	if (result < 0) {
		log_err("state", "%s", text_string(&error));
	} else {
		skips_begin(conf_text(app->conf, CONF_LIBRARY_STATE));
		app_player_restore_outputs(&app->between, app->state);
		app->between.keeps_volume =
			!found &&
			app_volume_is(app->conf, ENGINE_VOLUME_HARDWARE);
		restore(app, &saved);
		app->between.keeps_volume = false;
		state_start(app->state, app->work, app->queue, app->player);
		app->between.state = app->state;
	}
	text_finish(&error);
	return result;
}

static int
server_up(struct app *app)
{
	const struct server_config config = {
		.socket_path = conf_text(app->conf, CONF_SERVER_SOCKET),
		.max_clients =
			(unsigned)conf_int(app->conf, CONF_SERVER_MAX_CLIENTS),
		.music = {conf_text(app->conf, CONF_LIBRARY_MUSIC),
			  conf_bool(app->conf, CONF_LIBRARY_FOLLOW_LINKS)},
	};
	const struct server_links links = {app->loop, app->work, app->engine,
					   app->player, app->queue};
	struct text error = {0};
	int result = server_create(&config, &links, &app->server, &error);

	if (result < 0)
		log_err("server", "%s", text_string(&error));
	else
		log_info("server", "listening on %s", config.socket_path);
	app->between.server = app->server;
	text_finish(&error);
	return result;
}

static int
rooms_up(struct app *app)
{
	int result = loop_up(app);

	if (result < 0)
		return fail("the event loop", result);
	result = work_create(NULL, &app->work);
	if (result < 0)
		return fail("the workers", result);
	result = engine_up(app);
	if (result == 0)
		result = player_up(app);
	if (result == 0)
		result = server_up(app);
	if (result == 0)
		result = state_up(app);
	if (result == 0) {
		result = loop_join(app);
		if (result < 0)
			return fail("the event loop", result);
	}
	return result;
}

static void
rooms_down(struct app *app)
{
	if (app->engine != NULL)
		engine_pause(app->engine, LANE_MUSIC, true);
	app->between.server = NULL;
	server_destroy(app->server);
	app->between.state = NULL;
	if (app->state != NULL)
		state_finish(app->state, state_wait_ns);
	player_destroy(app->player);
	engine_destroy(app->engine);
	if (app->work != NULL)
		work_destroy(app->work, work_wait_ns);
	skips_end();
	play_queue_destroy(app->queue);
	sd_event_source_unref(app->timer);
	sd_event_unref(app->loop);
}

int
app_run(const struct conf *conf)
{
	struct app app = {
		.conf = conf,
		.state_interval_ns =
			conf_int(conf, CONF_PLAYER_STATE_INTERVAL_S) * NS_PER_S,
	};
	int result = 0;

	log_set_level((enum log_level)conf_choice(conf, CONF_LOG_LEVEL));
	result = rooms_up(&app);
	if (result == 0) {
		sd_notify(0, "READY=1");
		result = sd_event_loop(app.loop);
		sd_notify(0, "STOPPING=1");
	}
	rooms_down(&app);
	log_rt_drain();
	return result == 0 ? 0 : 1;
}

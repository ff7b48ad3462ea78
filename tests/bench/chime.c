/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chime.c - how soon a sound on the chime lane is heard over music: asks for it
 * through the engine's own API, and prints when.
 *
 *   bench_chime BUFFER_MS auto|yes|no ROUNDS MUSIC CHIME [DEVICE]
 *
 * Music plays to the test card all along. Each round asks twice: from the
 * file's name on ("chime, cold": opened, primed, played), and for a stream that
 * was opened ahead ("chime"). A line is the name and the monotonic nanoseconds
 * at which it was asked; what the card heard tells the rest. Exit: 0, or 1 when
 * anything failed. */
#include "daemon/engine/engine.h"
#include "daemon/work/work.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/thread.h"
#include "tests/kit/rig/control.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM_MS = 1000, REST_MS = 300, SPREAD_MS = 150, PATIENCE_S = 20 };

struct bench {
	struct work *work;
	struct engine *engine;
	uint64_t ready, started, ended; /* the last that was told */
	bool failed;
};

static void
on_ready(void *context, uint64_t stream, const struct decoder_info *info)
{
	struct bench *bench = context;

	(void)info;
	bench->ready = stream;
}

static void
on_failed(void *context, uint64_t stream, const char *reason)
{
	struct bench *bench = context;

	fprintf(stderr, "stream %" PRIu64 ": %s\n", stream, reason);
	bench->failed = true;
}

static void
on_started(void *context, enum lane_id lane, uint64_t stream)
{
	struct bench *bench = context;

	(void)lane;
	bench->started = stream;
}

static void
on_ended(void *context, enum lane_id lane, uint64_t stream)
{
	struct bench *bench = context;

	(void)lane;
	bench->ended = stream;
}

static void
on_output(void *context)
{
	(void)context;
}

static const struct engine_events events = {
	.ready = on_ready,
	.failed = on_failed,
	.started = on_started,
	.ended = on_ended,
	.output_changed = on_output,
};

/* Control's loop, until *told is stream or the time has come. */
static bool
run_until(struct bench *bench, const uint64_t *told, uint64_t stream,
	  int64_t until_ns)
{
	while (*told != stream && !bench->failed) {
		if (clock_now_ns() >= until_ns ||
		    control_turn(bench->engine, bench->work, until_ns, -1) < 0)
			return false;
		(void)log_rt_drain();
	}
	return !bench->failed;
}

static bool
await(struct bench *bench, const uint64_t *told, uint64_t stream)
{
	return run_until(bench, told, stream,
			 clock_now_ns() + PATIENCE_S * NS_PER_S);
}

static void
rest(struct bench *bench, int64_t ms)
{
	const uint64_t never = 0;

	(void)run_until(bench, &never, 1, clock_now_ns() + ms * NS_PER_MS);
}

static uint64_t
open_file(struct bench *bench, enum lane_id lane, const char *path)
{
	const struct source_ref ref = {path, getuid()};
	uint64_t stream = 0;

	if (engine_open(bench->engine, lane, &ref, 0, &stream) < 0)
		bench->failed = true;
	return stream;
}

/* ahead: it is READY before it is asked for. */
static bool
chime(struct bench *bench, const char *path, bool ahead)
{
	int64_t asked_ns = clock_now_ns();
	const uint64_t stream = open_file(bench, LANE_CHIME, path);

	if (bench->failed || !await(bench, &bench->ready, stream))
		return false;
	if (ahead) {
		rest(bench, REST_MS + rand() % SPREAD_MS);
		asked_ns = clock_now_ns();
	}
	if (engine_play(bench->engine, LANE_CHIME, stream) < 0 ||
	    !await(bench, &bench->ended, stream))
		return false;
	engine_release(bench->engine, stream);
	printf("%s %" PRId64 "\n", ahead ? "chime" : "chime, cold", asked_ns);
	rest(bench, 2 * REST_MS + rand() % SPREAD_MS);
	return true;
}

static bool
play(struct bench *bench, unsigned rounds, const char *music, const char *sound)
{
	const uint64_t stream = open_file(bench, LANE_MUSIC, music);

	if (bench->failed || !await(bench, &bench->ready, stream) ||
	    engine_play(bench->engine, LANE_MUSIC, stream) < 0 ||
	    !await(bench, &bench->started, stream))
		return false;
	rest(bench, WARM_MS);
	for (unsigned i = 0; i < rounds; i++) {
		if (!chime(bench, sound, false) || !chime(bench, sound, true))
			return false;
	}
	return true;
}

static int
rewind_named(const char *name)
{
	if (strcmp(name, "auto") == 0)
		return -1;
	return strcmp(name, "yes") == 0;
}

int
main(int argc, char **argv)
{
	struct engine_config config = {
		.output = {.driver = &card_alsa,
			   .period_ms = 20,
			   .priority = 45,
			   .lock_memory = true},
		.music = {.folder = "/", .follow_links = true},
		.ring_bytes = 6 << 20,
		.reserve_bytes = 4 << 20,
		.decoder_priority = 40,
		.lock_memory = true,
		.resample_quality = RESAMPLE_HIGH,
	};
	struct bench bench = {0};
	bool done = false;

	if (argc != 6 && argc != 7)
		return 1;
	thread_adopt(THREAD_ROLE_CONTROL, "bench_chime");
	log_init(LOG_LEVEL_WARNING);
	config.output.device = argc == 7 ? argv[6] : "rotarytest";
	config.output.buffer_ms = (uint32_t)strtoul(argv[1], NULL, 10);
	config.output.rewind = rewind_named(argv[2]);
	if (work_create(NULL, &bench.work) < 0 ||
	    engine_create(&config, bench.work, &events, &bench, &bench.engine) <
		    0)
		return 1;
	done = play(&bench, (unsigned)strtoul(argv[3], NULL, 10), argv[4],
		    argv[5]);
	engine_destroy(bench.engine);
	work_destroy(bench.work, NS_PER_S);
	return done ? 0 : 1;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_engine.c - plays files in order through an output, by hand and for
 * tests of what only a whole process shows.
 *
 *   run_engine [--driver null|wav|alsa] [--device NAME] [--buffer MS]
 *              [--rate HZ] [--fence off|count|kill] [--priority N]
 *              [--start S] [--volume V] [--seconds S] FILE...
 *
 * Each file follows the one before without a gap. What the engine tells goes
 * to stdout with the time since the start, rtstats at the end. Ends after the
 * last file, after --seconds, or on SIGINT. Exit: 0, 1 (something failed), 2.
 */
#include "daemon/engine/engine.h"
#include "daemon/work/work.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/base/thread.h"
#include "tests/kit/rig/control.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { FILES_MAX = 256 };

struct run {
	struct work *work;
	struct engine *engine;
	char *files[FILES_MAX];
	int file_count;
	int next; /* file to be opened */
	uint64_t playing, opened;
	bool opened_ready;
	int64_t begin_ns, start_ns, until_ns;
	bool over, failed;
};

static void
say(const struct run *run, const char *what, uint64_t stream, const char *more)
{
	printf("%8.3f %s %llu %s\n",
	       (double)(clock_now_ns() - run->begin_ns) / 1e9, what,
	       (unsigned long long)stream, more);
	fflush(stdout);
}

/* Opens the next file that there is; else all that is left is what plays. */
static void
open_next(struct run *run)
{
	run->opened = 0;
	run->opened_ready = false;
	while (run->next < run->file_count && run->opened == 0) {
		char *path = run->files[run->next++];
		const struct source_ref ref = {path, getuid()};

		if (engine_open(run->engine, LANE_MUSIC, &ref, run->start_ns,
				&run->opened) < 0)
			run->failed = true;
		else
			say(run, "open", run->opened, path);
	}
	if (run->opened == 0 && run->playing == 0)
		run->over = true;
}

static void
on_ready(void *context, uint64_t stream, const struct decoder_info *info)
{
	struct run *run = context;
	char text[64];

	snprintf(text, sizeof(text), "%u:%u:%u", info->spec.rate_hz,
		 info->spec.bits, info->spec.channels);
	say(run, "ready", stream, text);
	run->opened_ready = true;
	if (run->playing == 0) {
		run->playing = stream;
		if (engine_play(run->engine, LANE_MUSIC, stream) < 0)
			run->failed = true;
		open_next(run);
	} else if (engine_follow(run->engine, LANE_MUSIC, run->playing,
				 stream) < 0) {
		run->failed = true;
	}
}

static void
on_failed(void *context, uint64_t stream, const char *reason)
{
	struct run *run = context;

	say(run, "failed", stream, reason);
	run->failed = true;
	engine_release(run->engine, stream);
	if (stream == run->playing)
		run->playing = 0;
	if (stream == run->opened || run->playing == 0)
		open_next(run);
}

static void
on_started(void *context, enum lane_id lane, uint64_t stream)
{
	struct run *run = context;

	(void)lane;
	say(run, "started", stream, "");
	if (stream == run->playing)
		return;
	engine_release(run->engine, run->playing);
	run->playing = stream;
	open_next(run);
}

static void
on_ended(void *context, enum lane_id lane, uint64_t stream)
{
	struct run *run = context;

	(void)lane;
	say(run, "ended", stream, "");
	engine_release(run->engine, stream);
	run->playing = 0;
	if (run->opened == 0) {
		run->over = true;
	} else if (run->opened_ready) {
		run->playing = run->opened;
		if (engine_play(run->engine, LANE_MUSIC, run->opened) < 0)
			run->over = run->failed = true;
		open_next(run);
	}
}

static void
on_output(void *context)
{
	struct run *run = context;
	struct engine_output output;

	engine_output(run->engine, &output);
	say(run, "output", output.state,
	    output.card != NULL ? output.card->name : output.error);
}

static const struct engine_events events = {
	.ready = on_ready,
	.failed = on_failed,
	.started = on_started,
	.ended = on_ended,
	.output_changed = on_output,
};

static const struct card_ops *
driver_named(const char *name)
{
	static const struct card_ops *const drivers[] = {
		&card_null,
		&card_wav,
		&card_alsa,
	};
	size_t i;

	for (i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (strcmp(drivers[i]->name, name) == 0)
			return drivers[i];
	return NULL;
}

static enum rt_fence
fence_named(const char *name)
{
	if (strcmp(name, "kill") == 0)
		return RT_FENCE_KILL;
	return strcmp(name, "count") == 0 ? RT_FENCE_COUNT : RT_FENCE_OFF;
}

static const struct option long_options[] = {
	{"driver", required_argument, NULL, 'd'},
	{"device", required_argument, NULL, 'D'},
	{"buffer", required_argument, NULL, 'b'},
	{"rate", required_argument, NULL, 'r'},
	{"fence", required_argument, NULL, 'f'},
	{"priority", required_argument, NULL, 'p'},
	{"start", required_argument, NULL, 's'},
	{"volume", required_argument, NULL, 'v'},
	{"seconds", required_argument, NULL, 't'},
	{NULL, 0, NULL, 0},
};

static bool
parse_option(int option, struct run *run, struct engine_config *config,
	     float *volume)
{
	switch (option) {
	case 'd':
		config->output.driver = driver_named(optarg);
		return config->output.driver != NULL;
	case 'D':
		config->output.device = optarg;
		return true;
	case 'b':
		config->output.buffer_ms = (uint32_t)strtoul(optarg, NULL, 10);
		return true;
	case 'r':
		config->rate_hz = (uint32_t)strtoul(optarg, NULL, 10);
		config->resample_quality = RESAMPLE_HIGH;
		return true;
	case 'f':
		config->fence = fence_named(optarg);
		config->output.fence = config->fence;
		return true;
	case 'p':
		config->decoder_priority = (int)strtol(optarg, NULL, 10);
		config->output.priority = config->decoder_priority + 5;
		return true;
	case 's':
		run->start_ns = (int64_t)(strtod(optarg, NULL) * 1e9);
		return true;
	case 'v':
		*volume = strtof(optarg, NULL);
		return true;
	case 't':
		run->until_ns =
			clock_now_ns() + (int64_t)(strtod(optarg, NULL) * 1e9);
		return true;
	default:
		return false;
	}
}

static int
parse(int argc, char **argv, struct run *run, struct engine_config *config,
      float *volume)
{
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		if (!parse_option(option, run, config, volume))
			return -1;
	for (; optind < argc && run->file_count < FILES_MAX; optind++) {
		char *path = realpath(argv[optind], NULL);

		/* What is not there is for the engine to say. */
		run->files[run->file_count++] =
			path != NULL ? path : strdup(argv[optind]);
	}
	return run->file_count > 0 ? 0 : -1;
}

static void
loop(struct run *run, int signal_fd)
{
	while (!run->over && clock_now_ns() < run->until_ns &&
	       control_turn(run->engine, run->work, run->until_ns, signal_fd) ==
		       0)
		log_rt_drain();
}

static void
print_rtstats(const struct run *run)
{
	struct text text = {0};

	engine_add_rtstats(run->engine, &text);
	fputs(text_string(&text), stdout);
	text_finish(&text);
}

int
main(int argc, char **argv)
{
	struct engine_config config = {
		.output = {.driver = &card_null,
			   .buffer_ms = 500,
			   .period_ms = 20,
			   .rewind = -1},
		.music = {.folder = "/", .follow_links = true},
		.ring_bytes = 6 << 20,
		.lock_memory = true,
	};
	static struct run run = {.until_ns = INT64_MAX};
	float volume = 1.0F;
	sigset_t signals;
	int i;

	thread_adopt(THREAD_ROLE_CONTROL, "run_engine");
	log_init(LOG_LEVEL_DEBUG);
	run.begin_ns = clock_now_ns();
	if (parse(argc, argv, &run, &config, &volume) < 0)
		return 2;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	if (work_create(NULL, &run.work) < 0 ||
	    engine_create(&config, run.work, &events, &run, &run.engine) < 0)
		return 2;
	engine_set_volume(run.engine, volume);
	open_next(&run);
	loop(&run, signalfd(-1, &signals, SFD_CLOEXEC));
	print_rtstats(&run);
	engine_destroy(run.engine);
	work_destroy(run.work, NS_PER_S);
	for (i = 0; i < run.file_count; i++)
		free(run.files[i]);
	return run.failed ? 1 : 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rig.c - everything that could hang is waited for with much patience, and then
 * the test ends with what was told so far. */
#include "tests/kit/rig/rig.h"

#include "daemon/work/work.h"
#include "lib/base/clock.h"
#include "tests/kit/crew.h"
#include "tests/kit/folder.h"
#include "tests/kit/rig/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RING_BYTES = 6 << 20 };

static void
note(struct rig *rig, enum rig_kind kind, uint64_t stream, const char *reason)
{
	struct rig_event *event;

	if (rig->count == RIG_EVENTS) {
		rig->count /= 2;
		memmove(rig->events, rig->events + rig->count,
			rig->count * sizeof(rig->events[0]));
	}
	event = &rig->events[rig->count++];
	rig->told++;
	event->kind = kind;
	event->stream = stream;
	snprintf(event->reason, sizeof(event->reason), "%s", reason);
}

static void
on_ready(void *context, uint64_t stream, const struct decoder_info *info)
{
	struct rig *rig = context;

	note(rig, RIG_READY, stream, "");
	rig->events[rig->count - 1].info = *info;
}

static void
on_failed(void *context, uint64_t stream, const char *reason)
{
	note(context, RIG_FAILED, stream, reason);
}

static void
on_started(void *context, enum lane_id lane, uint64_t stream)
{
	(void)lane;
	note(context, RIG_STARTED, stream, "");
}

static void
on_ended(void *context, enum lane_id lane, uint64_t stream)
{
	(void)lane;
	note(context, RIG_ENDED, stream, "");
}

static void
on_output(void *context)
{
	note(context, RIG_OUTPUT, 0, "");
}

static const struct engine_events callbacks = {
	.ready = on_ready,
	.failed = on_failed,
	.started = on_started,
	.ended = on_ended,
	.output_changed = on_output,
};

void
rig_init_with(struct rig *rig, const struct rig_options *options)
{
	struct engine_config config = {
		.output = {.driver = options->driver,
			   .buffer_ms = options->buffer_ms != 0
						? options->buffer_ms
						: RIG_BUFFER_MS,
			   .period_ms = 20,
			   .rewind = -1,
			   .priority = options->output_priority,
			   .lock_memory = options->lock_memory},
		.decoders = options->decoders != 0 ? options->decoders : 2,
		.ring_bytes = options->ring_bytes != 0 ? options->ring_bytes
						       : RING_BYTES,
		.rate_hz = options->rate_hz,
		.resample_quality = RESAMPLE_HIGH,
		.decoder_priority = options->decoder_priority,
		.lock_memory = options->lock_memory,
		.music_only = options->music_only,
	};
	struct engine_output_config second = {
		.name = "second",
		.output = config.output,
		.volume = config.volume,
		.resample_quality = RESAMPLE_HIGH,
		.speech = !options->second_hears_music_only,
	};

	memset(rig, 0, sizeof(*rig));
	strcpy(rig->folder, "/tmp/rotary-engine-XXXXXX");
	crew_check(mkdtemp(rig->folder) != NULL);
	snprintf(rig->wav, sizeof(rig->wav), "%s/heard.wav", rig->folder);
	snprintf(rig->second, sizeof(rig->second), "%s/second.wav",
		 rig->folder);
	config.output.device = rig->wav;
	second.output.driver = &card_wav;
	second.output.device = rig->second;
	if (options->second) {
		config.others = &second;
		config.other_count = 1;
	}
	config.music.folder = rig->folder;
	config.music.follow_links = true;
	crew_check(work_create(options->limits, &rig->work) == 0);
	crew_check(engine_create(&config, rig->work, &callbacks, rig,
				 &rig->engine) == 0);
}

void
rig_init(struct rig *rig, const struct card_ops *driver)
{
	const struct rig_options options = {.driver = driver};

	rig_init_with(rig, &options);
}

/* The engine alone: the wav file is whole then. */
void
rig_stop(struct rig *rig)
{
	engine_destroy(rig->engine);
	rig->engine = NULL;
}

void
rig_finish(struct rig *rig)
{
	rig_stop(rig);
	work_destroy(rig->work, NS_PER_S);
	folder_remove(rig->folder);
}

int
rig_set_up_with(void **ret_rig, const struct rig_options *options)
{
	struct rig *rig = malloc(sizeof(*rig));

	crew_check(rig != NULL);
	rig_init_with(rig, options);
	*ret_rig = rig;
	return 0;
}

int
rig_set_up(void **ret_rig, const struct card_ops *driver)
{
	return rig_set_up_with(ret_rig,
			       &(struct rig_options){.driver = driver});
}

int
rig_set_up_wav(void **ret_rig)
{
	return rig_set_up(ret_rig, &card_wav);
}

int
rig_tear_down(void **rig)
{
	rig_finish(*rig);
	free(*rig);
	return 0;
}

static void
give_up(const struct rig *rig, const char *what, uint64_t stream)
{
	unsigned i;

	for (i = 0; i < rig->count; i++)
		fprintf(stderr, "%d %lu %s\n", (int)rig->events[i].kind,
			(unsigned long)rig->events[i].stream,
			rig->events[i].reason);
	fprintf(stderr, "stream %lu: %s\n", (unsigned long)stream, what);
	abort();
}

void
rig_turn(struct rig *rig, int64_t until_ns)
{
	crew_check(control_turn(rig->engine, rig->work, until_ns, -1) >= 0);
}

void
rig_run(struct rig *rig, int64_t for_ns)
{
	const int64_t until_ns = clock_now_ns() + for_ns;

	do
		rig_turn(rig, until_ns);
	while (clock_now_ns() < until_ns);
}

int
rig_find(const struct rig *rig, enum rig_kind kind, uint64_t stream)
{
	unsigned i;

	for (i = 0; i < rig->count; i++)
		if (rig->events[i].kind == kind &&
		    rig->events[i].stream == stream)
			return (int)i;
	return -1;
}

unsigned
rig_count(const struct rig *rig, enum rig_kind kind)
{
	unsigned i, count = 0;

	for (i = 0; i < rig->count; i++)
		count += rig->events[i].kind == kind;
	return count;
}

bool
rig_moves(const struct rig *rig, struct rig_motion *motion)
{
	struct engine_position position;
	struct rig_motion now = {.told = rig->told};
	const int64_t now_ns = clock_now_ns();

	engine_position(rig->engine, LANE_MUSIC, &position);
	now.stream = position.stream;
	now.elapsed_ns = position.elapsed_ns;
	now.until_ns = now_ns + RIG_PATIENCE_NS;
	if (motion->until_ns == 0 || now.told != motion->told ||
	    now.stream != motion->stream ||
	    now.elapsed_ns != motion->elapsed_ns)
		*motion = now;
	return now_ns < motion->until_ns;
}

/* Runs the loop until the event has come; its place. */
int
rig_wait(struct rig *rig, enum rig_kind kind, uint64_t stream)
{
	struct rig_motion motion = {0};

	while (rig_find(rig, kind, stream) < 0) {
		if (!rig_moves(rig, &motion))
			give_up(rig, "an event never came", stream);
		rig_turn(rig, motion.until_ns);
	}
	return rig_find(rig, kind, stream);
}

/* Until the heard position of stream is at least elapsed_ns. */
void
rig_wait_position(struct rig *rig, uint64_t stream, int64_t elapsed_ns)
{
	struct rig_motion motion = {0};
	struct engine_position position;

	for (;;) {
		engine_position(rig->engine, LANE_MUSIC, &position);
		if (position.stream == stream &&
		    position.elapsed_ns >= elapsed_ns)
			return;
		if (!rig_moves(rig, &motion))
			give_up(rig, "a position was never reached", stream);
		rig_turn(rig, clock_now_ns() + 2 * NS_PER_MS);
	}
}

enum output_state
rig_output_state(const struct rig *rig)
{
	struct engine_output_info info;

	crew_check(engine_output_info(rig->engine, 0, &info) == 0);
	return info.state;
}

void
rig_wait_output(struct rig *rig, enum output_state state)
{
	const int64_t until_ns = clock_now_ns() + RIG_PATIENCE_NS;

	while (rig_output_state(rig) != state) {
		if (clock_now_ns() >= until_ns)
			give_up(rig, "the output never came to a state", 0);
		rig_turn(rig, clock_now_ns() + 20 * NS_PER_MS);
	}
}

static uint64_t
open_on(struct rig *rig, enum lane_id lane, const char *name, int64_t start_ns)
{
	const struct source_ref ref = {name, getuid()};
	uint64_t stream = 0;

	crew_check(engine_open(rig->engine, lane, &ref, start_ns, &stream) ==
		   0);
	crew_check(stream != 0);
	return stream;
}

uint64_t
rig_open(struct rig *rig, const char *name, int64_t start_ns)
{
	return open_on(rig, LANE_MUSIC, name, start_ns);
}

uint64_t
rig_open_ready(struct rig *rig, const char *name, int64_t start_ns)
{
	const uint64_t stream = rig_open(rig, name, start_ns);

	rig_wait(rig, RIG_READY, stream);
	return stream;
}

uint64_t
rig_open_ready_on(struct rig *rig, enum lane_id lane, const char *name)
{
	const uint64_t stream = open_on(rig, lane, name, 0);

	rig_wait(rig, RIG_READY, stream);
	return stream;
}

void
rig_play_on(struct rig *rig, enum lane_id lane, uint64_t stream)
{
	crew_check(engine_play(rig->engine, lane, stream) == 0);
}

void
rig_play(struct rig *rig, uint64_t stream)
{
	rig_play_on(rig, LANE_MUSIC, stream);
}

void
rig_follow(struct rig *rig, uint64_t stream, uint64_t next)
{
	crew_check(engine_follow(rig->engine, LANE_MUSIC, stream, next) == 0);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stage.h - an output with everything around it but the engine: a real worker
 * pool, plans, events, a timeline, and a thread that fills the decks as lanes
 * do. Static functions, for this folder and tests/kit/run_output.c. */
#ifndef ROTARY_TESTS_OUTPUT_STAGE_H
#define ROTARY_TESTS_OUTPUT_STAGE_H

#include "daemon/output/output.h"
#include "daemon/work/work.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/thread.h"
#include "lib/sync/queue.h"
#include "lib/sync/snapshot.h"
#include "lib/sync/timeline.h"
#include "lib/sync/wake.h"
#include "tests/unit/output/tape.h"

#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { STAGE_SONGS = 16, STAGE_EVENTS = 256, STAGE_DEADLINE_S = 30 };

/* A run of frames that the feeder puts onto a deck. */
struct stage_song {
	unsigned lane;
	uint64_t cut;
	uint64_t stream;
	uint64_t stream_frame;
	uint64_t frames;
	enum sample_kind kind;
	uint32_t bits;
	bool last; /* the deck ends with it */
	/* the feeder's */
	uint64_t written;
	bool begun;
	bool done;
};

struct stage {
	struct work *work;
	struct snapshot *plans;
	struct timeline timeline;
	struct queue *queue;
	int event_fd;
	struct wake decoders;
	struct tape tape;
	bool has_tape;
	struct output *output;
	struct mix_plan plan; /* edit, then stage_publish() */
	/* seen so far */
	struct rt_event events[STAGE_EVENTS];
	unsigned event_count;
	struct card_info info;
	unsigned opened, failed, closed;
	char reason[256];
	/* the feeder */
	pthread_mutex_t lock;
	struct stage_song songs[STAGE_SONGS];
	unsigned song_count;
	bool feeding;
	struct thread feeder;
	uint32_t deck_rate_hz; /* set while it does not run */
};

static inline void
stage_opened(void *context, const struct card_info *info)
{
	struct stage *stage = context;

	stage->info = *info;
	stage->opened++;
}

static inline void
stage_failed(void *context, int error, const char *reason)
{
	struct stage *stage = context;

	(void)error;
	snprintf(stage->reason, sizeof(stage->reason), "%s", reason);
	stage->failed++;
}

static inline void
stage_closed(void *context)
{
	struct stage *stage = context;

	stage->closed++;
}

static inline void
stage_release_plan(void *plan, void *context)
{
	(void)context;
	free(plan);
}

static inline void
stage_publish(struct stage *stage)
{
	struct mix_plan *plan = malloc(sizeof(*plan));
	uint64_t generation;

	assert(plan != NULL);
	stage->plan.generation++;
	*plan = stage->plan;
	generation = snapshot_publish(stage->plans, plan);
	assert(generation != 0);
	(void)generation;
	if (stage->output != NULL)
		output_wake(stage->output);
}

static inline void
stage_init(struct stage *stage, const struct output_config *config)
{
	static const struct output_events handlers = {
		stage_opened, stage_failed, stage_closed};
	struct output_links links;
	int error;

	memset((void *)stage, 0, sizeof(*stage));
	pthread_mutex_init(&stage->lock, NULL);
	error = work_create(NULL, &stage->work);
	assert(error == 0);
	stage->plans = snapshot_create(NULL, stage_release_plan, NULL);
	timeline_init(&stage->timeline);
	stage->queue = queue_create(NULL, 64, sizeof(struct rt_event));
	stage->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	wake_init(&stage->decoders);
	assert(stage->plans != NULL && stage->queue != NULL);
	stage->plan.volume = 1.0F;
	for (unsigned i = 0; i < LANE_COUNT; i++)
		stage->plan.lanes[i].gain = 1.0F;
	tape_init(&stage->tape, 1, 0, 1);
	stage->has_tape = true;
	links = (struct output_links){
		.work = stage->work,
		.part =
			{
				.plans = stage->plans,
				.plan_reader = 0,
				.bus = stage->tape.bus,
				.timeline = &stage->timeline,
			},
		.events = stage->queue,
		.event_fd = stage->event_fd,
		.deck_fd = -1,
		.decoders = &stage->decoders,
	};
	error = output_create(config, &links, &handlers, stage, &stage->output);
	assert(error == 0);
	(void)error;
}

/* ---- the lanes ---- */

static inline void
stage_feed_song(struct stage *stage, struct stage_song *song)
{
	struct deck *deck = tape_deck(&stage->tape, song->lane, song->cut);

	if (song->done)
		return;
	if (deck == NULL)
		deck = tape_begin(&stage->tape, song->lane, song->cut);
	if (deck == NULL)
		return;
	if (!song->begun && song->frames > 0) {
		const struct deck_stretch stretch = {
			.first_frame = pcm_ring_written(&deck->ring),
			.stream_id = song->stream,
			.stream_frame = song->stream_frame,
			.stream_rate_hz = stage->deck_rate_hz,
			.kind = song->kind,
			.bits = song->bits,
			.exact = 1,
		};

		if (!deck_add_stretch(deck, &stretch))
			return;
		song->begun = true;
	}
	song->written += tape_write(
		deck, song->stream, song->stream_frame + song->written,
		(size_t)(song->frames - song->written), song->kind, song->bits);
	if (song->written == song->frames) {
		song->done = true;
		if (song->last)
			pcm_ring_end(&deck->ring);
	}
}

/* Songs of one cut go onto its deck one after the other. */
static inline bool
stage_is_next(const struct stage *stage, unsigned index)
{
	for (unsigned i = 0; i < index; i++) {
		const struct stage_song *song = &stage->songs[i];

		if (!song->done && song->lane == stage->songs[index].lane &&
		    song->cut == stage->songs[index].cut)
			return false;
	}
	return true;
}

static inline void *
stage_feeder_main(void *argument)
{
	struct stage *stage = argument;

	for (;;) {
		const uint32_t seen = wake_prepare(&stage->decoders);
		bool feeding;

		pthread_mutex_lock(&stage->lock);
		feeding = stage->feeding;
		for (unsigned i = 0; feeding && i < stage->song_count; i++) {
			if (stage_is_next(stage, i))
				stage_feed_song(stage, &stage->songs[i]);
		}
		pthread_mutex_unlock(&stage->lock);
		if (!feeding)
			return NULL;
		(void)wake_wait(&stage->decoders, seen, NS_PER_S);
	}
}

static inline void
stage_stop_feeder(struct stage *stage)
{
	pthread_mutex_lock(&stage->lock);
	stage->feeding = false;
	pthread_mutex_unlock(&stage->lock);
	wake_post(&stage->decoders);
	thread_join(&stage->feeder);
}

static inline void
stage_start_feeder(struct stage *stage)
{
	const struct thread_spec spec = {.role = THREAD_ROLE_DECODER,
					 .name = "feeder",
					 .stack_bytes = THREAD_STACK_WORKER,
					 .main = stage_feeder_main,
					 .argument = stage};
	int error;

	stage->feeding = true;
	error = thread_start(&stage->feeder, &spec);
	assert(error == 0);
	(void)error;
}

static inline void
stage_add(struct stage *stage, const struct stage_song *song)
{
	pthread_mutex_lock(&stage->lock);
	assert(stage->song_count < STAGE_SONGS);
	stage->songs[stage->song_count++] = *song;
	pthread_mutex_unlock(&stage->lock);
	wake_post(&stage->decoders);
}

/* The song, and the plan says to go over to it. */
static inline void
stage_begin_cut(struct stage *stage, const struct stage_song *song)
{
	stage_add(stage, song);
	stage->plan.lanes[song->lane].cut = song->cut;
	stage_publish(stage);
}

/* ---- control ---- */

static inline void
stage_take_events(struct stage *stage)
{
	struct rt_event event;

	while (queue_pop(stage->queue, &event)) {
		output_handle_event(stage->output, &event);
		if (stage->event_count < STAGE_EVENTS)
			stage->events[stage->event_count++] = event;
	}
}

/* One turn of control's loop. */
static inline void
stage_turn(struct stage *stage)
{
	struct pollfd fds[2] = {
		{.fd = work_event_fd(stage->work), .events = POLLIN},
		{.fd = stage->event_fd, .events = POLLIN}};
	const int64_t now_ns = clock_now_ns();
	int64_t due_ns = output_tick(stage->output, now_ns);
	int64_t timeout_ms = 1000;
	uint64_t count;

	if (work_next_deadline(stage->work) < due_ns)
		due_ns = work_next_deadline(stage->work);
	if (due_ns != INT64_MAX && due_ns - now_ns < NS_PER_S)
		timeout_ms = (due_ns - now_ns) / NS_PER_MS + 1;
	(void)poll(fds, 2, timeout_ms > 0 ? (int)timeout_ms : 0);
	if (fds[1].revents != 0 &&
	    read(stage->event_fd, &count, sizeof(count)) < 0)
		fds[1].revents = 0;
	work_dispatch(stage->work);
	stage_take_events(stage);
	(void)snapshot_reclaim(stage->plans);
	(void)log_rt_drain();
}

static inline const struct rt_event *
stage_find(const struct stage *stage, uint32_t kind, uint64_t id)
{
	for (unsigned i = stage->event_count; i > 0; i--) {
		if (stage->events[i - 1].kind == kind &&
		    stage->events[i - 1].id == id)
			return &stage->events[i - 1];
	}
	return NULL;
}

/* Turns until the event has come; NULL: it never did. */
static inline const struct rt_event *
stage_await(struct stage *stage, uint32_t kind, uint64_t id)
{
	const int64_t end_ns = clock_now_ns() + STAGE_DEADLINE_S * NS_PER_S;
	const struct rt_event *event = stage_find(stage, kind, id);

	while (event == NULL && clock_now_ns() < end_ns) {
		stage_turn(stage);
		event = stage_find(stage, kind, id);
	}
	return event;
}

static inline bool
stage_await_state(struct stage *stage, enum output_state state)
{
	const int64_t end_ns = clock_now_ns() + STAGE_DEADLINE_S * NS_PER_S;

	while (output_state(stage->output) != state && clock_now_ns() < end_ns)
		stage_turn(stage);
	return output_state(stage->output) == state;
}

/* Turns until that output frame is heard, or the card stands still. */
static inline void
stage_await_heard(struct stage *stage, uint64_t frame)
{
	const int64_t end_ns = clock_now_ns() + STAGE_DEADLINE_S * NS_PER_S;
	struct timeline_view view;

	for (;;) {
		struct timespec pause = {0, 2 * NS_PER_MS};

		timeline_read(&stage->timeline, &view);
		if (timeline_heard_frame(&view, clock_now_ns()) >= frame ||
		    clock_now_ns() > end_ns)
			return;
		nanosleep(&pause, NULL);
		work_dispatch(stage->work);
		stage_take_events(stage);
	}
}

/* Decks for the card that is open, holding hold_ms more than its buffer. */
static inline void
stage_set_decks(struct stage *stage, unsigned hold_ms)
{
	const struct card_info *info = &stage->info;
	const size_t history =
		deck_history_frames(info->buffer_frames, info->spec.rate_hz);
	const size_t capacity = history + info->buffer_frames +
				(size_t)info->spec.rate_hz * hold_ms / 1000;
	const size_t bytes = capacity * info->spec.channels * 4;
	char *memory = calloc((size_t)LANE_COUNT * LANE_DECKS, bytes);

	assert(memory != NULL);
	stage->deck_rate_hz = info->spec.rate_hz;
	free(stage->tape.memory);
	stage->tape.memory = memory;
	for (unsigned lane = 0; lane < LANE_COUNT; lane++) {
		for (unsigned i = 0; i < LANE_DECKS; i++, memory += bytes)
			deck_init(&stage->tape.bus->decks[lane][i], memory,
				  capacity, info->spec.channels, history);
	}
}

/* Sets up decks for the card that was opened, and lets it play. */
static inline void
stage_go_on(struct stage *stage)
{
	stage_set_decks(stage, 300);
	stage->song_count = 0;
	stage_start_feeder(stage);
	output_run(stage->output);
}

static inline bool
stage_play(struct stage *stage, const struct audio_spec *spec)
{
	output_open(stage->output, spec);
	if (!stage_await_state(stage, OUTPUT_OPEN))
		return false;
	stage_go_on(stage);
	return true;
}

static inline bool
stage_close(struct stage *stage, bool drain)
{
	output_close(stage->output, drain);
	if (!stage_await_state(stage, OUTPUT_CLOSED))
		return false;
	stage_stop_feeder(stage);
	return true;
}

static inline void
stage_finish(struct stage *stage)
{
	const bool ended = output_destroy(stage->output);

	assert(ended);
	(void)ended;
	stage->output = NULL;
	if (stage->feeder.running)
		stage_stop_feeder(stage);
	work_destroy(stage->work, NS_PER_S);
	snapshot_destroy(stage->plans);
	queue_destroy(stage->queue);
	close(stage->event_fd);
	tape_finish(&stage->tape);
	pthread_mutex_destroy(&stage->lock);
}

#endif

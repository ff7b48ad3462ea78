/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_life.c - the engine's beginning and its end.
 *
 * create maps the pool, makes what threads share, starts the decoder threads
 * and an output without a card. destroy fades out what sounds, takes the output
 * down, then the decoder threads, then what they shared. A decoder thread that
 * does not come back, or a worker stuck in a dead file system, keeps what it
 * may touch; all else is freed. */
#include "daemon/engine/engine_parts.h"

#include "daemon/engine/memory.h"
#include "daemon/output/mix.h"
#include "daemon/output/output.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/base/thread.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FADE_WAIT_NS (100 * NS_PER_MS)
#define DECODERS_WAIT_NS (100 * NS_PER_MS)
#define JOBS_WAIT_NS (50 * NS_PER_MS)

enum { LOOP_MS = 5 };

/* Real-time threads besides those of outputs: four decoders, their spare. */
enum { DECODER_THREADS = 5 };

/* Whose text and data are locked, where the limit allows. */
static const char *const locked_libraries[] = {
	"libFLAC", "libvorbis.", "libogg", "libasound", "libsoxr", NULL,
};

static int
copy_config(struct engine *engine, const struct engine_config *config)
{
	engine->config = *config;
	engine->config.music.folder = NULL; /* the commons have it */
	return outputs_create(engine, config);
}

/* For two decks of music at 48 kHz, as engine_card.c sizes them. */
static size_t
reserve_for_decks(const struct engine_config *config)
{
	const size_t bytes = (size_t)config->output.buffer_ms * 3 * 48 * 2 *
			     sizeof(uint32_t) * LANE_DECKS;

	return bytes < config->ring_bytes / 3 ? bytes : config->ring_bytes / 3;
}

static int
create_shared(struct engine *engine)
{
	engine->hazards = allocator_new_aligned(NULL, sizeof(*engine->hazards),
						_Alignof(struct hazard_domain));
	engine->set = allocator_new_aligned(NULL, sizeof(*engine->set),
					    _Alignof(struct rotary));
	engine->timeline = allocator_new_aligned(
		NULL, sizeof(*engine->timeline), _Alignof(struct timeline));
	engine->bus = allocator_new_aligned(NULL, sizeof(*engine->bus),
					    _Alignof(struct mix_bus));
	/* Most of both is never used, and then not there. */
	engine->decoders = rt_pool_reserve(sizeof(*engine->decoders));
	engine->lines = rt_pool_reserve(LANE_COUNT * sizeof(struct line));
	engine->plans = snapshot_create(NULL, plan_release, NULL);
	if (engine->hazards == NULL || engine->set == NULL ||
	    engine->timeline == NULL || engine->bus == NULL ||
	    engine->decoders == NULL || engine->lines == NULL ||
	    engine->plans == NULL)
		return -ENOMEM;
	return 0;
}

static void
init_shared(struct engine *engine)
{
	unsigned i;

	hazard_domain_init(engine->hazards);
	rotary_init(engine->set, engine->hazards);
	timeline_init(engine->timeline);
	engine->bus->duck_db = MIX_DUCK_DB;
	for (i = 0; i < LANE_COUNT; i++)
		line_init(&engine->lines[i], engine, i);
	engine->deck_reserve = reserve_for_decks(&engine->config);
	pool_set_reserve(engine->commons->pool, engine->deck_reserve);
}

static int
start_decoders(struct engine *engine)
{
	const struct decoders_config config = {
		.set = engine->set,
		.hazards = engine->hazards,
		.plans = engine->plans,
		.first_reader = ENGINE_FIRST_DECODER_READER,
		.wake = &engine->commons->wake,
		.bell = &engine->commons->bell,
		.work = engine->work,
		.wanted = engine->config.decoders,
		.priority = engine->config.decoder_priority,
		.fence = engine->config.fence,
		.lock_memory = engine->config.lock_memory,
	};
	if (engine->config.fence != RT_FENCE_OFF) {
		const int result = rt_fence_init();

		if (result < 0) {
			log_warn("engine", "no fence for real-time threads: %s",
				 text_of_error(result));
			engine->config.fence = RT_FENCE_OFF;
			engine->config.output.fence = RT_FENCE_OFF;
		}
	}
	return decoders_start(engine->decoders, &config);
}

/* Pools and stacks come before the program's text where the limit does not
 * reach for all of it. */
static void
prepare_memory(const struct engine *engine)
{
	const struct engine_config *config = &engine->config;
	const size_t stacks = (DECODER_THREADS + engine->output_count) *
			      (size_t)THREAD_STACK_RT;
	const struct memory_config memory = {
		.reserve_bytes = config->reserve_bytes,
		.decoders = decoders_wanted(config->decoders),
		.strict = config->fence == RT_FENCE_KILL,
	};
	struct rt_memory_report report; /* rtstats asks again */

	memory_up(&memory);
	if (config->lock_memory)
		rt_lock_program(locked_libraries,
				config->ring_bytes + stacks +
					memory_first_bytes(&memory),
				&report);
}

static void
free_shared(struct engine *engine)
{
	snapshot_destroy(engine->plans);
	rt_pool_unmap(engine->lines, LANE_COUNT * sizeof(struct line));
	rt_pool_unmap(engine->decoders, sizeof(*engine->decoders));
	allocator_delete(NULL, engine->bus);
	allocator_delete(NULL, engine->timeline);
	allocator_delete(NULL, engine->set);
	allocator_delete(NULL, engine->hazards);
}

static void
free_engine(struct engine *engine)
{
	outputs_destroy(engine);
	free(engine);
}

static struct engine *
new_engine(struct work *work, const struct engine_events *events, void *context)
{
	struct engine *engine = calloc(1, sizeof(*engine));

	if (engine == NULL)
		return NULL;
	engine->work = work;
	engine->events = events;
	engine->context = context;
	engine->mixers_fd = -1;
	engine->wanted_volume = 1.0F;
	engine->pause_close_ns = ENGINE_PAUSE_CLOSE_NS;
	engine->deadline_ns = INT64_MAX;
	engine->output_due_ns = INT64_MAX;
	engine->stuck_due_ns = INT64_MAX;
	engine->card.due_ns = INT64_MAX;
	list_init(&engine->streams);
	list_init(&engine->news);
	list_init(&engine->retired_resamplers);
	return engine;
}

int
engine_create(const struct engine_config *config, struct work *work,
	      const struct engine_events *events, void *context,
	      struct engine **ret_engine)
{
	struct engine *engine = new_engine(work, events, context);
	int result;

	if (engine == NULL)
		return -ENOMEM;
	result = commons_create(&config->music, ENGINE_EVENTS,
				config->ring_bytes, &engine->commons);
	if (result == 0)
		result = copy_config(engine, config);
	if (result == 0)
		result = create_shared(engine);
	if (result < 0)
		goto fail;
	init_shared(engine);
	prepare_memory(engine);
	result = followers_create(engine);
	if (result == 0)
		result = volume_create(engine);
	if (result < 0)
		goto fail;
	engine_publish(engine);
	result = start_decoders(engine);
	if (result < 0)
		goto fail;
	*ret_engine = engine;
	return 0;
fail:
	volume_destroy(engine);
	/* No card was ever opened, so there is no thread. */
	(void)followers_stop(engine);
	followers_finish(engine);
	commons_unref(engine->commons);
	free_shared(engine);
	memory_down();
	free_engine(engine);
	return result;
}

static bool
is_quiet(const struct engine *engine)
{
	unsigned i;

	for (i = 0; i < LANE_COUNT; i++)
		if (line_active(&engine->lines[i]))
			return false;
	return true;
}

static bool
has_jobs(const struct engine *engine)
{
	struct list *i;

	list_for_each (i, &engine->streams)
		if (list_entry(i, struct stream, link)->job_out)
			return true;
	return false;
}

/* Control's loop in small: the fade. */
static void
let_fade(struct engine *engine, int64_t until_ns)
{
	while (engine->card.phase == CARD_UP && !is_quiet(engine) &&
	       clock_now_ns() < until_ns) {
		struct pollfd fds[2] = {
			{.fd = engine->commons->bell.event_fd,
			 .events = POLLIN},
			{.fd = work_event_fd(engine->work), .events = POLLIN},
		};

		(void)poll(fds, 2, LOOP_MS);
		work_dispatch(engine->work);
		engine_dispatch(engine);
	}
}

/* And the jobs, when nothing else of the engine runs any more. */
static void
let_jobs_end(struct engine *engine, int64_t until_ns)
{
	struct list *i;

	list_for_each (i, &engine->streams) {
		struct stream *stream = list_entry(i, struct stream, link);

		if (stream->job_out)
			work_cancel(engine->work, &stream->job);
	}
	while (has_jobs(engine) && clock_now_ns() < until_ns) {
		struct pollfd fd = {.fd = work_event_fd(engine->work),
				    .events = POLLIN};

		(void)poll(&fd, 1, LOOP_MS);
		work_dispatch(engine->work);
	}
}

static void
ignore_ready(void *context, uint64_t stream, const struct decoder_info *info)
{
	(void)context;
	(void)stream;
	(void)info;
}

static void
ignore_failed(void *context, uint64_t stream, const char *reason)
{
	(void)context;
	(void)stream;
	(void)reason;
}

static void
ignore_lane(void *context, enum lane_id lane, uint64_t stream)
{
	(void)context;
	(void)lane;
	(void)stream;
}

static void
ignore_output(void *context)
{
	(void)context;
}

static const struct engine_events no_events = {
	.ready = ignore_ready,
	.failed = ignore_failed,
	.started = ignore_lane,
	.ended = ignore_lane,
	.output_changed = ignore_output,
};

static void
stop_all(struct engine *engine)
{
	struct list *i, *after;
	unsigned lane;

	engine->events = &no_events;
	for (lane = 0; lane < LANE_COUNT; lane++) {
		engine->lines[lane].paused = false;
		line_stop(engine, &engine->lines[lane]);
	}
	list_for_each_safe (i, after, &engine->streams)
		list_entry(i, struct stream, link)->released = true;
	engine_settle(engine);
}

void
engine_destroy(struct engine *engine)
{
	bool leak;

	if (engine == NULL)
		return;
	stop_all(engine);
	let_fade(engine, clock_now_ns() + FADE_WAIT_NS);
	leak = !followers_stop(engine);
	volume_destroy(engine);
	if (!decoders_stop(engine->decoders, clock_now_ns() + DECODERS_WAIT_NS))
		leak = true;
	engine->stopped = true;
	let_jobs_end(engine, clock_now_ns() + JOBS_WAIT_NS);
	streams_abandon(engine, leak);
	engine_reclaim_resamplers(engine);
	while (!list_empty(&engine->news)) {
		struct news *news =
			list_entry(engine->news.next, struct news, link);

		list_remove(&news->link);
		free(news);
	}
	if (leak) {
		log_err("engine", "a real-time thread did not come back");
	} else {
		followers_finish(engine);
		card_finish(engine);
		commons_unref(engine->commons);
		free_shared(engine);
	}
	memory_down();
	free_engine(engine);
}

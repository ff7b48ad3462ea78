/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine.c - the player's side of the engine. Every call changes some state of
 * lines or streams and ends in engine_settle(), which does the rest. */
#include "daemon/engine/engine_parts.h"

#include "lib/base/clock.h"

#include <errno.h>

/* What is only given up, or told to come, is settled with the call that follows
 * as a rule, at the latest at the next look: alone it would have the threads
 * work on what that call changes anyway, and keep it from the CPU. */
static void
settle_soon(struct engine *engine, bool now)
{
	if (now)
		engine_settle(engine);
	else
		engine_due(engine, 0);
}

int
engine_event_fd(const struct engine *engine)
{
	return engine->commons->bell.event_fd;
}

int
engine_open(struct engine *engine, enum lane_id lane,
	    const struct source_ref *ref, int64_t start_ns,
	    uint64_t *ret_stream)
{
	struct stream *stream;

	if (engine->stream_count >= STREAMS_MAX)
		return -EAGAIN;
	stream = streams_add(engine, lane, ref, start_ns);
	if (stream == NULL)
		return -ENOMEM;
	*ret_stream = stream->id;
	engine_settle(engine);
	return 0;
}

void
engine_release(struct engine *engine, uint64_t stream)
{
	streams_release(engine, stream);
	settle_soon(engine, false);
}

/* What the player may put into a lane. */
static int
find_playable(struct engine *engine, uint64_t id, struct stream **ret_stream)
{
	struct stream *stream = streams_find(engine, id);

	if (stream == NULL || stream->id != stream->root || stream->released)
		return -ENOENT;
	if (!streams_is_ready(stream) || stream->failed_told)
		return -EBUSY;
	*ret_stream = stream;
	return 0;
}

int
engine_play(struct engine *engine, enum lane_id lane, uint64_t id)
{
	struct stream *stream;
	const int result = find_playable(engine, id, &stream);

	if (result < 0)
		return result;
	line_play(engine, &engine->lines[lane], stream);
	engine_settle(engine);
	return 0;
}

int
engine_follow(struct engine *engine, enum lane_id lane, uint64_t stream,
	      uint64_t next)
{
	struct stream *following = NULL;
	int result = 0;

	if (next != 0)
		result = find_playable(engine, next, &following);
	if (result == 0)
		result = line_follow(engine, &engine->lines[lane], stream,
				     following);
	settle_soon(engine, next != 0);
	return result;
}

void
engine_overlap(struct engine *engine, uint64_t next, int64_t fade_ns)
{
	struct stream *stream = streams_find(engine, next);

	if (stream == NULL || stream->released)
		return;
	stream->fade_ns = fade_ns > 0 ? fade_ns : 0;
	engine_settle(engine);
}

void
engine_set_overlaps(struct engine *engine, bool overlaps)
{
	engine->overlaps = overlaps;
	engine_settle(engine);
}

void
engine_expect(struct engine *engine, enum lane_id lane, bool more)
{
	engine->lines[lane].more = more;
	engine->lines[lane].more_ns = 0;
	settle_soon(engine, false);
}

void
engine_stop(struct engine *engine, enum lane_id lane)
{
	line_stop(engine, &engine->lines[lane]);
	engine_settle(engine);
}

void
engine_pause(struct engine *engine, enum lane_id lane, bool paused)
{
	struct line *line = &engine->lines[lane];

	line->paused = paused;
	if (!line_is_paused(line))
		line->paused_ns = 0;
	engine_settle(engine);
}

void
engine_set_replay_gain(struct engine *engine,
		       const struct replay_gain_settings *settings)
{
	engine->replay_gain = *settings;
	engine_settle(engine);
}

void
engine_set_album(struct engine *engine, uint64_t stream, bool album)
{
	streams_set_album(engine, stream, album);
	engine_settle(engine);
}

void
engine_set_duck(struct engine *engine, unsigned db)
{
	atomic_store_explicit(&engine->bus->duck_db, db, memory_order_relaxed);
}

void
engine_position(const struct engine *engine, enum lane_id lane,
		struct engine_position *ret_position)
{
	struct line_point point;

	line_locate(engine, &engine->lines[lane], &point);
	*ret_position = (struct engine_position){
		.stream = point.root,
		.rate_hz = point.rate_hz,
	};
	if (point.root != 0 && point.rate_hz != 0)
		ret_position->elapsed_ns =
			clock_frames_to_ns(point.frame, point.rate_hz);
}

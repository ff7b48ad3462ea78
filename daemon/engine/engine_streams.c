/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_streams.c - the streams' life on control: from ring memory and the
 * opening job to the last step of their end.
 *
 * One that cannot have ring memory waits in OPENING, in the order of opening,
 * until another one gives some back. Its end goes in steps (stream.c), each
 * taken when the one before is done. */
#include "daemon/engine/engine_parts.h"

#include "daemon/source/path.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct stream *
stream_of(struct list *link)
{
	return list_entry(link, struct stream, link);
}

bool
streams_is_ready(const struct stream *stream)
{
	return stream->state == STREAM_READY ||
	       stream->state == STREAM_PLAYING ||
	       stream->state == STREAM_DRAINED;
}

struct stream *
streams_find(struct engine *engine, uint64_t id)
{
	struct list *i;

	list_for_each (i, &engine->streams)
		if (stream_of(i)->id == id)
			return stream_of(i);
	return NULL;
}

static uint64_t
domain_of_local(const char *uri)
{
	char *path = malloc(PATH_URI_MAX + 1);
	uint64_t domain = 0;

	if (path != NULL && path_local(uri, path, PATH_URI_MAX + 1) == 0)
		domain = work_domain(path);
	free(path);
	return domain;
}

/* The file system that the stream's file lies on. */
static uint64_t
domain_of(const struct engine *engine, const char *uri)
{
	struct text path = {0};
	uint64_t domain = 0;

	if (path_uri_is_local(uri))
		return domain_of_local(uri);
	text_printf(&path, "%s/%s", engine->commons->music.folder, uri);
	if (!path.failed)
		domain = work_domain(text_string(&path));
	text_finish(&path);
	return domain;
}

static struct stream *
add(struct engine *engine, enum lane_id lane, const struct source_ref *ref)
{
	struct stream *stream = stream_create(engine->last_id + 1, lane, ref);

	if (stream == NULL)
		return NULL;
	engine->last_id++;
	stream->engine = engine;
	stream->commons = commons_ref(engine->commons);
	stream->bell = &engine->commons->bell;
	stream->wake = &engine->commons->wake;
	stream->job.ops = &stream_job_ops;
	stream->job.domain = domain_of(engine, ref->uri);
	atomic_store(&stream->shown_state, STREAM_OPENING);
	list_append(&engine->streams, &stream->link);
	engine->stream_count++;
	return stream;
}

struct stream *
streams_add(struct engine *engine, enum lane_id lane,
	    const struct source_ref *ref, int64_t start_ns)
{
	struct stream *stream = add(engine, lane, ref);

	if (stream != NULL)
		stream->start_ns = start_ns;
	return stream;
}

static struct stream *
add_part(struct engine *engine, const struct stream *of)
{
	const struct source_ref ref = {of->uri, of->uid};
	struct stream *stream = add(engine, of->lane, &ref);

	if (stream == NULL)
		return NULL;
	stream->root = of->root;
	stream->released = true; /* by the player: it never knew of it */
	stream->album = of->album;
	stream->start_exact = true;
	stream->chain_ops = of->chain_ops;
	stream->chain_hz = of->spec.rate_hz;
	stream->info = of->info;
	return stream;
}

struct stream *
streams_add_replacement(struct engine *engine, const struct stream *old,
			uint64_t song_frame)
{
	struct stream *stream = add_part(engine, old);

	if (stream == NULL)
		return NULL;
	stream->parent = old->parent;
	stream->fade_ns = old->fade_ns;
	stream->chain_offset = old->chain_offset;
	stream->chain_base = old->chain_base;
	stream->base_frame = song_frame;
	stream->song_frame = song_frame;
	return stream;
}

struct stream *
streams_add_link(struct engine *engine, const struct stream *of)
{
	struct stream *stream = add_part(engine, of);

	if (stream == NULL)
		return NULL;
	stream->parent = of->id;
	stream->chain_offset =
		atomic_load_explicit(&of->link_offset, memory_order_relaxed);
	stream->chain_base = of->base_frame + pcm_ring_written(&of->pcm);
	stream->base_frame = stream->chain_base;
	stream->song_frame = stream->chain_base;
	return stream;
}

/* Out of the set; who still runs it, does so until it is reclaimed. */
void
streams_leave_set(struct engine *engine, struct stream *stream)
{
	if (!stream->in_set || stream->leaving_set)
		return;
	stream->leaving_set = true;
	rotary_remove(engine->set, &stream->item.node);
	atomic_fetch_sub_explicit(&engine->decoders->items, 1,
				  memory_order_relaxed);
}

/* The link will not come: the lane may go on to the next song. */
static void
stop_awaiting(struct engine *engine, struct stream *child)
{
	struct stream *parent =
		child->parent != 0 ? streams_find(engine, child->parent) : NULL;

	if (parent == NULL)
		return;
	atomic_store_explicit(&parent->link_awaited, 0, memory_order_release);
	wake_post(&engine->commons->wake);
}

/* Ends it for the player and for its lane. */
void
streams_fail(struct engine *engine, struct stream *stream, const char *reason)
{
	if (stream->state == STREAM_FAILED || stream->state == STREAM_CANCELLED)
		return;
	stream->state = STREAM_FAILED;
	if (stream->parent != 0 && stream->in_line) {
		/* What was heard of the song so far was good. */
		log_warn("engine", "%s: %s", stream->uri, reason);
		stop_awaiting(engine, stream);
	} else if (!stream->failed_told) {
		stream->failed_told = true;
		engine_add_news(engine, NEWS_FAILED, stream->lane, stream->root,
				reason);
	}
	line_drop(engine, &engine->lines[stream->lane], stream);
}

/* The song broke off. */
static bool
tell_broken(struct engine *engine, struct stream *stream)
{
	if (stream->failed_told || stream->state == STREAM_FAILED ||
	    stream_get_end(stream) == STREAM_GOES_ON)
		return false;
	if (stream->fill_error < 0 && stream->fill_error != -ECANCELED)
		streams_set_reason(stream, stream->fill_error);
	else if (stream_get_end(stream) == STREAM_BROKEN)
		streams_set_reason(stream, -EINVAL);
	else
		return false;
	stream->failed_told = true;
	engine_add_news(engine, NEWS_FAILED, stream->lane, stream->root,
			stream->reason);
	return true;
}

/* Frames that the header promised and that never came. */
static uint64_t
missing_frames(const struct stream *stream)
{
	const uint64_t got = stream->base_frame - stream->chain_base +
			     pcm_ring_written(&stream->pcm);

	if (stream_get_end(stream) != STREAM_ENDED || stream->info.frames < got)
		return 0;
	return stream->info.frames - got;
}

static void
log_cut(const struct stream *stream)
{
	const uint32_t rate_hz = stream->spec.rate_hz;
	const uint64_t missing = missing_frames(stream);
	const uint64_t heard =
		stream->base_frame + pcm_ring_written(&stream->pcm);

	/* A few frames are a matter of how its encoder counts. */
	if (missing > rate_hz / STREAM_PARTS_MISSED)
		log_warn("engine",
			 "%s ends after %.1f of %.1f s: the file is cut short",
			 stream->uri, (double)heard / rate_hz,
			 (double)(heard + missing) / rate_hz);
	else if (stream_get_end(stream) == STREAM_ENDED && stream->cut)
		log_warn("engine",
			 "%s ends after %.1f s: the file is cut short",
			 stream->uri, (double)heard / rate_hz);
}

bool
streams_tell_end(struct engine *engine, struct stream *stream)
{
	const bool broken = tell_broken(engine, stream);

	if (!broken)
		log_cut(stream);
	return broken;
}

void
streams_left_line(struct engine *engine, struct stream *stream)
{
	stream->in_line = false;
	engine_retire_resampler(engine, stream);
	if (stream->state == STREAM_READY || stream->state == STREAM_PLAYING)
		/* Whether frames were taken shows when the plans that name it
		 * have been passed. */
		stream->leaving_line = true;
}

void
streams_release(struct engine *engine, uint64_t root)
{
	struct list *i;

	engine_drop_news(engine, root);
	list_for_each (i, &engine->streams)
		if (stream_of(i)->root == root)
			stream_of(i)->released = true;
}

void
streams_set_album(struct engine *engine, uint64_t root, bool album)
{
	struct list *i;

	list_for_each (i, &engine->streams)
		if (stream_of(i)->root == root)
			stream_of(i)->album = album;
}

/* Nobody reads a plan that names it. */
static bool
is_unplanned(const struct engine *engine, const struct stream *stream)
{
	return stream->plan_generation == 0 || engine->stopped ||
	       snapshot_passed(engine->plans, stream->plan_generation + 1);
}

bool
streams_wants_end(const struct stream *stream)
{
	if (stream->in_line)
		return false;
	return stream->released || stream->state == STREAM_DRAINED ||
	       stream->state == STREAM_FAILED;
}

/* One more step towards giving back what it holds; true when that is done. */
static bool
close_step(struct engine *engine, struct stream *stream)
{
	if (stream->job_out) {
		if (stream->phase != STREAM_PHASE_CLOSE)
			work_cancel(engine->work, &stream->job);
		return false;
	}
	streams_leave_set(engine, stream);
	if (stream->orphan &&
	    atomic_load(&stream->parting) != STREAM_RETURNED) {
		engine_due(engine, ENGINE_ORPHAN_NS);
		return false;
	}
	if (stream->in_set || !is_unplanned(engine, stream)) {
		engine_due(engine, ENGINE_RECLAIM_NS);
		return false;
	}
	if (!stream->closed &&
	    (stream->decoder != NULL || stream->source != NULL)) {
		streams_submit(engine, stream, STREAM_PHASE_CLOSE);
		return false;
	}
	pool_give(engine->commons->pool, &stream->extent);
	pool_give(engine->commons->pool, &stream->pcm_extent);
	return true;
}

/* All of its frames are in a deck. */
bool
streams_is_spent(const struct stream *stream)
{
	return atomic_load_explicit(&stream->left, memory_order_acquire) != 0;
}

static void
settle_end(struct engine *engine, struct stream *stream)
{
	if (!streams_wants_end(stream) && !streams_is_spent(stream))
		return;
	if (!close_step(engine, stream) || stream->in_line || !stream->released)
		return; /* info lives until the player lets go */
	engine->stream_count--;
	stream_destroy(stream);
}

/* Taken out of a line before its lane had begun it, it can be played yet. */
static void
settle_leaving(struct engine *engine, struct stream *stream)
{
	if (!stream->leaving_line || stream->in_line)
		return;
	if (!is_unplanned(engine, stream)) {
		engine_due(engine, ENGINE_RECLAIM_NS);
		return;
	}
	stream->leaving_line = false;
	stream->state = atomic_load_explicit(&stream->taken_cut,
					     memory_order_acquire) == 0
				? STREAM_READY
				: STREAM_DRAINED;
}

/* The next link of a chain, as soon as the decoder has come to it. */
static void
settle_link(struct engine *engine, struct stream *stream)
{
	struct line *line = &engine->lines[stream->lane];
	struct stream *link;

	if (stream->linked_on || !stream->in_line ||
	    !streams_is_ready(stream) ||
	    stream_get_end(stream) != STREAM_LINKED)
		return;
	stream->linked_on = true;
	/* Nothing of a song comes after its overlap with the next one. */
	link = line_is_overlapped(stream) ? NULL
					  : streams_add_link(engine, stream);
	if (link == NULL || !line_insert_after(line, stream, link)) {
		if (link != NULL)
			link->state = STREAM_CANCELLED;
		atomic_store_explicit(&stream->link_awaited, 0,
				      memory_order_release);
	}
}

/* Ring memory for the next one that waits; false: there is none. */
static bool
settle_opening(struct engine *engine, struct stream *stream)
{
	if (stream->state != STREAM_OPENING || stream->job_out ||
	    streams_wants_end(stream) || stream->extent.memory != NULL)
		return true;
	if (!pool_take_low(engine->commons->pool, STREAM_LEAST,
			   STREAM_BYTES_MAX + STREAM_PCM_MAX, &stream->extent))
		return false;
	streams_submit(engine, stream, STREAM_PHASE_OPEN);
	return true;
}

static void
on_reclaimed(struct rotary_node *node, void *context)
{
	struct item *item = list_entry(node, struct item, node);

	(void)context;
	if (item->kind == ITEM_STREAM)
		list_entry(item, struct stream, item)->in_set = false;
}

void
streams_settle(struct engine *engine, int64_t now_ns)
{
	struct list *i, *after;
	bool memory = true;

	(void)now_ns;
	if (rotary_reclaim(engine->set, on_reclaimed, NULL) > 0)
		engine_due(engine, ENGINE_RECLAIM_NS);
	list_for_each_safe (i, after, &engine->streams) {
		struct stream *stream = stream_of(i);

		settle_leaving(engine, stream);
		settle_link(engine, stream);
		if (stream_get_end(stream) != STREAM_GOES_ON &&
		    streams_is_ready(stream))
			streams_leave_set(engine, stream);
		settle_end(engine, stream);
	}
	list_for_each (i, &engine->streams)
		memory = memory && settle_opening(engine, stream_of(i));
}

/* What a stream's event says is in its flags. id 0: look at all of them. */
void
streams_on_event(struct engine *engine, const struct rt_event *event)
{
	struct list *i, *after;

	list_for_each_safe (i, after, &engine->streams)
		if (event->id == 0 || stream_of(i)->id == event->id)
			streams_look_at(engine, stream_of(i));
}

/* Without real-time threads: closes what can be closed; a stream whose job is
 * out is left to it. */
void
streams_abandon(struct engine *engine, bool leak)
{
	struct list *i, *after;

	list_for_each_safe (i, after, &engine->streams) {
		struct stream *stream = stream_of(i);

		list_remove(i);
		if (leak)
			continue;
		engine_retire_resampler(engine, stream);
		if (stream->orphan &&
		    atomic_exchange(&stream->parting, STREAM_ENGINE_GONE) !=
			    STREAM_RETURNED)
			continue;
		stream->engine = NULL;
		if (!stream->job_out)
			stream_destroy(stream);
	}
	engine->stream_count = 0;
}

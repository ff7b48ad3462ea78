/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_jobs.c - the streams' jobs: handing them to the workers, and what
 * follows when they come back.
 *
 * A stream has one job, used for one phase after the other, never two at once.
 * A job that the pool gave up (-ETIMEDOUT) keeps the stream's memory until its
 * worker comes back: such a stream is an orphan, failed for the player, and out
 * of every line. Whoever comes second, the worker or control, frees it. */
#include "daemon/engine/engine_parts.h"

#include "daemon/source/skips.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct stream *
stream_of_job(struct work_job *job)
{
	return list_entry(job, struct stream, job);
}

static int
run_job(struct work_job *job)
{
	return stream_run_phase(stream_of_job(job));
}

/* The worker has come back. A decoder thread may still be in the stream, so
 * that only without an engine it is the worker who ends it. */
static void
orphan_job(struct work_job *job)
{
	struct stream *stream = stream_of_job(job);

	if (atomic_exchange(&stream->parting, STREAM_RETURNED) ==
	    STREAM_ENGINE_GONE) {
		stream->engine = NULL;
		stream_destroy(stream);
	}
}

static void on_job_done(struct work_job *job, int result);

const struct work_job_ops stream_job_ops = {
	.run = run_job,
	.done = on_job_done,
	.orphan = orphan_job,
};

static bool
is_opening(const struct stream *stream)
{
	return stream->phase == STREAM_PHASE_OPEN ||
	       stream->phase == STREAM_PHASE_PRIME;
}

/* When what was opened has been planned, decoder threads may keep control from
 * the CPU again. */
bool
streams_are_opened(const struct engine *engine)
{
	return engine->opening == 0 &&
	       atomic_load_explicit(&engine->decoders->calm_until_ns,
				    memory_order_relaxed) != 0;
}

void
streams_end_calm(struct engine *engine)
{
	if (!streams_are_opened(engine))
		return;
	atomic_store_explicit(&engine->decoders->calm_until_ns, 0,
			      memory_order_relaxed);
	wake_post(&engine->commons->wake);
}

void
streams_submit(struct engine *engine, struct stream *stream,
	       enum stream_phase phase)
{
	static const char *const names[] = {
		[STREAM_PHASE_OPEN] = "open a stream",
		[STREAM_PHASE_PRIME] = "prime a stream",
		[STREAM_PHASE_FILL] = "read ahead",
		[STREAM_PHASE_CLOSE] = "close a stream",
	};

	if (stream->orphan) {
		/* The pool has done with it, but not cleared it. */
		stream->job = (struct work_job){.ops = &stream_job_ops,
						.domain = stream->job.domain};
		stream->orphan = false;
	}
	stream->phase = phase;
	if (is_opening(stream)) {
		stream->hasty = decoders_are_realtime(engine->decoders);
		engine->opening++;
		atomic_store_explicit(&engine->decoders->calm_until_ns,
				      clock_now_ns() + ENGINE_CALM_NS,
				      memory_order_relaxed);
	}
	stream->job.what = names[phase];
	stream->job_out = true;
	work_submit(engine->work, &stream->job);
}

void
streams_set_reason(struct stream *stream, int error)
{
	const char *what = stream->open_reason;

	if (stream->reason[0] != '\0')
		return;
	if (error == -ENODATA)
		what = "there is no sound in it";
	else if (error == -ETIMEDOUT)
		what = "its file system does not answer";
	else if (error == -ENOTRECOVERABLE)
		what = skips_reason;
	else if (error == -ENOBUFS || error == -ENOMEM)
		what = "there is not enough memory for it";
	else if (what == NULL && error == -EINVAL)
		what = "it cannot be decoded";
	snprintf(stream->reason, sizeof(stream->reason), "%s",
		 what != NULL ? what : text_of_error(error));
}

static void
enter_set(struct engine *engine, struct stream *stream)
{
	stream->in_set = true;
	rotary_insert(engine->set, &stream->item.node);
	atomic_fetch_add_explicit(&engine->decoders->items, 1,
				  memory_order_relaxed);
}

/* No decoder thread is woken for it yet: see streams_end_calm(). */
static void
become_ready(struct engine *engine, struct stream *stream)
{
	const size_t used = stream->bytes.capacity;
	size_t needed = used;

	stream->info = *stream->live_info;
	stream->song_frame = stream->base_frame;
	stream->chain_ops = stream->decoder->ops;
	if (stream->pcm_extent.memory == NULL)
		needed += stream->pcm.capacity_frames * stream->pcm.channels *
			  sizeof(uint32_t);
	pool_shrink(engine->commons->pool, &stream->extent, needed);
	stream->state = STREAM_READY;
	if (stream_get_end(stream) == STREAM_GOES_ON)
		enter_set(engine, stream);
	if (stream->id == stream->root && !stream->released)
		engine_add_news(engine, NEWS_READY, stream->lane, stream->root,
				"");
}

/* Under 250 ms were left of the extent: a place of its own. */
static bool
find_pcm_memory(struct engine *engine, struct stream *stream)
{
	const size_t frames = (size_t)((uint64_t)stream->spec.rate_hz *
					       STREAM_STOCK_MS / 1000 +
				       1);

	if (stream->pcm_extent.memory != NULL)
		return false;
	return pool_take_high(engine->commons->pool,
			      2 * frames * stream->spec.channels *
				      sizeof(uint32_t),
			      &stream->pcm_extent);
}

static void
on_opened(struct engine *engine, struct stream *stream, int result)
{
	if (result == -ENOBUFS && find_pcm_memory(engine, stream)) {
		streams_submit(engine, stream, STREAM_PHASE_PRIME);
	} else if (result < 0) {
		streams_set_reason(stream, result);
		streams_fail(engine, stream, stream->reason);
	} else {
		become_ready(engine, stream);
	}
}

/* It fell under its mark while the job that had been asked for was out: it
 * could not ask for the next one. */
static bool
missed_refill(const struct stream *stream)
{
	return !stream->rt ||
	       atomic_load_explicit(&stream->hungry, memory_order_relaxed) ||
	       byte_ring_writable(&stream->bytes) > stream->bytes.capacity / 2;
}

static void
on_filled(struct stream *stream)
{
	(void)atomic_exchange_explicit(&stream->refill, 0,
				       memory_order_acq_rel);
	if (missed_refill(stream))
		wake_post(stream->wake);
}

/* The pool keeps the job, and with it the stream. */
static void
on_given_up(struct stream *stream)
{
	stream->orphan = true;
	if (stream->engine == NULL) {
		if (atomic_exchange(&stream->parting, STREAM_ENGINE_GONE) ==
		    STREAM_RETURNED)
			stream_destroy(stream);
	} else if (stream->phase != STREAM_PHASE_CLOSE) {
		streams_set_reason(stream, -ETIMEDOUT);
		streams_fail(stream->engine, stream, stream->reason);
	}
}

static void
on_job_done(struct work_job *job, int result)
{
	struct stream *stream = stream_of_job(job);
	struct engine *engine = stream->engine;

	stream->job_out = false;
	if (engine != NULL && is_opening(stream))
		engine->opening--;
	if (result == -ETIMEDOUT)
		on_given_up(stream);
	else if (engine == NULL)
		stream_destroy(stream);
	else if (stream->state == STREAM_OPENING ||
		 stream->state == STREAM_PRIMING)
		on_opened(engine, stream, result);
	else if (stream->phase == STREAM_PHASE_FILL)
		on_filled(stream);
	else if (stream->phase == STREAM_PHASE_CLOSE && result == 0)
		stream->closed = true;
	if (engine != NULL)
		engine_settle(engine);
}

/* Decoding that takes too long again and again. */
static void
judge_overruns(struct engine *engine, struct stream *stream)
{
	if (atomic_load_explicit(&stream->overruns, memory_order_relaxed) <
		    STREAM_OVERRUNS_MAX &&
	    atomic_load_explicit(&stream->overrun_ns, memory_order_relaxed) <
		    STREAM_OVERRUN_NS)
		return;
	snprintf(stream->reason, sizeof(stream->reason), "%s",
		 "it takes too long to decode");
	streams_leave_set(engine, stream);
	streams_fail(engine, stream, stream->reason);
}

static void
refill(struct engine *engine, struct stream *stream)
{
	if (stream->job_out || !streams_is_ready(stream) ||
	    streams_wants_end(stream) || streams_is_spent(stream) ||
	    stream->closed)
		return;
	if (atomic_load_explicit(&stream->refill, memory_order_acquire) != 0)
		streams_submit(engine, stream, STREAM_PHASE_FILL);
}

void
streams_look_at(struct engine *engine, struct stream *stream)
{
	refill(engine, stream);
	judge_overruns(engine, stream);
}

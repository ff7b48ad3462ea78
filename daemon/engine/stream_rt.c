/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stream_rt.c - the quantum of a stream: bounded decode steps straight into the
 * write span of its PCM ring, one after the other as long as they are short
 * together. A decoder's state does not fit into a cache with a hundred others:
 * what is there already is used for more than one step. While it is urgent
 * others wait that may be urgent too, so that its quantum is shorter where they
 * are many. What counts is its own CPU time: who was interrupted in its turn
 * would else have to wait for the next with almost nothing.
 *
 * Bursts: a stream has work from the moment its PCM ring is less than half full
 * until it is full, so that the machine sleeps between. It asks for bytes when
 * its byte ring is less than half full, once for each read-ahead job, and once
 * for the memory of its PCM ring that it was opened without. A starved
 * step is not repeated before more bytes have come, and only who starved is
 * woken by them.
 *
 * The end is told in this order: link_awaited, end, the PCM ring's own end. So
 * a lane that sees the ring's end also sees why, and does not go on to the next
 * song while a chain link is still being opened. */
#include "daemon/engine/stream.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"

RT_SAFE enum stream_end
stream_get_end(const struct stream *stream)
{
	return (enum stream_end)atomic_load_explicit(&stream->end,
						     memory_order_acquire);
}

static RT_DEVICE void
end_with(struct stream *stream, enum stream_end end, uint32_t kind)
{
	if (end == STREAM_LINKED) {
		atomic_store_explicit(&stream->link_offset,
				      stream->live_info->link_offset,
				      memory_order_relaxed);
		atomic_store_explicit(&stream->link_awaited, 1,
				      memory_order_relaxed);
	}
	stream->cut = end == STREAM_ENDED && stream->live_info->cut;
	atomic_store_explicit(&stream->end, end, memory_order_release);
	pcm_ring_end(&stream->pcm);
	bell_ring(stream->bell, kind, stream->lane, stream->id, 0);
}

/* The first at once, the others in one sum when the stream is destroyed: a
 * file may be damaged a thousand times. */
static RT_SAFE void
report_gap(struct stream *stream)
{
	stream->gap_frames = stream->live_info->gap_frames;
	if (stream->gap_frames == 0 || stream->gap_told > 0)
		return;
	log_rt(LOG_RT_DECODE_GAP, (int64_t)stream->gap_frames,
	       (int64_t)stream->root);
	stream->gap_told = stream->gap_frames;
}

RT_DEVICE bool
stream_step(struct stream *stream)
{
	enum decode_status status = DECODE_ERROR;
	size_t frames = 0;
	size_t room;
	void *span = pcm_ring_write_span(&stream->pcm, &room);

	if (room > STREAM_STEP_FRAMES)
		room = STREAM_STEP_FRAMES;
	if (room == 0 || stream_get_end(stream) != STREAM_GOES_ON)
		return false;
	RT_EXCEPTION("a decoder library, under the quantum's budget")
	{
		status = decoder_decode(stream->decoder, span, room, &frames);
	}
	switch (status) {
	case DECODE_OK:
		pcm_ring_commit(&stream->pcm, frames);
		report_gap(stream);
		return true;
	case DECODE_STARVED:
		stream->starved = true;
		return false;
	case DECODE_END:
		end_with(stream, STREAM_ENDED, RT_EVENT_STREAM_END);
		return true;
	case DECODE_LINK:
		end_with(stream, STREAM_LINKED, RT_EVENT_STREAM_LINK);
		return true;
	case DECODE_ERROR:
		if (stream->decoder->overdrawn)
			stream->open_reason = decoder_overdrawn_reason;
		break;
	}
	end_with(stream, STREAM_BROKEN, RT_EVENT_STREAM_FAIL);
	return true;
}

static RT_SAFE uint64_t
bytes_written(const struct stream *stream)
{
	return atomic_load_explicit(&stream->bytes.written,
				    memory_order_acquire);
}

static RT_SAFE bool
bytes_ended(const struct stream *stream)
{
	return atomic_load_explicit(&stream->bytes.ended, memory_order_acquire);
}

/* Asks for a job, unless one was asked for. */
static RT_DEVICE void
ask_refill(struct stream *stream)
{
	if (atomic_exchange_explicit(&stream->refill, 1,
				     memory_order_acq_rel) == 0)
		bell_ring(stream->bell, RT_EVENT_REFILL, stream->lane,
			  stream->id, 0);
}

/* For bytes, or for the rest of the PCM ring's memory. */
static RT_DEVICE void
watch_supplies(struct stream *stream)
{
	if ((!bytes_ended(stream) &&
	     byte_ring_readable(&stream->bytes) < stream->bytes.capacity / 2) ||
	    pcm_ring_provided(&stream->pcm) != SIZE_MAX)
		ask_refill(stream);
}

/* Raises and lowers the flag of the burst. */
static RT_SAFE bool
is_bursting(struct stream *stream)
{
	const size_t capacity = stream->pcm.capacity_frames;

	if (pcm_ring_writable(&stream->pcm) == 0)
		stream->bursting = false;
	else if (pcm_ring_readable(&stream->pcm) < capacity / 2)
		stream->bursting = true;
	return stream->bursting;
}

RT_DEVICE bool
stream_wants_quantum(struct stream *stream)
{
	if (stream_get_end(stream) != STREAM_GOES_ON)
		return false;
	if (!stream->rt) {
		if (is_bursting(stream))
			ask_refill(stream);
		return false;
	}
	watch_supplies(stream);
	if (stream->starved && !bytes_ended(stream) &&
	    bytes_written(stream) == stream->starved_at)
		return false;
	return is_bursting(stream);
}

/* From now on bytes wake it; true when there were some before that. The
 * exchange is one of a pair (stream_job.c): the later one sees what came before
 * the other. */
static RT_SAFE bool
goes_hungry(struct stream *stream, bool ended)
{
	(void)atomic_exchange_explicit(&stream->hungry, 1,
				       memory_order_acq_rel);
	return bytes_written(stream) != stream->starved_at ||
	       bytes_ended(stream) != ended;
}

/* Looks at the bytes before the step: what comes during it counts as new. */
static RT_DEVICE bool
step_or_starve(struct stream *stream)
{
	const uint64_t written = bytes_written(stream);
	const bool ended = bytes_ended(stream);

	stream->starved = false;
	if (stream_step(stream))
		return true;
	stream->starved_at = written;
	if (!stream->starved)
		return false;
	/* A decoder that starves on a whole file is at its end. */
	if (ended)
		end_with(stream, STREAM_BROKEN, RT_EVENT_STREAM_FAIL);
	watch_supplies(stream);
	return !ended && goes_hungry(stream, ended);
}

static RT_SAFE void
note_clean_step(struct stream *stream)
{
	if (++stream->clean_steps < STREAM_CLEAN_STEPS)
		return;
	stream->clean_steps = 0;
	atomic_store_explicit(&stream->overrun_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&stream->overruns, 0, memory_order_relaxed);
}

static RT_SAFE bool
has_room(const struct stream *stream)
{
	return stream_get_end(stream) == STREAM_GOES_ON &&
	       pcm_ring_writable(&stream->pcm) > 0;
}

RT_SAFE bool
stream_is_urgent(const struct stream *stream)
{
	return pcm_ring_readable(&stream->pcm) <
	       stream->pcm.capacity_frames / 4;
}

/* The wall clock is cheap to ask; what it says may be others' doing. */
static RT_DEVICE bool
has_time(int64_t until_ns, int64_t until_cpu_ns)
{
	return clock_now_ns() < until_ns ||
	       clock_thread_cpu_ns() < until_cpu_ns;
}

RT_DEVICE enum item_work
stream_quantum(struct stream *stream, int64_t urgent_ns)
{
	const bool urgent = stream_is_urgent(stream);
	const int64_t limit_ns = urgent ? urgent_ns : STREAM_QUANTUM_NS;
	const int64_t until_cpu_ns = clock_thread_cpu_ns() + limit_ns;
	const int64_t until_ns = clock_now_ns() + limit_ns;
	bool worked = false;

	while (step_or_starve(stream)) {
		worked = true;
		note_clean_step(stream);
		if (!has_room(stream) || !has_time(until_ns, until_cpu_ns))
			break;
	}
	if (!worked)
		return ITEM_IDLE;
	return urgent ? ITEM_URGENT : ITEM_WORKED;
}

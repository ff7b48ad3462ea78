/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcm_ring.c - frame n lies at buffer[n % capacity]; three free-running
 * counts of frames:
 *
 *   kept = max(furthest - history, 0)
 *   kept <= read <= furthest <= written <= kept + capacity
 *
 * Ordering: as in byte_ring.c, with `furthest` in the part of the mark. It only
 * grows, and is stored by release after the frames before it were read. A
 * rewind goes back at most to `kept`; the writer, whose view of `furthest` can
 * only be older, stops `capacity` behind that. `read` tells others the fill
 * level and orders nothing.
 *
 * A buffer without all of its memory is one whose first time around ends early:
 * as long as written <= provided < capacity no place was used twice. */
#include "lib/sync/pcm_ring.h"

#include <assert.h>

_Static_assert(offsetof(struct pcm_ring, written) % CACHE_LINE == 0 &&
		       offsetof(struct pcm_ring, furthest) % CACHE_LINE == 0,
	       "the two sides never share a cache line");

static RT_SAFE size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The oldest frame that a reader at furthest may go back to. */
static RT_SAFE uint64_t
oldest_kept(const struct pcm_ring *ring, uint64_t furthest)
{
	return furthest > ring->history_frames ? furthest - ring->history_frames
					       : 0;
}

static RT_SAFE uint32_t *
frame_at(const struct pcm_ring *ring, uint64_t frame)
{
	return ring->buffer +
	       (size_t)(frame % ring->capacity_frames) * ring->channels;
}

static RT_SAFE size_t
until_wrap(const struct pcm_ring *ring, uint64_t frame)
{
	return ring->capacity_frames - (size_t)(frame % ring->capacity_frames);
}

void
pcm_ring_init(struct pcm_ring *ring, void *buffer, size_t capacity_frames,
	      uint32_t channels, size_t history_frames)
{
	assert(history_frames < capacity_frames && channels > 0);
	ring->buffer = buffer;
	ring->capacity_frames = capacity_frames;
	ring->channels = channels;
	ring->history_frames = history_frames;
	pcm_ring_provide(ring, SIZE_MAX);
	pcm_ring_reset(ring);
}

RT_SAFE void
pcm_ring_provide(struct pcm_ring *ring, size_t frames)
{
	atomic_store_explicit(&ring->provided_frames, frames,
			      memory_order_release);
}

RT_SAFE size_t
pcm_ring_provided(const struct pcm_ring *ring)
{
	return atomic_load_explicit(&ring->provided_frames,
				    memory_order_acquire);
}

RT_SAFE void
pcm_ring_reset(struct pcm_ring *ring)
{
	atomic_store_explicit(&ring->written, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->ended, false, memory_order_relaxed);
	atomic_store_explicit(&ring->furthest, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->read, 0, memory_order_relaxed);
}

RT_SAFE size_t
pcm_ring_writable(const struct pcm_ring *ring)
{
	const uint64_t written =
		atomic_load_explicit(&ring->written, memory_order_relaxed);
	const uint64_t furthest =
		atomic_load_explicit(&ring->furthest, memory_order_acquire);

	const size_t room = (size_t)(oldest_kept(ring, furthest) +
				     ring->capacity_frames - written);
	const size_t provided = pcm_ring_provided(ring);

	return provided == SIZE_MAX ? room
				    : smaller(room, provided - (size_t)written);
}

RT_SAFE void *
pcm_ring_write_span(struct pcm_ring *ring, size_t *ret_frames)
{
	const uint64_t written =
		atomic_load_explicit(&ring->written, memory_order_relaxed);

	*ret_frames =
		smaller(pcm_ring_writable(ring), until_wrap(ring, written));
	return frame_at(ring, written);
}

RT_SAFE void
pcm_ring_commit(struct pcm_ring *ring, size_t frames)
{
	const uint64_t written =
		atomic_load_explicit(&ring->written, memory_order_relaxed);

	assert(frames <= pcm_ring_writable(ring));
	atomic_store_explicit(&ring->written, written + frames,
			      memory_order_release);
}

RT_SAFE void
pcm_ring_end(struct pcm_ring *ring)
{
	atomic_store_explicit(&ring->ended, true, memory_order_release);
}

RT_SAFE uint64_t
pcm_ring_written(const struct pcm_ring *ring)
{
	return atomic_load_explicit(&ring->written, memory_order_acquire);
}

RT_SAFE uint64_t
pcm_ring_position(const struct pcm_ring *ring)
{
	return atomic_load_explicit(&ring->read, memory_order_relaxed);
}

/* The position is read first: seen from a third thread it may be old, but is
 * never past `written`. */
RT_SAFE size_t
pcm_ring_readable(const struct pcm_ring *ring)
{
	const uint64_t read =
		atomic_load_explicit(&ring->read, memory_order_acquire);

	return (size_t)(pcm_ring_written(ring) - read);
}

RT_SAFE const void *
pcm_ring_read_span(const struct pcm_ring *ring, size_t *ret_frames)
{
	const uint64_t read = pcm_ring_position(ring);

	*ret_frames = smaller(pcm_ring_readable(ring), until_wrap(ring, read));
	return frame_at(ring, read);
}

RT_SAFE void
pcm_ring_consume(struct pcm_ring *ring, size_t frames)
{
	const uint64_t read = pcm_ring_position(ring) + frames;

	assert(frames <= pcm_ring_readable(ring));
	atomic_store_explicit(&ring->read, read, memory_order_release);
	if (read > atomic_load_explicit(&ring->furthest, memory_order_relaxed))
		atomic_store_explicit(&ring->furthest, read,
				      memory_order_release);
}

RT_SAFE size_t
pcm_ring_rewind(struct pcm_ring *ring, size_t frames)
{
	const uint64_t read = pcm_ring_position(ring);
	const uint64_t furthest =
		atomic_load_explicit(&ring->furthest, memory_order_relaxed);
	const size_t back =
		smaller(frames, (size_t)(read - oldest_kept(ring, furthest)));

	atomic_store_explicit(&ring->read, read - back, memory_order_release);
	return back;
}

RT_SAFE bool
pcm_ring_ended(const struct pcm_ring *ring)
{
	return atomic_load_explicit(&ring->ended, memory_order_acquire);
}

RT_SAFE bool
pcm_ring_at_end(const struct pcm_ring *ring)
{
	return pcm_ring_ended(ring) && pcm_ring_readable(ring) == 0;
}

/* `furthest` stays, and with it what is kept: of that nothing is given up. */
RT_SAFE size_t
pcm_ring_unwrite(struct pcm_ring *ring, size_t frames)
{
	const uint64_t written = pcm_ring_written(ring);
	const uint64_t kept =
		oldest_kept(ring, atomic_load_explicit(&ring->furthest,
						       memory_order_relaxed));
	const size_t back = smaller(frames, (size_t)(written - kept));

	if (pcm_ring_position(ring) > written - back)
		atomic_store_explicit(&ring->read, written - back,
				      memory_order_release);
	atomic_store_explicit(&ring->written, written - back,
			      memory_order_release);
	return back;
}

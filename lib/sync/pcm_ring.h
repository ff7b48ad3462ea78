/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcm_ring.h - bounded FIFO of PCM frames between one writer thread and one
 * reader thread that keeps a history behind the reader.
 *
 * A frame is channels samples of 4 bytes (S32 or F32; the ring does not
 * care). The writer leaves the last history_frames before the furthest read
 * position alone, so that the reader can go back that far after a rewind of
 * the sound card. Invariant: furthest - history <= read <= furthest <= written
 * <= max(furthest - history, 0) + capacity, free-running 64-bit frame counts.
 *
 *            | write | read/rewind | init/reset
 *  write     |   X   |     -       |     X       X: outside order needed
 *  read ...  |   -   |     X       |     X       -: none
 *
 * Orders: what was written before a commit is seen by who reads those frames;
 * what was read is over before the writer writes there again. The fill level
 * that others look at orders nothing.
 * Progress: wait-free. Cost: O(1) and no exchange, a load of the other side's
 * line at most; the copies O(frames x channels).
 * Source: as byte_ring.h; the history is ours.
 * RT: all but init are RT_SAFE. Memory: the caller owns buffer and outlives the
 * ring. Units: frames. */
#ifndef ROTARY_SYNC_PCM_RING_H
#define ROTARY_SYNC_PCM_RING_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct pcm_ring {
	/* immutable between resets */
	uint32_t *buffer;
	size_t capacity_frames;
	size_t history_frames;
	uint32_t channels;
	/* by who provides the buffer's memory */
	ATOMIC(size_t) provided_frames;
	/* written by the writer */
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) written;
	ATOMIC(bool) ended;
	/* written by the reader */
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) furthest;
	ATOMIC(uint64_t) read; /* others may look, for the fill level */
};

/* buffer holds capacity_frames * channels samples; history < capacity. */
void pcm_ring_init(struct pcm_ring *ring, void *buffer, size_t capacity_frames,
		   uint32_t channels, size_t history_frames);
/* Only the first frames of the buffer have memory to be written to; SIZE_MAX:
 * all, as after init. While others use the ring it may only grow, and who waits
 * for room is told by the caller. Any one thread. */
RT_SAFE void pcm_ring_provide(struct pcm_ring *ring, size_t frames);
RT_SAFE size_t pcm_ring_provided(const struct pcm_ring *ring);
/* Empty again at frame 0, not ended; when neither side runs. */
RT_SAFE void pcm_ring_reset(struct pcm_ring *ring);

/* Writer. */
RT_SAFE size_t pcm_ring_writable(const struct pcm_ring *ring);
/* The longest writable piece in one run of memory. */
RT_SAFE void *pcm_ring_write_span(struct pcm_ring *ring, size_t *ret_frames);
RT_SAFE void pcm_ring_commit(struct pcm_ring *ring, size_t frames);
RT_SAFE void pcm_ring_end(struct pcm_ring *ring);
/* Frames ever written since the reset: where the next one will stand. */
RT_SAFE uint64_t pcm_ring_written(const struct pcm_ring *ring);

/* Reader. */
RT_SAFE size_t pcm_ring_readable(const struct pcm_ring *ring);
RT_SAFE const void *pcm_ring_read_span(const struct pcm_ring *ring,
				       size_t *ret_frames);
RT_SAFE void pcm_ring_consume(struct pcm_ring *ring, size_t frames);
/* Frame number that is read next. */
RT_SAFE uint64_t pcm_ring_position(const struct pcm_ring *ring);
/* Goes back by up to frames; returns by how many it could. */
RT_SAFE size_t pcm_ring_rewind(struct pcm_ring *ring, size_t frames);
/* Ended, and all of it read. */
RT_SAFE bool pcm_ring_at_end(const struct pcm_ring *ring);
RT_SAFE bool pcm_ring_ended(const struct pcm_ring *ring);

/* Both sides, where they are one thread. Takes back what was written last, with
 * what was read of it; returns by how many frames it could. */
RT_SAFE size_t pcm_ring_unwrite(struct pcm_ring *ring, size_t frames);

#endif

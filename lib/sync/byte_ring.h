/* SPDX-License-Identifier: GPL-3.0-or-later */
/* byte_ring.h - bounded byte FIFO between one writer and one reader, in which
 * the reader can go back to a mark.
 *
 * The writer never overwrites a byte at or after the reader's mark. The reader
 * reads ahead of the mark with its own cursor; byte_ring_mark() gives the
 * bytes before the cursor back to the writer, byte_ring_rewind() moves the
 * cursor back to the mark. Invariant: mark <= cursor <= written <= mark +
 * capacity, all free-running 64-bit counters.
 *
 *            | write | read/mark/rewind | init/reset
 *  write     |   X   |        -         |     X       X: outside order needed
 *  read ...  |   -   |        X         |     X       -: none
 *
 * Orders: what was written before a commit is seen by who reads those bytes;
 * what was read before a mark is over before the writer writes there again.
 * Progress: wait-free. Cost: O(1) and no exchange, a load of the other side's
 * line at most; the copies, where there are any, O(bytes).
 * Source: L. Lamport, "Specifying Concurrent Program Modules", TOPLAS 5(2),
 * 1983 (one producer, one consumer, no lock); the mark is ours.
 * RT: all but init are RT_SAFE. Memory: the caller owns buffer and outlives the
 * ring. Units: bytes. Errors: full and empty return 0. */
#ifndef ROTARY_SYNC_BYTE_RING_H
#define ROTARY_SYNC_BYTE_RING_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct byte_ring {
	/* immutable */
	uint8_t *buffer;
	size_t capacity;
	/* written by the writer */
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) written;
	ATOMIC(bool) ended; /* no byte follows the last one written */
	/* written by the reader */
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) mark;
	uint64_t cursor;
};

void byte_ring_init(struct byte_ring *ring, void *buffer, size_t capacity);
/* Empty again, not ended; when neither side runs. */
void byte_ring_reset(struct byte_ring *ring);

/* Writer. The longest writable piece in one run of memory: fill some of it,
 * then commit that many bytes. */
RT_SAFE void *byte_ring_write_span(struct byte_ring *ring, size_t *ret_length);
RT_SAFE void byte_ring_commit(struct byte_ring *ring, size_t length);
RT_SAFE size_t byte_ring_writable(const struct byte_ring *ring);
/* No more bytes will come. */
RT_SAFE void byte_ring_end(struct byte_ring *ring);

/* Reader. Copies up to length bytes from the cursor; returns how many. */
RT_SAFE size_t byte_ring_read(struct byte_ring *ring, void *ret_bytes,
			      size_t length);
/* The longest readable piece at the cursor in one run of memory. */
RT_SAFE const void *byte_ring_read_span(const struct byte_ring *ring,
					size_t *ret_length);
RT_SAFE void byte_ring_skip(struct byte_ring *ring, size_t length);
RT_SAFE size_t byte_ring_readable(const struct byte_ring *ring);
/* True when the writer has ended and the cursor stands at the end. */
RT_SAFE bool byte_ring_at_end(const struct byte_ring *ring);
RT_SAFE void byte_ring_mark(struct byte_ring *ring);
RT_SAFE void byte_ring_rewind(struct byte_ring *ring);
/* Bytes between mark and cursor: what a rewind would give again. */
RT_SAFE size_t byte_ring_marked(const struct byte_ring *ring);

#endif

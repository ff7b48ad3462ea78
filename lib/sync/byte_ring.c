/* SPDX-License-Identifier: GPL-3.0-or-later */
/* byte_ring.c - three free-running counters: a byte with number n lies at
 * buffer[n % capacity].
 *
 *   mark <= cursor <= written <= mark + capacity
 *
 * Ordering: the writer's release store of `written` makes the bytes before it
 * visible to the reader's acquire load; the reader's release store of `mark`
 * ends its reads of the bytes before it, which the writer's acquire load of
 * `mark` sees before it overwrites them. `ended` is stored after the last
 * `written`, and the reader looks at it first: an end that is seen covers all
 * bytes. The cursor is the reader's own. */
#include "lib/sync/byte_ring.h"

#include <assert.h>
#include <string.h>

_Static_assert(offsetof(struct byte_ring, written) % CACHE_LINE == 0 &&
		       offsetof(struct byte_ring, mark) % CACHE_LINE == 0,
	       "the two sides never share a cache line");

static RT_SAFE size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

void
byte_ring_init(struct byte_ring *ring, void *buffer, size_t capacity)
{
	assert(capacity > 0);
	ring->buffer = buffer;
	ring->capacity = capacity;
	byte_ring_reset(ring);
}

void
byte_ring_reset(struct byte_ring *ring)
{
	atomic_store_explicit(&ring->written, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->ended, false, memory_order_relaxed);
	atomic_store_explicit(&ring->mark, 0, memory_order_relaxed);
	ring->cursor = 0;
}

RT_SAFE size_t
byte_ring_writable(const struct byte_ring *ring)
{
	const uint64_t written =
		atomic_load_explicit(&ring->written, memory_order_relaxed);
	const uint64_t mark =
		atomic_load_explicit(&ring->mark, memory_order_acquire);

	return ring->capacity - (size_t)(written - mark);
}

RT_SAFE void *
byte_ring_write_span(struct byte_ring *ring, size_t *ret_length)
{
	const uint64_t written =
		atomic_load_explicit(&ring->written, memory_order_relaxed);
	const size_t offset = (size_t)(written % ring->capacity);

	*ret_length =
		smaller(byte_ring_writable(ring), ring->capacity - offset);
	return ring->buffer + offset;
}

RT_SAFE void
byte_ring_commit(struct byte_ring *ring, size_t length)
{
	const uint64_t written =
		atomic_load_explicit(&ring->written, memory_order_relaxed);

	assert(length <= byte_ring_writable(ring));
	atomic_store_explicit(&ring->written, written + length,
			      memory_order_release);
}

RT_SAFE void
byte_ring_end(struct byte_ring *ring)
{
	atomic_store_explicit(&ring->ended, true, memory_order_release);
}

RT_SAFE size_t
byte_ring_readable(const struct byte_ring *ring)
{
	const uint64_t written =
		atomic_load_explicit(&ring->written, memory_order_acquire);

	return (size_t)(written - ring->cursor);
}

RT_SAFE const void *
byte_ring_read_span(const struct byte_ring *ring, size_t *ret_length)
{
	const size_t offset = (size_t)(ring->cursor % ring->capacity);

	*ret_length =
		smaller(byte_ring_readable(ring), ring->capacity - offset);
	return ring->buffer + offset;
}

RT_SAFE void
byte_ring_skip(struct byte_ring *ring, size_t length)
{
	assert(length <= byte_ring_readable(ring));
	ring->cursor += length;
}

RT_SAFE size_t
byte_ring_read(struct byte_ring *ring, void *ret_bytes, size_t length)
{
	const size_t wanted = smaller(length, byte_ring_readable(ring));
	const size_t offset = (size_t)(ring->cursor % ring->capacity);
	const size_t first = smaller(wanted, ring->capacity - offset);

	if (wanted == 0)
		return 0;
	memcpy(ret_bytes, ring->buffer + offset, first);
	memcpy((uint8_t *)ret_bytes + first, ring->buffer, wanted - first);
	ring->cursor += wanted;
	return wanted;
}

RT_SAFE bool
byte_ring_at_end(const struct byte_ring *ring)
{
	return atomic_load_explicit(&ring->ended, memory_order_acquire) &&
	       byte_ring_readable(ring) == 0;
}

RT_SAFE void
byte_ring_mark(struct byte_ring *ring)
{
	atomic_store_explicit(&ring->mark, ring->cursor, memory_order_release);
}

RT_SAFE void
byte_ring_rewind(struct byte_ring *ring)
{
	ring->cursor = atomic_load_explicit(&ring->mark, memory_order_relaxed);
}

RT_SAFE size_t
byte_ring_marked(const struct byte_ring *ring)
{
	return (size_t)(ring->cursor -
			atomic_load_explicit(&ring->mark,
					     memory_order_relaxed));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queue.c - record number n lies in cell n % capacity. The cell's sequence
 * number tells what it is ready for:
 *
 *   2n      free for record n
 *   2n + 1  holds record n
 *
 * The consumer leaves it at 2(n + capacity). (Doubled, so that a queue of one
 * cell can tell "holds 0" from "free for 1".)
 *
 * Ordering: a producer owns the cell from its compare-exchange of the tail to
 * its release store of the sequence, which the consumer's acquire load pairs
 * with; the same the other way round for reuse. The tail itself orders nothing.
 * A producer that sees an older sequence than its number looks at a cell whose
 * previous record was not taken: the queue is full. */
#include "lib/sync/queue.h"

#include "lib/base/alloc.h"

#include <assert.h>
#include <string.h>

struct queue_cell {
	ATOMIC(uint64_t) sequence;
	unsigned char record[];
};

struct queue {
	/* immutable */
	struct allocator *allocator;
	unsigned char *cells;
	size_t cell_bytes;
	size_t record_bytes;
	uint64_t mask;
	/* the producers fight for it */
	ALIGNED(2 * CACHE_LINE) ATOMIC(uint64_t) tail;
	ATOMIC(uint64_t) dropped;
	/* the consumer's own */
	ALIGNED(2 * CACHE_LINE) uint64_t head;
};

_Static_assert(offsetof(struct queue, tail) % CACHE_LINE == 0 &&
		       offsetof(struct queue, head) % CACHE_LINE == 0,
	       "the two sides never share a cache line");

static RT_SAFE struct queue_cell *
cell_of(const struct queue *queue, uint64_t number)
{
	const size_t index = (size_t)(number & queue->mask);

	return (void *)(queue->cells + index * queue->cell_bytes);
}

struct queue *
queue_create(struct allocator *allocator, size_t capacity, size_t record_bytes)
{
	const size_t align = _Alignof(struct queue_cell);
	const size_t cell_bytes =
		(sizeof(struct queue_cell) + record_bytes + align - 1) / align *
		align;
	struct queue *queue = NULL;
	uint64_t i = 0;

	assert(capacity > 0 && (capacity & (capacity - 1)) == 0);
	if (cell_bytes < record_bytes || capacity > SIZE_MAX / cell_bytes)
		return NULL;
	queue = allocator_new_aligned(allocator, sizeof(*queue),
				      _Alignof(struct queue));
	if (queue == NULL)
		return NULL;
	queue->allocator = allocator;
	queue->cell_bytes = cell_bytes;
	queue->record_bytes = record_bytes;
	queue->mask = capacity - 1;
	queue->cells = allocator_new_aligned(allocator, capacity * cell_bytes,
					     CACHE_LINE);
	if (queue->cells == NULL) {
		allocator_delete(allocator, queue);
		return NULL;
	}
	for (i = 0; i < capacity; i++)
		atomic_init(&cell_of(queue, i)->sequence, 2 * i);
	return queue;
}

void
queue_destroy(struct queue *queue)
{
	if (queue == NULL)
		return;
	allocator_delete(queue->allocator, queue->cells);
	allocator_delete(queue->allocator, queue);
}

RT_SAFE bool
queue_push(struct queue *queue, const void *record)
{
	uint64_t number =
		atomic_load_explicit(&queue->tail, memory_order_relaxed);
	struct queue_cell *cell = NULL;

	for (;;) {
		int64_t ahead = 0;

		cell = cell_of(queue, number);
		ahead = (int64_t)(atomic_load_explicit(&cell->sequence,
						       memory_order_acquire) -
				  2 * number);
		if (ahead < 0) {
			atomic_fetch_add_explicit(&queue->dropped, 1,
						  memory_order_relaxed);
			return false;
		}
		if (ahead > 0)
			number = atomic_load_explicit(&queue->tail,
						      memory_order_relaxed);
		else if (atomic_compare_exchange_weak_explicit(
				 &queue->tail, &number, number + 1,
				 memory_order_relaxed, memory_order_relaxed))
			break;
	}
	memcpy(cell->record, record, queue->record_bytes);
	atomic_store_explicit(&cell->sequence, 2 * number + 1,
			      memory_order_release);
	return true;
}

RT_SAFE bool
queue_pop(struct queue *queue, void *ret_record)
{
	const uint64_t number = queue->head;
	struct queue_cell *cell = cell_of(queue, number);

	if (atomic_load_explicit(&cell->sequence, memory_order_acquire) !=
	    2 * number + 1)
		return false;
	memcpy(ret_record, cell->record, queue->record_bytes);
	atomic_store_explicit(&cell->sequence, 2 * (number + queue->mask + 1),
			      memory_order_release);
	queue->head = number + 1;
	return true;
}

RT_SAFE uint64_t
queue_dropped(const struct queue *queue)
{
	return atomic_load_explicit(&queue->dropped, memory_order_relaxed);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queue.h - bounded lock-free queue of fixed-size records: many producers, one
 * consumer.
 *
 * Each cell carries a sequence number; a producer claims a cell by a
 * compare-exchange of the tail, the consumer takes cells in order (after
 * D. Vyukov's bounded queue, 1024cores.net). Full: the record is refused and
 * counted; the newest is lost, never an older one.
 *
 *         | push | pop
 *  push   |  -   |  -      X: outside order needed, -: none
 *  pop    |  -   |  X
 *
 * Progress: push is lock-free, pop wait-free; a producer stopped between claim
 * and publication delays later records but never another producer.
 * Orders: what came before a push is seen by who pops that record; records of
 * one producer come out in its order.
 * Cost: push one compare-exchange (again for each producer that came between)
 * and a copy; pop a copy, no exchange. No two cells' producers wait for a lock.
 * RT: push and pop are RT_SAFE. Memory: one block, at creation. */
#ifndef ROTARY_SYNC_QUEUE_H
#define ROTARY_SYNC_QUEUE_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct allocator;
struct queue;

/* capacity (a power of two) records of record_bytes each. NULL: no memory. */
NODISCARD struct queue *queue_create(struct allocator *allocator,
				     size_t capacity, size_t record_bytes);
void queue_destroy(struct queue *queue);

RT_SAFE bool queue_push(struct queue *queue, const void *record);
RT_SAFE bool queue_pop(struct queue *queue, void *ret_record);
/* Records refused since the start. */
RT_SAFE uint64_t queue_dropped(const struct queue *queue);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* order.c - random mode: which song comes next, which one came before.
 *
 * A song is drawn by trying random positions until one has not been played in
 * this round; when that fails DRAWS times, few are left, and one pass over the
 * queue finds them. Priorities need the pass at once, since only those of the
 * highest are to be drawn from; queues without priorities never pay for it.
 *
 * When a round is over and repeat is on, the next one begins with the song
 * that is planned then (planned_round): it is never the one that is playing,
 * unless there is no other. Should repeat be turned off before that song
 * begins, nothing follows.
 *
 * After "previous" the songs behind the current one are played again in their
 * order, as in a list. Ids that left the queue are skipped where they are met,
 * and thrown out when the list is twice as long as the queue. */
#include "daemon/player/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 48, SMALL_QUEUE = 64, SPARE_IDS = 256 };

void
order_finish(struct order *order)
{
	free(order->ids);
	id_map_finish(&order->played);
	*order = (struct order){0};
}

static int
append(struct order *order, uint32_t id)
{
	uint32_t *ids = NULL;
	size_t capacity = 0;

	if (order->length == order->capacity) {
		capacity = order->capacity == 0 ? 16 : order->capacity * 2;
		ids = realloc(order->ids, capacity * sizeof(*ids));
		if (ids == NULL)
			return -ENOMEM;
		order->ids = ids;
		order->capacity = capacity;
	}
	order->ids[order->length++] = id;
	return 0;
}

void
order_begin(struct order *order, const struct play_queue *queue,
	    uint32_t current)
{
	order->length = 0;
	order->done = 0;
	order->planned_round = false;
	id_map_clear(&order->played);
	if (current != 0)
		order_enter(order, queue, current);
}

/* drawing */

static bool
is_free(const struct order *order, const struct order_draw *draw,
	const struct play_queue_item *item, unsigned current_priority)
{
	uint32_t priority = 0;

	if (id_map_has(draw->failed, item->id))
		return false;
	if (!id_map_get(&order->played, item->id, &priority))
		return true;
	return item->priority > priority && item->priority > current_priority;
}

static unsigned
priority_of(const struct play_queue *queue, uint32_t id)
{
	const int64_t position = play_queue_find(queue, id);

	if (position < 0)
		return 0;
	return play_queue_at(queue, (uint32_t)position)->priority;
}

static uint32_t
current_of(const struct order *order)
{
	return order->done > 0 ? order->ids[order->done - 1] : 0;
}

/* One pass: how many of the highest priority are free, and, when index is in
 * reach, the id of the index-th of them. */
static uint32_t
scan(const struct order *order, const struct order_draw *draw, uint32_t avoid,
     uint32_t index, uint32_t *ret_count)
{
	const uint32_t length = play_queue_length(draw->queue);
	const unsigned current = priority_of(draw->queue, current_of(order));
	unsigned best = 0;
	uint32_t count = 0;
	uint32_t id = 0;

	for (uint32_t i = 0; i < length; i++) {
		const struct play_queue_item *item =
			play_queue_at(draw->queue, i);

		if ((count > 0 && item->priority < best) || item->id == avoid ||
		    !is_free(order, draw, item, current))
			continue;
		if (item->priority > best) {
			best = item->priority;
			count = 0;
		}
		if (count == index)
			id = item->id;
		count++;
	}
	*ret_count = count;
	return id;
}

static uint32_t
draw_by_scan(const struct order *order, const struct order_draw *draw,
	     uint32_t avoid)
{
	uint32_t count = 0;

	(void)scan(order, draw, avoid, 0, &count);
	if (count == 0)
		return 0;
	return scan(order, draw, avoid, draw->random(draw->context, count),
		    &count);
}

static uint32_t
draw_one(const struct order *order, const struct order_draw *draw,
	 uint32_t avoid)
{
	const uint32_t length = play_queue_length(draw->queue);

	if (length > SMALL_QUEUE && play_queue_prioritized(draw->queue) == 0) {
		for (int i = 0; i < DRAWS; i++) {
			const struct play_queue_item *item = play_queue_at(
				draw->queue,
				draw->random(draw->context, length));

			if (item->id != avoid && is_free(order, draw, item, 0))
				return item->id;
		}
	}
	return draw_by_scan(order, draw, avoid);
}

/* the planned song */

static bool
may_still_come(const struct order *order, const struct order_draw *draw,
	       uint32_t id)
{
	uint32_t best = 0;
	uint32_t count = 0;

	if (play_queue_find(draw->queue, id) < 0 ||
	    id_map_has(draw->failed, id))
		return false;
	if (play_queue_prioritized(draw->queue) == 0)
		return true;
	best = scan(order, draw, 0, 0, &count);
	return count == 0 ||
	       priority_of(draw->queue, best) <= priority_of(draw->queue, id);
}

static void
take_back(struct order *order)
{
	memmove(order->ids + order->done, order->ids + order->done + 1,
		(order->length - order->done - 1) * sizeof(*order->ids));
	order->length--;
}

/* Forgets the older half, and what left the queue, of a list that has grown
 * too long. Nothing is planned. */
static void
drop_gone(struct order *order, const struct play_queue *queue)
{
	size_t kept = 0;

	if (order->length < 2 * (size_t)play_queue_length(queue) + SPARE_IDS)
		return;
	for (size_t i = order->length / 2; i < order->length; i++)
		if (i + 1 == order->length ||
		    play_queue_find(queue, order->ids[i]) >= 0)
			order->ids[kept++] = order->ids[i];
	order->length = kept;
	order->done = kept;
}

/* A song that was drawn stands behind the current one, but counts as played
 * only when it begins. */
static uint32_t
plan(struct order *order, uint32_t id)
{
	return id != 0 && append(order, id) == 0 ? id : 0;
}

uint32_t
order_next(struct order *order, const struct order_draw *draw)
{
	uint32_t id = 0;

	while (order->length > order->done) {
		id = order->ids[order->done];
		if (order->planned_round && !draw->repeat)
			return 0;
		if (may_still_come(order, draw, id))
			return id;
		take_back(order);
	}
	drop_gone(order, draw->queue);
	if (order->planned_round && !draw->repeat)
		return 0;
	id = draw_one(order, draw, 0);
	if (id != 0 || !draw->repeat)
		return plan(order, id);
	/* The round is over. */
	id_map_clear(&order->played);
	order->planned_round = true;
	id = draw_one(order, draw, current_of(order));
	if (id == 0)
		id = draw_one(order, draw, 0);
	return plan(order, id);
}

void
order_enter(struct order *order, const struct play_queue *queue, uint32_t id)
{
	if (order->length > order->done && order->ids[order->done] == id) {
		order->done++;
	} else if (current_of(order) == id) {
		return;
	} else {
		order->length = order->done;
		if (append(order, id) == 0)
			order->done = order->length;
	}
	order->planned_round = false;
	if (id_map_set(&order->played, id, priority_of(queue, id)) < 0)
		return; /* it may be drawn twice, no more */
}

uint32_t
order_back(struct order *order, const struct play_queue *queue)
{
	for (size_t i = order->done; i > 1; i--) {
		if (play_queue_find(queue, order->ids[i - 2]) < 0)
			continue;
		order->done = i - 1;
		return order->ids[i - 2];
	}
	return 0;
}

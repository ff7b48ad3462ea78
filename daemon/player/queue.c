/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queue.c (player) - the queue: an array of songs, a table of ids, views.
 *
 * Items. One array in the order of play (queue_view.c). Views share it; a
 * change of what a view can see copies it first. Songs are not counted per
 * copy: the queue holds one reference a song, and what is deleted while views
 * live is kept by the newest of them (queue_view.c), so that a copy is one
 * memcpy.
 *
 * Ids. Counted up from 1 in 31 bits. slots[id & mask] is the position of that
 * id; no two living ids share a slot, because a new id skips taken ones, so a
 * lookup is one read. Shifting a million songs does not touch the table: it
 * widens the range [stale_from, stale_to) of positions whose slots are out of
 * date, which the next lookup of an id renews in one pass over neighbouring
 * memory. Invariant: for each i outside that range slots[items[i].id & mask]
 * == i; a slot is FREE exactly when no living id has it.
 *
 * Versions. Each change takes the next number and writes it into every item
 * that it moved or changed. After 2^31 - 1 they begin again at 1 and all items
 * get version 0, so that an old number is larger than ours and a client reads
 * all again. */
#include "daemon/player/queue.h"

#include "daemon/player/queue_parts.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 64, SLOTS_MAX = 1 << 22 };

static const uint32_t FREE = UINT32_MAX;
static const uint32_t ID_MAX = INT32_MAX;
static const uint32_t VERSION_MAX = INT32_MAX;

struct play_queue *
play_queue_create(void)
{
	struct play_queue *queue = calloc(1, sizeof(*queue));

	if (queue == NULL)
		return NULL;
	queue->self = queue;
	queue->version = 1;
	queue->next_id = 1;
	list_init(&queue->views);
	return queue;
}

void
play_queue_destroy(struct play_queue *queue)
{
	if (queue == NULL)
		return;
	if (queue->array != NULL)
		queue_retire_all(queue);
	free(queue->slots);
	/* The last view to go frees it. */
	queue->closed = true;
	if (list_empty(&queue->views))
		free(queue);
}

uint32_t
play_queue_length(const struct play_queue *queue)
{
	return queue->length;
}

uint32_t
play_queue_version(const struct play_queue *queue)
{
	return queue->version;
}

uint32_t
play_queue_prioritized(const struct play_queue *queue)
{
	return queue->prioritized;
}

const struct play_queue_item *
play_queue_at(const struct play_queue *queue, uint32_t position)
{
	return position < queue->length ? &queue->array->items[position] : NULL;
}

/* ids */

static void
mark_stale(struct play_queue *queue, uint32_t from, uint32_t to)
{
	if (queue->stale_from >= queue->stale_to) {
		queue->stale_from = from;
		queue->stale_to = to;
		return;
	}
	if (from < queue->stale_from)
		queue->stale_from = from;
	if (to > queue->stale_to)
		queue->stale_to = to;
}

static void
renew_slots(struct play_queue *queue)
{
	const uint32_t to = queue->stale_to < queue->length ? queue->stale_to
							    : queue->length;

	for (uint32_t i = queue->stale_from; i < to; i++)
		queue->slots[queue->array->items[i].id & queue->mask] = i;
	queue->stale_from = 0;
	queue->stale_to = 0;
}

int64_t
play_queue_find(const struct play_queue *queue, uint32_t id)
{
	uint32_t position = 0;

	if (id == 0 || queue->length == 0)
		return -ENOENT;
	assert(queue->slots != NULL);
	if (queue->slots[id & queue->mask] == FREE)
		return -ENOENT;
	/* The table is a cache: renewing it changes nothing that is seen. */
	if (queue->stale_from < queue->stale_to)
		renew_slots(queue->self);
	position = queue->slots[id & queue->mask];
	return queue->array->items[position].id == id ? (int64_t)position
						      : -ENOENT;
}

/* Gives the table slots count entries; each id gets a slot of its own, since
 * ids that differ in their low bits still do with one bit more. */
static int
grow_slots(struct play_queue *queue, uint32_t count)
{
	uint32_t *slots = malloc(count * sizeof(*slots));

	if (slots == NULL)
		return -ENOMEM;
	memset(slots, 0xff, count * sizeof(*slots));
	free(queue->slots);
	queue->slots = slots;
	queue->mask = count - 1;
	queue->stale_from = 0;
	queue->stale_to = queue->length;
	renew_slots(queue);
	return 0;
}

/* Finds an id for a new song, and a slot for the id. */
static int
reserve_id(struct play_queue *queue, uint32_t wanted, uint32_t *ret_id)
{
	uint32_t count = queue->slots == NULL ? 0 : queue->mask + 1;
	int error = 0;

	if (wanted > ID_MAX || play_queue_find(queue, wanted) >= 0)
		return -EEXIST;
	/* At most half are taken, so that a free one is near. */
	if (queue->length >= count / 2)
		error = grow_slots(queue, count == 0 ? SLOTS_MIN : count * 2);
	if (wanted != 0) {
		while (error == 0 && queue->slots[wanted & queue->mask] != FREE)
			error = queue->mask + 1 < SLOTS_MAX
					? grow_slots(queue,
						     (queue->mask + 1) * 2)
					: -EEXIST;
		*ret_id = wanted;
		return error;
	}
	if (error < 0)
		return error;
	while (queue->slots[queue->next_id & queue->mask] != FREE)
		queue->next_id =
			queue->next_id == ID_MAX ? 1 : queue->next_id + 1;
	*ret_id = queue->next_id;
	queue->next_id = queue->next_id == ID_MAX ? 1 : queue->next_id + 1;
	return 0;
}

/* changes */

/* The number of the change that begins, once nothing can fail any more. */
static void
begin_version(struct play_queue *queue)
{
	if (queue->version < VERSION_MAX) {
		queue->version++;
		return;
	}
	queue->version = 1;
	for (uint32_t i = 0; i < queue->length; i++)
		queue->array->items[i].version = 0;
}

static void
stamp(struct play_queue *queue, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		queue->array->items[i].version = queue->version;
	mark_stale(queue, from, to);
}

/* What may be written: an array that no view sees. A change of version number
 * that begins again writes everything. */
static int
make_writable(struct play_queue *queue, uint32_t capacity, uint32_t from)
{
	if (queue->version == VERSION_MAX)
		from = 0;
	return queue_array_prepare(queue, capacity, from);
}

int
play_queue_insert(struct play_queue *queue, uint32_t position,
		  struct song *song, uint32_t id, uint32_t *ret_id)
{
	struct play_queue_item *items = NULL;
	uint32_t new_id = 0;
	int error = 0;

	if (position > queue->length)
		return -ERANGE;
	if (queue->length >= QUEUE_SONGS_MAX)
		return -ENOSPC;
	error = make_writable(queue, queue->length + 1, position);
	if (error == 0)
		error = reserve_id(queue, id, &new_id);
	if (error < 0)
		return error;
	begin_version(queue);
	items = queue->array->items;
	memmove(items + position + 1, items + position,
		(queue->length - position) * sizeof(*items));
	items[position] = (struct play_queue_item){
		.song = song_ref(song),
		.id = new_id,
	};
	queue->length++;
	queue->slots[new_id & queue->mask] = position;
	stamp(queue, position, queue->length);
	/* What is put into the gap stands behind the mark. */
	if (queue->has_mark && position < queue->mark + (queue->mark_id != 0))
		queue->mark++;
	if (ret_id != NULL)
		*ret_id = new_id;
	return 0;
}

static void
move_mark_for_delete(struct play_queue *queue, uint32_t from, uint32_t to)
{
	if (!queue->has_mark || queue->mark < from)
		return;
	if (queue->mark >= to) {
		queue->mark -= to - from;
	} else {
		queue->mark = from;
		queue->mark_id = 0;
	}
}

int
play_queue_delete(struct play_queue *queue, uint32_t from, uint32_t to)
{
	struct play_queue_item *items = NULL;
	int error = 0;

	if (from > to || to > queue->length)
		return -ERANGE;
	if (from == to)
		return 0;
	error = make_writable(queue, queue->length, from);
	if (error == 0)
		error = queue_retire(queue, from, to);
	if (error < 0)
		return error;
	begin_version(queue);
	items = queue->array->items;
	for (uint32_t i = from; i < to; i++) {
		queue->slots[items[i].id & queue->mask] = FREE;
		queue->prioritized -= items[i].priority > 0;
	}
	memmove(items + from, items + to,
		(queue->length - to) * sizeof(*items));
	queue->length -= to - from;
	stamp(queue, from, queue->length);
	move_mark_for_delete(queue, from, to);
	queue_array_shrink(queue);
	return 0;
}

static void
reverse(struct play_queue_item *items, uint32_t from, uint32_t to)
{
	while (from + 1 < to) {
		const struct play_queue_item item = items[from];

		items[from++] = items[--to];
		items[to] = item;
	}
}

/* The mark follows its song; one that stands in a gap stays before the song
 * that it stood before, so that is followed instead. */
static uint32_t
mark_anchor(const struct play_queue *queue)
{
	const struct play_queue_item *item = NULL;

	if (!queue->has_mark)
		return 0;
	item = play_queue_at(queue, queue->mark);
	return item == NULL ? 0 : item->id;
}

static void
mark_return(struct play_queue *queue, uint32_t anchor)
{
	if (anchor != 0)
		queue->mark = (uint32_t)play_queue_find(queue, anchor);
}

int
play_queue_move(struct play_queue *queue, uint32_t from, uint32_t to,
		uint32_t target)
{
	const uint32_t anchor = mark_anchor(queue);
	uint32_t first = 0;
	uint32_t middle = 0;
	uint32_t last = 0;
	int error = 0;

	if (from > to || to > queue->length ||
	    target > queue->length - (to - from))
		return -ERANGE;
	if (from == to || from == target)
		return 0;
	/* Two neighbouring blocks change places: [first, middle) and [middle,
	 * last), by three reversals, without memory. */
	first = target < from ? target : from;
	middle = target < from ? from : to;
	last = target < from ? to : target + (to - from);
	error = make_writable(queue, queue->length, first);
	if (error < 0)
		return error;
	begin_version(queue);
	reverse(queue->array->items, first, middle);
	reverse(queue->array->items, middle, last);
	reverse(queue->array->items, first, last);
	stamp(queue, first, last);
	mark_return(queue, anchor);
	return 0;
}

static void
exchange(struct play_queue *queue, uint32_t a, uint32_t b)
{
	struct play_queue_item *items = queue->array->items;
	const struct play_queue_item item = items[a];

	items[a] = items[b];
	items[b] = item;
}

int
play_queue_swap(struct play_queue *queue, uint32_t a, uint32_t b)
{
	const uint32_t anchor = mark_anchor(queue);
	int error = 0;

	if (a >= queue->length || b >= queue->length)
		return -ERANGE;
	if (a == b)
		return 0;
	error = make_writable(queue, queue->length, a < b ? a : b);
	if (error < 0)
		return error;
	begin_version(queue);
	exchange(queue, a, b);
	queue->array->items[a].version = queue->version;
	queue->array->items[b].version = queue->version;
	queue->slots[queue->array->items[a].id & queue->mask] = a;
	queue->slots[queue->array->items[b].id & queue->mask] = b;
	mark_return(queue, anchor);
	return 0;
}

int
play_queue_shuffle(struct play_queue *queue, uint32_t from, uint32_t to,
		   uint32_t (*random)(void *context, uint32_t below),
		   void *context)
{
	const uint32_t anchor = mark_anchor(queue);
	int error = 0;

	if (from > to || to > queue->length)
		return -ERANGE;
	if (to - from < 2)
		return 0;
	error = make_writable(queue, queue->length, from);
	if (error < 0)
		return error;
	begin_version(queue);
	for (uint32_t left = to - from; left > 1; left--)
		exchange(queue, from + left - 1, from + random(context, left));
	stamp(queue, from, to);
	mark_return(queue, anchor);
	return 0;
}

int
play_queue_set_priority(struct play_queue *queue, uint32_t from, uint32_t to,
			uint8_t priority)
{
	uint32_t first = from;
	int error = 0;

	if (from > to || to > queue->length)
		return -ERANGE;
	while (first < to && queue->array->items[first].priority == priority)
		first++;
	if (first == to)
		return 0;
	error = make_writable(queue, queue->length, first);
	if (error < 0)
		return error;
	begin_version(queue);
	for (uint32_t i = first; i < to; i++) {
		struct play_queue_item *item = &queue->array->items[i];

		if (item->priority == priority)
			continue;
		queue->prioritized -= item->priority > 0;
		queue->prioritized += priority > 0;
		item->priority = priority;
		item->version = queue->version;
	}
	return 0;
}

void
play_queue_clear(struct play_queue *queue)
{
	if (queue->length == 0)
		return;
	queue_retire_all(queue);
	queue->length = 0;
	queue->prioritized = 0;
	queue->stale_from = 0;
	queue->stale_to = 0;
	begin_version(queue);
	free(queue->slots);
	queue->slots = NULL;
	queue->mask = 0;
	queue->mark = 0;
	queue->mark_id = 0;
}

void
play_queue_set_mark(struct play_queue *queue, uint32_t id)
{
	const int64_t position = play_queue_find(queue, id);

	queue->has_mark = position >= 0;
	queue->mark = queue->has_mark ? (uint32_t)position : 0;
	queue->mark_id = queue->has_mark ? id : 0;
}

int64_t
play_queue_mark(const struct play_queue *queue)
{
	return queue->has_mark ? (int64_t)queue->mark : -ENOENT;
}

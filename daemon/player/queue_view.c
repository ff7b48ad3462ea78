/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queue_view.c - frozen copies of the queue that cost nothing until it changes.
 *
 * A view shares the queue's array. The queue copies the array before it writes
 * below the longest length that a view was taken at (array->seen); appending
 * behind that needs no copy.
 *
 * Songs are counted once for the queue, never per view. A song that leaves the
 * queue while views live goes into an estate of the newest view; a view that
 * ends hands its estates to the next older one, which may still see those
 * songs; the oldest gives them up. So a song lives as long as any view that
 * was taken while it was queued.
 *
 * A clear must not fail, and so needs no memory: the estate for it is
 * allocated together with the array. */
#include "daemon/player/queue_parts.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_MIN = 64 };

struct play_queue_view {
	struct list link;
	struct play_queue *queue;
	struct queue_array *array; /* NULL: empty */
	struct queue_estate *estates;
	uint32_t references;
	uint32_t length;
	uint32_t version;
};

/* arrays */

static struct queue_array *
array_create(uint32_t capacity)
{
	struct queue_array *array = malloc(
		sizeof(*array) + (size_t)capacity * sizeof(array->items[0]));

	if (array == NULL)
		return NULL;
	array->estate = malloc(sizeof(*array->estate));
	if (array->estate == NULL) {
		free(array);
		return NULL;
	}
	array->references = 1;
	array->capacity = capacity;
	array->seen = 0;
	return array;
}

static void
array_unref(struct queue_array *array)
{
	if (array == NULL || --array->references > 0)
		return;
	free(array->estate);
	free(array);
}

static uint32_t
grown_capacity(uint32_t capacity, uint32_t wanted)
{
	const uint32_t more = capacity + capacity / 2;

	if (wanted <= capacity)
		return wanted < CAPACITY_MIN ? CAPACITY_MIN : wanted;
	return more < wanted ? wanted : more;
}

int
queue_array_prepare(struct play_queue *queue, uint32_t capacity, uint32_t from)
{
	struct queue_array *old = queue->array;
	struct queue_array *array = NULL;

	if (old == NULL) {
		array = array_create(grown_capacity(CAPACITY_MIN, capacity));
		if (array == NULL)
			return -ENOMEM;
		queue->array = array;
		return 0;
	}
	if (old->references == 1)
		old->seen = 0;
	if (capacity <= old->capacity && from >= old->seen)
		return 0;
	capacity = grown_capacity(old->capacity, capacity);
	if (old->references == 1) {
		array = realloc(old, sizeof(*array) +
					     (size_t)capacity *
						     sizeof(array->items[0]));
		if (array == NULL)
			return -ENOMEM;
		array->capacity = capacity;
	} else {
		array = array_create(capacity);
		if (array == NULL)
			return -ENOMEM;
		memcpy(array->items, old->items,
		       queue->length * sizeof(array->items[0]));
		array_unref(old);
	}
	queue->array = array;
	return 0;
}

void
queue_array_shrink(struct play_queue *queue)
{
	struct queue_array *old = queue->array;
	struct queue_array *array = NULL;
	const uint32_t capacity = queue->length + queue->length / 2;

	if (old == NULL || old->references > 1 ||
	    old->capacity <= CAPACITY_MIN || old->capacity / 4 < queue->length)
		return;
	array = realloc(old, sizeof(*array) + (size_t)(capacity < CAPACITY_MIN
							       ? CAPACITY_MIN
							       : capacity) *
						      sizeof(array->items[0]));
	if (array == NULL)
		return;
	array->capacity = capacity < CAPACITY_MIN ? CAPACITY_MIN : capacity;
	queue->array = array;
}

/* estates */

static void
estates_give_up(struct queue_estate *estate)
{
	while (estate != NULL) {
		struct queue_estate *next = estate->next;
		struct queue_array *array = estate->array;

		for (uint32_t i = 0; i < estate->count; i++)
			song_unref(array == NULL ? estate->songs[i]
						 : array->items[i].song);
		if (array == NULL)
			free(estate);
		else
			array_unref(array);
		estate = next;
	}
}

static struct play_queue_view *
newest_view(struct play_queue *queue)
{
	if (list_empty(&queue->views))
		return NULL;
	return list_entry(queue->views.prev, struct play_queue_view, link);
}

int
queue_retire(struct play_queue *queue, uint32_t from, uint32_t to)
{
	const struct play_queue_item *items = queue->array->items;
	struct play_queue_view *view = newest_view(queue);
	struct queue_estate *estate = NULL;

	if (view == NULL) {
		for (uint32_t i = from; i < to; i++)
			song_unref(items[i].song);
		return 0;
	}
	estate = malloc(sizeof(*estate) +
			(to - from) * sizeof(estate->songs[0]));
	if (estate == NULL)
		return -ENOMEM;
	estate->array = NULL;
	estate->count = to - from;
	for (uint32_t i = from; i < to; i++)
		estate->songs[i - from] = items[i].song;
	estate->next = view->estates;
	view->estates = estate;
	return 0;
}

void
queue_retire_all(struct play_queue *queue)
{
	struct play_queue_view *view = newest_view(queue);
	struct queue_estate *estate = queue->array->estate;

	/* The queue's reference to the array becomes the estate's. */
	estate->array = queue->array;
	estate->count = queue->length;
	estate->next = NULL;
	queue->array = NULL;
	if (view == NULL) {
		estates_give_up(estate);
	} else {
		estate->next = view->estates;
		view->estates = estate;
	}
}

/* views */

struct play_queue_view *
play_queue_view(struct play_queue *queue)
{
	struct play_queue_view *view = newest_view(queue);

	if (view != NULL && view->version == queue->version) {
		view->references++;
		return view;
	}
	view = calloc(1, sizeof(*view));
	if (view == NULL)
		return NULL;
	view->queue = queue;
	view->references = 1;
	view->length = queue->length;
	view->version = queue->version;
	view->array = queue->array;
	if (view->array != NULL) {
		view->array->references++;
		if (view->array->seen < view->length)
			view->array->seen = view->length;
	}
	assert(queue->views.prev != NULL);
	list_append(&queue->views, &view->link);
	return view;
}

static void
estates_hand_over(struct play_queue_view *view)
{
	struct list *older = view->link.prev;
	struct queue_estate **end = NULL;

	if (older == &view->queue->views) {
		estates_give_up(view->estates);
		return;
	}
	end = &view->estates;
	while (*end != NULL)
		end = &(*end)->next;
	*end = list_entry(older, struct play_queue_view, link)->estates;
	list_entry(older, struct play_queue_view, link)->estates =
		view->estates;
}

void
play_queue_view_unref(struct play_queue_view *view)
{
	struct play_queue *queue = NULL;

	if (view == NULL || --view->references > 0)
		return;
	queue = view->queue;
	estates_hand_over(view);
	list_remove(&view->link);
	array_unref(view->array);
	free(view);
	if (queue->closed && list_empty(&queue->views))
		free(queue);
}

uint32_t
play_queue_view_length(const struct play_queue_view *view)
{
	return view->length;
}

uint32_t
play_queue_view_version(const struct play_queue_view *view)
{
	return view->version;
}

const struct play_queue_item *
play_queue_view_at(const struct play_queue_view *view, uint32_t position)
{
	return position < view->length ? &view->array->items[position] : NULL;
}

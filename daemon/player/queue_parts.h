/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queue_parts.h - what queue.c and queue_view.c share: the array of items and
 * who sees it. Threads: control; a view's array is read by any. */
#ifndef ROTARY_PLAYER_QUEUE_PARTS_H
#define ROTARY_PLAYER_QUEUE_PARTS_H

#include "daemon/player/queue.h"
#include "lib/base/list.h"

struct queue_array;

/* Songs that left the queue while views could still see them: either a list of
 * its own, or all of an array that was cleared. */
struct queue_estate {
	struct queue_estate *next;
	struct queue_array *array; /* NULL: songs[] */
	uint32_t count;
	struct song *songs[];
};

struct queue_array {
	uint32_t references; /* the queue, views, an estate */
	uint32_t capacity;
	uint32_t seen;               /* the longest view's length */
	struct queue_estate *estate; /* room for one, used by a clear */
	struct play_queue_item items[];
};

struct play_queue {
	struct play_queue *self; /* for a cache behind a const pointer */
	struct queue_array *array;
	uint32_t length;
	uint32_t version;
	uint32_t prioritized;
	/* ids, see queue.c */
	uint32_t *slots;
	uint32_t mask;
	uint32_t next_id;
	uint32_t stale_from, stale_to;
	/* the mark; mark_id 0: in the gap that its song left */
	bool has_mark;
	uint32_t mark;
	uint32_t mark_id;
	struct list views; /* oldest first */
	bool closed;       /* destroyed, but views live */
};

/* Makes the array hold capacity items, of which those from from on may be
 * written. 0, -ENOMEM (nothing changed). */
NODISCARD int queue_array_prepare(struct play_queue *queue, uint32_t capacity,
				  uint32_t from);
/* Gives memory back after a large delete. */
void queue_array_shrink(struct play_queue *queue);

/* The songs of [from, to) leave the queue: given up now, or kept for the views
 * that see them. 0, -ENOMEM (nothing changed). */
NODISCARD int queue_retire(struct play_queue *queue, uint32_t from,
			   uint32_t to);
/* All songs and the array leave the queue; cannot fail. */
void queue_retire_all(struct play_queue *queue);

#endif

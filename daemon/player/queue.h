/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queue.h (player) - the songs to be played, in order, with ids and versions.
 *
 * Positions count from 0; ids are positive and not used again soon. Each
 * change raises the version (31 bits, from 1) and marks the positions that it
 * touched, which is what plchanges asks for. A view is a cheap frozen copy,
 * for replies that are produced while the client reads.
 * Threads: control. Errors: -ENOENT (no such id), -ERANGE (bad position),
 * -ENOSPC (QUEUE_SONGS_MAX), -ENOMEM; on error nothing has changed. */
#ifndef ROTARY_PLAYER_QUEUE_H
#define ROTARY_PLAYER_QUEUE_H

#include "daemon/library/song.h"
#include "lib/base/attr.h"

#include <stdbool.h>

enum { QUEUE_SONGS_MAX = 1000000 };

struct play_queue;
struct play_queue_view;

struct play_queue_item {
	struct song *song;
	uint32_t id;
	uint32_t version; /* of its last change */
	uint8_t priority;
};

NODISCARD struct play_queue *play_queue_create(void);
void play_queue_destroy(struct play_queue *queue);

uint32_t play_queue_length(const struct play_queue *queue);
uint32_t play_queue_version(const struct play_queue *queue);
const struct play_queue_item *play_queue_at(const struct play_queue *queue,
					    uint32_t position);
/* How many songs have a priority above 0. */
uint32_t play_queue_prioritized(const struct play_queue *queue);
/* Position of an id, or -ENOENT. O(1) on average. */
int64_t play_queue_find(const struct play_queue *queue, uint32_t id);

/* Inserts before position (length: at the end); takes its own reference.
 * id 0: a new one. -EEXIST: that id is taken. */
NODISCARD int play_queue_insert(struct play_queue *queue, uint32_t position,
				struct song *song, uint32_t id,
				uint32_t *ret_id);
/* Half-open range. */
NODISCARD int play_queue_delete(struct play_queue *queue, uint32_t from,
				uint32_t to);
/* Moves [from, to) so that its first song stands at target afterwards. */
NODISCARD int play_queue_move(struct play_queue *queue, uint32_t from,
			      uint32_t to, uint32_t target);
NODISCARD int play_queue_swap(struct play_queue *queue, uint32_t a, uint32_t b);
/* Fisher-Yates with the caller's random numbers. */
NODISCARD int
play_queue_shuffle(struct play_queue *queue, uint32_t from, uint32_t to,
		   uint32_t (*random)(void *context, uint32_t below),
		   void *context);
NODISCARD int play_queue_set_priority(struct play_queue *queue, uint32_t from,
				      uint32_t to, uint8_t priority);
void play_queue_clear(struct play_queue *queue);

/* The mark stays with one song through all changes. When that song is deleted
 * the mark stays in the gap, which is where the song after it then stands; so
 * a player whose song was deleted knows what comes next. id 0: no mark. */
void play_queue_set_mark(struct play_queue *queue, uint32_t id);
/* Position of the mark (of the song after the gap; the length at the end), or
 * -ENOENT without one. */
int64_t play_queue_mark(const struct play_queue *queue);

/* A frozen copy; O(1), shared until the queue changes. NULL: no memory.
 * Taken and given back on control; until then any thread may read it. */
NODISCARD struct play_queue_view *play_queue_view(struct play_queue *queue);
void play_queue_view_unref(struct play_queue_view *view);
uint32_t play_queue_view_length(const struct play_queue_view *view);
uint32_t play_queue_view_version(const struct play_queue_view *view);
const struct play_queue_item *
play_queue_view_at(const struct play_queue_view *view, uint32_t position);

#endif

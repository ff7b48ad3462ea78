/* SPDX-License-Identifier: GPL-3.0-or-later */
/* add.c - songs and folders into the queue.
 *
 *   READING (a walk on workers) -> INSERTING (a piece a step) -> done
 *
 * Nothing is inserted before everything was read, so an error adds nothing. The
 * songs stand together whatever other clients do meanwhile: each piece goes
 * behind the last song of the piece before, as long as that one is still in
 * the queue. */
#include "daemon/server/groups.h"

#include "daemon/player/player.h"
#include "daemon/server/args.h"
#include "daemon/server/reply.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"
#include "daemon/server/uri.h"
#include "daemon/server/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INSERT_STEP = 2048 };

struct add_task {
	struct task base;
	struct walk *walk;
	bool one;       /* addid: a single song, whose id is told */
	char *position; /* as the client wrote it; NULL: at the end */
	struct song **songs;
	size_t count, capacity;
	size_t inserted;
	uint32_t last_id; /* of the last inserted song */
};

static const char *
missing_name(const struct add_task *task)
{
	return task->one ? "No such song" : "No such directory";
}

static int
keep_song(struct add_task *task, struct song *song)
{
	if (task->count == QUEUE_SONGS_MAX)
		return -ENOSPC;
	if (task->count == task->capacity) {
		const size_t capacity =
			task->capacity > 0 ? task->capacity * 2 : 16;
		struct song **songs =
			realloc(task->songs, capacity * sizeof(task->songs[0]));

		if (songs == NULL)
			return -ENOMEM;
		task->songs = songs;
		task->capacity = capacity;
	}
	task->songs[task->count++] = song_ref(song);
	return 0;
}

/* Where the next piece goes; false: ACK written. */
static bool
find_place(struct add_task *task, struct session *session,
	   uint32_t *ret_position)
{
	const struct play_queue *queue = session->server->links.queue;
	int64_t last = 0;

	*ret_position = play_queue_length(queue);
	if (task->inserted == 0)
		return task->position == NULL ||
		       arg_insert_position(session, task->position,
					   ret_position);
	last = play_queue_find(queue, task->last_id);
	if (last >= 0)
		*ret_position = (uint32_t)last + 1;
	return true;
}

static enum task_result
insert_piece(struct add_task *task, struct session *session)
{
	struct play_queue *queue = session->server->links.queue;
	uint32_t position = 0;
	size_t end = task->inserted + INSERT_STEP;
	int r = 0;

	if (!find_place(task, session, &position))
		return TASK_ERROR;
	if (task->inserted == 0 &&
	    task->count > QUEUE_SONGS_MAX - play_queue_length(queue))
		r = -ENOSPC;
	if (end > task->count)
		end = task->count;
	while (r == 0 && task->inserted < end) {
		r = play_queue_insert(queue, position++,
				      task->songs[task->inserted], 0,
				      &task->last_id);
		task->inserted += r == 0;
	}
	player_queue_changed(session->server->links.player);
	if (r < 0) {
		arg_queue_result(session, r);
		return TASK_ERROR;
	}
	if (task->inserted < task->count)
		return TASK_MORE;
	if (task->one)
		reply_int(&session->out, "Id", task->last_id);
	return TASK_DONE;
}

static enum task_result
add_task_step(struct task *base, struct session *session)
{
	struct add_task *task = (struct add_task *)base;
	const struct walk_item *item = NULL;
	int r = 0;

	while (r == 0) {
		switch (walk_next(task->walk, &item)) {
		case WALK_ITEM:
			if (item->song != NULL)
				r = keep_song(task, item->song);
			break;
		case WALK_WAIT:
			return TASK_WAIT;
		case WALK_END:
			return task->count > 0 ? insert_piece(task, session)
					       : TASK_DONE;
		case WALK_FAILED:
			uri_ack(session, walk_error(task->walk),
				missing_name(task));
			return TASK_ERROR;
		}
	}
	arg_queue_result(session, r);
	return TASK_ERROR;
}

static void
add_task_destroy(struct task *base)
{
	struct add_task *task = (struct add_task *)base;
	size_t i = 0;

	walk_destroy(task->walk);
	for (i = 0; i < task->count; i++)
		song_unref(task->songs[i]);
	free(task->songs);
	free(task->position);
	free(task);
}

static const struct task_ops add_task_ops = {add_task_step, add_task_destroy};

static void
wake_session(void *context)
{
	session_wake(context);
}

/* 0, -ENOMEM. */
static int
start_walk(struct add_task *task, struct session *session, const char *uri)
{
	const struct walk_request request = {
		.work = session->server->links.work,
		.root = &session->server->music,
		.uri = uri,
		.uid = session->uid,
		.what = task->one ? WALK_ONLY_SONG : WALK_ANY,
		.recursive = !task->one,
		.tags = true,
	};

	task->walk = walk_create(&request, wake_session, session);
	return task->walk == NULL ? -ENOMEM : 0;
}

static enum command_result
add(struct session *session, const struct request *request, bool one)
{
	struct add_task *task = calloc(1, sizeof(*task));
	const char *position = request->count > 1 ? request->args[1] : NULL;
	uint32_t checked = 0;
	char *uri = NULL;

	if (task == NULL)
		return session_no_memory(session);
	task->base.ops = &add_task_ops;
	task->one = one;
	if (position != NULL &&
	    !arg_insert_position(session, position, &checked)) {
		free(task);
		return COMMAND_ERROR;
	}
	uri = uri_argument(session, request->args[0], missing_name(task));
	if (uri == NULL) {
		free(task);
		return COMMAND_ERROR;
	}
	if (position != NULL)
		task->position = strdup(position);
	if ((position != NULL && task->position == NULL) ||
	    start_walk(task, session, uri) < 0) {
		add_task_destroy(&task->base);
		free(uri);
		return session_no_memory(session);
	}
	free(uri);
	return session_start(session, &task->base);
}

enum command_result
add_add(struct session *session, const struct request *request)
{
	return add(session, request, false);
}

enum command_result
add_addid(struct session *session, const struct request *request)
{
	return add(session, request, true);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queue_list.c - the queue's songs as answers, made while the client reads.
 *
 * An answer is made from a frozen view, so that it is whole and of one version
 * whatever happens to the queue meanwhile. */
#include "daemon/server/groups.h"

#include "daemon/player/queue.h"
#include "daemon/server/args.h"
#include "daemon/server/reply.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum list_form { FORM_SONG, FORM_POSITION, FORM_OLD };

/* Positions looked at in one step, whether they are told or not. */
enum { STEP_POSITIONS = 4096 };

struct queue_task {
	struct task base;
	struct play_queue_view *view;
	enum list_form form;
	uint32_t at, end;
	int64_t since; /* only what has changed after this version; -1: all */
};

static void
add_item(struct session *session, enum list_form form,
	 const struct play_queue_item *item, uint32_t position)
{
	struct text *out = &session->out;
	char name[32];

	switch (form) {
	case FORM_SONG:
		reply_queue_song(out, item, position, session->tags);
		break;
	case FORM_POSITION:
		reply_int(out, "cpos", position);
		reply_int(out, "Id", item->id);
		break;
	case FORM_OLD:
		snprintf(name, sizeof(name), "%" PRIu32 ":file", position);
		reply_add(out, name, song_uri(item->song));
		break;
	}
}

static enum task_result
queue_task_step(struct task *base, struct session *session)
{
	struct queue_task *task = (struct queue_task *)base;
	const size_t before = session->out.length;
	uint32_t looked = 0;

	for (looked = 0; task->at < task->end; looked++, task->at++) {
		const struct play_queue_item *item =
			play_queue_view_at(task->view, task->at);

		if (looked == STEP_POSITIONS ||
		    session_step_full(session, before))
			return TASK_MORE;
		if (item->version > task->since)
			add_item(session, task->form, item, task->at);
	}
	return TASK_DONE;
}

static void
queue_task_destroy(struct task *base)
{
	struct queue_task *task = (struct queue_task *)base;

	play_queue_view_unref(task->view);
	free(task);
}

static const struct task_ops queue_task_ops = {queue_task_step,
					       queue_task_destroy};

static enum command_result
list_queue(struct session *session, enum list_form form,
	   const struct range *range, int64_t since)
{
	struct queue_task *task = calloc(1, sizeof(*task));

	if (task == NULL)
		return session_no_memory(session);
	task->base.ops = &queue_task_ops;
	task->view = play_queue_view(session->server->links.queue);
	task->form = form;
	task->at = range->from;
	task->end = range->to;
	task->since = since;
	if (task->view == NULL) {
		free(task);
		return session_no_memory(session);
	}
	return session_start(session, &task->base);
}

static struct range
whole_queue(const struct session *session)
{
	return (struct range){0,
			      play_queue_length(session->server->links.queue)};
}

enum command_result
queue_playlistinfo(struct session *session, const struct request *request)
{
	struct range range = whole_queue(session);

	if (request->count > 0 &&
	    !arg_queue_range(session, request->args[0], &range))
		return COMMAND_ERROR;
	return list_queue(session, FORM_SONG, &range, -1);
}

enum command_result
queue_playlistid(struct session *session, const struct request *request)
{
	const struct play_queue *queue = session->server->links.queue;
	uint32_t position = 0;

	if (request->count == 0 || strcmp(request->args[0], "-1") == 0) {
		const struct range range = whole_queue(session);

		return list_queue(session, FORM_SONG, &range, -1);
	}
	if (!arg_song_id(session, request->args[0], &position))
		return COMMAND_ERROR;
	reply_queue_song(&session->out, play_queue_at(queue, position),
			 position, session->tags);
	return COMMAND_OK;
}

enum command_result
queue_playlist(struct session *session, const struct request *request)
{
	const struct range range = whole_queue(session);

	(void)request;
	return list_queue(session, FORM_OLD, &range, -1);
}

static enum command_result
list_changes(struct session *session, const struct request *request,
	     enum list_form form)
{
	const struct play_queue *queue = session->server->links.queue;
	struct range range = whole_queue(session);
	const uint32_t length = range.to;
	int64_t since = 0;

	if (!arg_int(session, request->args[0], -1, UINT32_MAX, &since))
		return COMMAND_ERROR;
	if (request->count > 1) {
		if (!arg_range(session, request->args[1], &range))
			return COMMAND_ERROR;
		if (range.to > length)
			range.to = length;
		if (range.from > range.to)
			range.from = range.to;
	}
	/* A version that we have not come to is another life's. */
	if (since == 0 || since > play_queue_version(queue))
		since = -1;
	return list_queue(session, form, &range, since);
}

enum command_result
queue_plchanges(struct session *session, const struct request *request)
{
	return list_changes(session, request, FORM_SONG);
}

enum command_result
queue_plchangesposid(struct session *session, const struct request *request)
{
	return list_changes(session, request, FORM_POSITION);
}

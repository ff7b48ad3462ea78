/* SPDX-License-Identifier: GPL-3.0-or-later */
/* database.c - what is in the music folder, read from it when it is asked for.
 */
#include "daemon/server/groups.h"

#include "daemon/server/args.h"
#include "daemon/server/reply.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"
#include "daemon/server/uri.h"
#include "daemon/server/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct folder_task {
	struct task base;
	struct walk *walk;
	bool details;        /* tags and dates */
	bool names;          /* the last part of the URI only, with sizes */
	const char *missing; /* what an ACK calls what is not there */
};

static void
add_item(struct session *session, const struct folder_task *task,
	 const struct walk_item *item)
{
	struct text *out = &session->out;
	const char *slash = strrchr(item->uri, '/');
	const char *name = task->names && slash != NULL ? slash + 1 : item->uri;
	const bool folder = item->kind == FOLDER_FOLDER;

	if (task->details && item->song != NULL) {
		reply_song(out, item->song, session->tags);
		return;
	}
	reply_add(out, folder ? "directory" : "file", name);
	if (task->names && !folder)
		reply_int(out, "size", (int64_t)item->size_bytes);
	if (task->details || task->names)
		reply_time(out, "Last-Modified", item->mtime_s);
}

static enum task_result
folder_task_step(struct task *base, struct session *session)
{
	struct folder_task *task = (struct folder_task *)base;
	const size_t before = session->out.length;
	const struct walk_item *item = NULL;

	while (!session_step_full(session, before)) {
		switch (walk_next(task->walk, &item)) {
		case WALK_ITEM:
			add_item(session, task, item);
			break;
		case WALK_WAIT:
			return TASK_WAIT;
		case WALK_END:
			return TASK_DONE;
		case WALK_FAILED:
			uri_ack(session, walk_error(task->walk), task->missing);
			return TASK_ERROR;
		}
	}
	return TASK_MORE;
}

static void
folder_task_destroy(struct task *base)
{
	struct folder_task *task = (struct folder_task *)base;

	walk_destroy(task->walk);
	free(task);
}

static const struct task_ops folder_task_ops = {folder_task_step,
						folder_task_destroy};

static void
wake_session(void *context)
{
	session_wake(context);
}

/* Starts a task with the walk's flags; form holds the rest of the task. */
static enum command_result
list_folder(struct session *session, const struct request *request,
	    struct walk_request walk, const struct folder_task *form)
{
	struct folder_task *task = NULL;
	char *uri = NULL;

	uri = uri_argument(session, request->count > 0 ? request->args[0] : "",
			   form->missing);
	if (uri == NULL)
		return COMMAND_ERROR;
	task = malloc(sizeof(*task));
	if (task == NULL) {
		free(uri);
		return session_no_memory(session);
	}
	*task = *form;
	task->base.ops = &folder_task_ops;
	walk.work = session->server->links.work;
	walk.root = &session->server->music;
	walk.uri = uri;
	walk.uid = session->uid;
	task->walk = walk_create(&walk, wake_session, session);
	free(uri);
	if (task->walk == NULL) {
		free(task);
		return session_no_memory(session);
	}
	return session_start(session, &task->base);
}

enum command_result
database_lsinfo(struct session *session, const struct request *request)
{
	return list_folder(session, request,
			   (struct walk_request){.tags = true},
			   &(struct folder_task){
				   .details = true,
				   .missing = "No such directory",
			   });
}

enum command_result
database_listall(struct session *session, const struct request *request)
{
	return list_folder(session, request,
			   (struct walk_request){
				   .recursive = true,
				   .itself = true,
			   },
			   &(struct folder_task){
				   .missing = "No such directory",
			   });
}

enum command_result
database_listallinfo(struct session *session, const struct request *request)
{
	return list_folder(session, request,
			   (struct walk_request){
				   .recursive = true,
				   .itself = true,
				   .tags = true,
			   },
			   &(struct folder_task){
				   .details = true,
				   .missing = "No such directory",
			   });
}

enum command_result
database_listfiles(struct session *session, const struct request *request)
{
	return list_folder(session, request,
			   (struct walk_request){
				   .what = WALK_ONLY_FOLDER,
				   .other_files = true,
			   },
			   &(struct folder_task){
				   .names = true,
				   .missing = "No such directory",
			   });
}

enum command_result
database_update(struct session *session, const struct request *request)
{
	const char *text = request->count > 0 ? request->args[0] : "";
	char *uri = NULL;
	int job = 0;

	if (path_uri_is_local(text) && strcmp(text, "/") != 0)
		return session_ack(session, ACK_ARGUMENT, "Malformed path");
	uri = malloc(PATH_URI_MAX + 1);
	if (uri == NULL)
		return session_no_memory(session);
	if (path_uri_normalize(text, uri, PATH_URI_MAX + 1) < 0) {
		free(uri);
		return session_ack(session, ACK_ARGUMENT, "Malformed path");
	}
	job = updater_start(&session->server->updater, uri);
	free(uri);
	if (job == -ENOSPC)
		return session_ack(session, ACK_UPDATE_ALREADY,
				   "already updating");
	if (job < 0)
		return session_no_memory(session);
	reply_int(&session->out, "updating_db", job);
	return COMMAND_OK;
}

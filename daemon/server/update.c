/* SPDX-License-Identifier: GPL-3.0-or-later */
/* update.c - update jobs.
 *
 * Songs are read from the folder whenever they are asked for, so an update has
 * nothing to bring up to date here; it finds out what is there and tells the
 * clients to look again. Invariant: walk != NULL iff jobs is not empty. */
#include "daemon/server/update.h"

#include "daemon/server/server_core.h"
#include "daemon/server/walk.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct update_job {
	struct list link;
	unsigned id;
	char *uri;
};

static struct update_job *
first_job(const struct updater *updater)
{
	return list_entry(updater->jobs.next, struct update_job, link);
}

static void
drop_first_job(struct updater *updater)
{
	struct update_job *job = first_job(updater);

	walk_destroy(updater->walk);
	updater->walk = NULL;
	updater->job_count--;
	list_remove(&job->link);
	free(job->uri);
	free(job);
}

static void
end_first_job(struct updater *updater, int error)
{
	const struct update_job *job = first_job(updater);

	if (error < 0 && error != -ENOENT)
		log_warn("library", "update %u of \"%s\" ended early: %s",
			 job->id, job->uri, text_of_error(error));
	if (error == 0 && job->uri[0] == '\0') {
		updater->song_count = updater->counted;
		updater->finished_s = (int64_t)time(NULL);
	}
	drop_first_job(updater);
}

static void on_walk(void *context);

/* Starts the first job that can be started. */
static void
start_next(struct updater *updater)
{
	struct server *server = updater->server;

	while (!list_empty(&updater->jobs)) {
		const struct walk_request request = {
			.work = server->links.work,
			.root = &server->music,
			.uri = first_job(updater)->uri,
			.recursive = true,
		};

		updater->counted = 0;
		updater->walk = walk_create(&request, on_walk, updater);
		if (updater->walk != NULL)
			return;
		end_first_job(updater, -ENOMEM);
	}
}

static void
on_walk(void *context)
{
	struct updater *updater = context;
	const struct walk_item *item = NULL;
	enum walk_next next;

	while ((next = walk_next(updater->walk, &item)) == WALK_ITEM)
		if (item->kind == FOLDER_SONG)
			updater->counted++;
	if (next == WALK_WAIT)
		return;
	end_first_job(updater,
		      next == WALK_END ? 0 : walk_error(updater->walk));
	start_next(updater);
	server_idle(updater->server, IDLE_UPDATE);
	server_idle(updater->server, IDLE_DATABASE);
}

void
updater_init(struct updater *updater, struct server *server)
{
	*updater = (struct updater){.server = server};
	list_init(&updater->jobs);
}

void
updater_finish(struct updater *updater)
{
	while (!list_empty(&updater->jobs))
		drop_first_job(updater);
}

int
updater_start(struct updater *updater, const char *uri)
{
	struct update_job *job = NULL;

	if (updater->job_count == UPDATE_JOBS_MAX)
		return -ENOSPC;
	job = calloc(1, sizeof(*job));
	if (job == NULL)
		return -ENOMEM;
	job->uri = strdup(uri);
	if (job->uri == NULL) {
		free(job);
		return -ENOMEM;
	}
	updater->last_id = updater->last_id % INT16_MAX + 1;
	job->id = updater->last_id;
	list_append(&updater->jobs, &job->link);
	updater->job_count++;
	if (updater->job_count == 1) {
		start_next(updater);
		server_idle(updater->server, IDLE_UPDATE);
	}
	return (int)updater->last_id;
}

unsigned
updater_job(const struct updater *updater)
{
	return updater->walk != NULL ? first_job(updater)->id : 0;
}

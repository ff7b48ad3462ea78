/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk.c - control's half of a walk: hands the job to a worker whenever its
 * batch has been taken, and takes it back.
 *
 * A job is the pool's while it is submitted, and for good once the pool has
 * given it up (-ETIMEDOUT). A walk that ends before its job leaves it to the
 * pool, whose done() or orphan() frees it. Invariant: job->owner == walk iff
 * the walk still waits for that job. */
#include "daemon/server/walk.h"

#include "daemon/server/walk_job.h"

#include <errno.h>
#include <stdlib.h>

struct walk {
	struct work *work;
	struct walk_job *job; /* NULL once it was given up */
	bool submitted;
	unsigned at; /* in the job's items */
	int error;
	void (*wake)(void *context);
	void *context;
};

static struct walk_job *
job_of(struct work_job *base)
{
	return (struct walk_job *)(void *)base;
}

static int
job_run(struct work_job *base)
{
	return walk_job_run(job_of(base));
}

static void
job_done(struct work_job *base, int result)
{
	struct walk_job *job = job_of(base);
	struct walk *walk = job->owner;
	const bool kept = result == -ETIMEDOUT; /* by the pool */

	if (walk == NULL) {
		if (!kept)
			walk_job_destroy(job);
		return;
	}
	walk->submitted = false;
	walk->error = result;
	if (kept) {
		job->owner = NULL;
		walk->job = NULL;
	}
	walk->wake(walk->context);
}

static void
job_orphan(struct work_job *base)
{
	walk_job_destroy(job_of(base));
}

static const struct work_job_ops job_ops = {job_run, job_done, job_orphan};

static void
submit(struct walk *walk)
{
	walk->submitted = true;
	walk->at = 0;
	work_submit(walk->work, &walk->job->base);
}

struct walk *
walk_create(const struct walk_request *request, void (*wake)(void *context),
	    void *context)
{
	struct walk *walk = calloc(1, sizeof(*walk));

	if (walk == NULL)
		return NULL;
	walk->job = walk_job_create(request);
	if (walk->job == NULL) {
		free(walk);
		return NULL;
	}
	walk->work = request->work;
	walk->wake = wake;
	walk->context = context;
	walk->job->owner = walk;
	walk->job->base.ops = &job_ops;
	walk->job->base.what = "walk";
	walk->job->base.domain = work_domain(path_uri_is_local(request->uri)
						     ? request->uri
						     : request->root->folder);
	submit(walk);
	return walk;
}

void
walk_destroy(struct walk *walk)
{
	if (walk == NULL)
		return;
	if (walk->submitted) {
		walk->job->owner = NULL;
		work_cancel(walk->work, &walk->job->base);
	} else {
		walk_job_destroy(walk->job);
	}
	free(walk);
}

enum walk_next
walk_next(struct walk *walk, const struct walk_item **ret_item)
{
	struct walk_job *job = walk->job;

	if (walk->submitted)
		return WALK_WAIT;
	if (walk->error < 0)
		return WALK_FAILED;
	if (walk->at < job->count) {
		*ret_item = &job->items[walk->at++];
		return WALK_ITEM;
	}
	if (job->ended)
		return WALK_END;
	walk_job_drop_items(job);
	submit(walk);
	return WALK_WAIT;
}

int
walk_error(const struct walk *walk)
{
	return walk->error;
}

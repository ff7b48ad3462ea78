/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk_job.h - the worker's half of a walk, for walk.c.
 *
 * Threads: everything but owner belongs to the worker while the job is
 * submitted, to control else. */
#ifndef ROTARY_SERVER_WALK_JOB_H
#define ROTARY_SERVER_WALK_JOB_H

#include "daemon/library/place_set.h"
#include "daemon/server/walk.h"
#include "daemon/work/work.h"
#include "lib/base/text.h"

enum { WALK_BATCH = 64 };

struct walk_pending;

struct walk_job {
	struct work_job base;
	struct walk *owner; /* control's; NULL: nobody waits any more */

	char *folder, *uri;
	bool follow_links;
	uid_t uid;
	enum walk_what what;
	bool recursive, tags, other_files, itself;

	bool begun, ended;
	struct walk_pending *pending; /* the next one first */
	struct text real_path;        /* of the folder that it began in */
	struct place_set linked;      /* folders entered by way of a link */
	struct walk_item items[WALK_BATCH];
	unsigned count;
};

NODISCARD struct walk_job *walk_job_create(const struct walk_request *request);
void walk_job_destroy(struct walk_job *job);
void walk_job_drop_items(struct walk_job *job);
/* The next piece into items. 0, or why the walk cannot begin. */
MAY_BLOCK NODISCARD int walk_job_run(struct walk_job *job);

#endif

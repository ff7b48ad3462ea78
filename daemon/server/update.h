/* SPDX-License-Identifier: GPL-3.0-or-later */
/* update.h - walks the music folder for update and rescan, one job after the
 * other, and tells idling clients when one has ended. Threads: control. */
#ifndef ROTARY_SERVER_UPDATE_H
#define ROTARY_SERVER_UPDATE_H

#include "lib/base/attr.h"
#include "lib/base/list.h"

struct server;
struct walk;

enum { UPDATE_JOBS_MAX = 32 };

struct updater {
	struct server *server;
	struct walk *walk; /* of the first of jobs */
	struct list jobs;
	unsigned job_count;
	unsigned last_id;
	uint64_t counted;    /* songs, by the running job */
	uint64_t song_count; /* by the last job that walked everything */
	int64_t finished_s;  /* of that job, since 1970; 0: none yet */
};

void updater_init(struct updater *updater, struct server *server);
void updater_finish(struct updater *updater);
/* The new job's number, -ENOSPC (UPDATE_JOBS_MAX wait), -ENOMEM. */
NODISCARD int updater_start(struct updater *updater, const char *uri);
/* Number of the running job; 0: none. */
unsigned updater_job(const struct updater *updater);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mixer_job.h - the worker's part of mixer.c.
 *
 * A job is used again and again, one round at a time, and owns the control; the
 * pool keeps one that never returns, and what is tried next is a new one.
 * Threads: control; the round itself runs on a worker. RT: MAY_BLOCK. */
#ifndef ROTARY_OUTPUT_MIXER_JOB_H
#define ROTARY_OUTPUT_MIXER_JOB_H

#include "daemon/output/mixer.h"
#include "daemon/output/mixer_control.h"
#include "daemon/work/work.h"
#include "lib/base/attr.h"
#include "lib/base/text.h"
#include "lib/sync/wake.h"

#include <stdbool.h>

struct mixer_job {
	struct work_job job;
	struct mixer *mixer; /* control's; NULL: it is gone */
	bool out;            /* control's: with the pool */
	/* immutable */
	struct work *work;
	char *device;
	char *pcm;
	char *name;
	int epoll_fd;
	/* what a round is to do; control's between rounds */
	bool reopen;
	bool writes;
	float gain;
	/* what came of it; the worker's during a round */
	struct mixer_control *control; /* NULL: away */
	float read_gain;
	struct text error;
	ATOMIC(bool) unwanted; /* close it, and that was it */
	ATOMIC(bool) has_ended;
	struct wake ended;
};

/* NULL: no memory, or no descriptor. */
struct mixer_job *mixer_job_new(struct mixer *mixer, struct work *work,
				const struct mixer_config *config,
				int epoll_fd);
void mixer_job_submit(struct mixer_job *job);
/* Its mixer is told no more; waits at most wait_ns for the control to be
 * closed. */
void mixer_job_end(struct mixer_job *job, int64_t wait_ns);

/* In mixer.c: a round is over. result is 0, or -errno with job->error, or
 * -ETIMEDOUT or -ECANCELED: then the job is gone. */
void mixer_job_done(struct mixer *mixer, struct mixer_job *job, int result);

#endif

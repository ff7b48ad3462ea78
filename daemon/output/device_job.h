/* SPDX-License-Identifier: GPL-3.0-or-later */
/* device_job.h - the worker's part of device.c.
 *
 * Threads: control; the job itself runs on a worker. RT: MAY_BLOCK. */
#ifndef ROTARY_OUTPUT_DEVICE_JOB_H
#define ROTARY_OUTPUT_DEVICE_JOB_H

#include "daemon/output/card.h"
#include "daemon/output/output.h"
#include "daemon/work/work.h"
#include "lib/base/attr.h"
#include "lib/base/text.h"
#include "lib/sync/wake.h"

#include <stdbool.h>

struct device_job {
	struct work_job job;
	struct output *output; /* control; NULL: it is gone */
	bool closes;
	/* immutable while it runs */
	const struct card_ops *driver;
	struct card_request request;
	char *device;
	/* the worker's, then control's in device_job_done() */
	struct card *card;
	struct text reason;
	ATOMIC(bool) unwanted; /* close at once what was opened */
	ATOMIC(bool) has_run;
	struct wake ran;
};

/* Closes card or, when it is NULL, opens one for spec. NULL: no memory. The
 * job is its own; device_job_done() is called unless it was left. */
struct device_job *device_job_submit(struct work *work, struct output *output,
				     const struct output_config *config,
				     const struct audio_spec *spec,
				     struct card *card);
/* A card that it is yet to open is closed at once. */
void device_job_unwant(struct device_job *job);
/* Waits at most wait_ns for it to have run; its output is not told any more.
 * Returns the card that it opened in time, or NULL. */
struct card *device_job_leave(struct device_job *job, int64_t wait_ns);

/* In device.c: the job is about to be freed. */
void device_job_done(struct output *output, struct device_job *job, int result);

#endif

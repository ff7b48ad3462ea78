/* SPDX-License-Identifier: GPL-3.0-or-later */
/* device_job.c - opening and closing a card on a worker.
 *
 * A job owns the copy of what it was asked for and the card that it opened or
 * is to close, so that one that never comes back can be left alone: the pool
 * then keeps it, and orphan() closes what came of it in the end. */
#include "daemon/output/device_job.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/thread.h"
#include "lib/rt/rt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct device_job *
job_of(struct work_job *job)
{
	return (struct device_job *)(void *)job;
}

static void
job_free(struct device_job *job)
{
	text_finish(&job->reason);
	free(job->device);
	free(job);
}

static void
close_card(struct device_job *job)
{
	job->driver->close(job->card);
	job->card = NULL;
}

static int
job_run(struct work_job *work_job)
{
	struct device_job *job = job_of(work_job);
	int error = 0;

	thread_assert_worker();
	if (job->closes) {
		close_card(job);
	} else {
		error = job->driver->open(&job->request, &job->card,
					  &job->reason);
		if (error == 0 && atomic_load(&job->unwanted)) {
			close_card(job);
			error = -ECANCELED;
		}
		/* alsa-lib loads the plug-ins that the device is made of. */
		rt_lock_loaded();
	}
	atomic_store(&job->has_run, true);
	wake_post(&job->ran);
	return error;
}

static void
job_orphan(struct work_job *work_job)
{
	struct device_job *job = job_of(work_job);

	thread_assert_worker();
	if (job->card != NULL)
		close_card(job);
	job_free(job);
}

/* Without an output: the pool's end cancels what is queued, and then a card is
 * left to the end of the process. */
static void
job_done(struct work_job *work_job, int result)
{
	struct device_job *job = job_of(work_job);
	struct output *output = job->output;

	job->output = NULL;
	if (output != NULL)
		device_job_done(output, job, result);
	if (result == -ETIMEDOUT)
		return;
	if (job->card != NULL && (output == NULL || job->closes))
		log_warn("output", "a sound card was left open");
	job_free(job);
}

static const struct work_job_ops job_ops = {
	.run = job_run,
	.done = job_done,
	.orphan = job_orphan,
};

struct device_job *
device_job_submit(struct work *work, struct output *output,
		  const struct output_config *config,
		  const struct audio_spec *spec, struct card *card)
{
	struct device_job *job = aligned_alloc(CACHE_LINE, sizeof(*job));

	if (job == NULL)
		return NULL;
	memset((void *)job, 0, sizeof(*job));
	job->job.ops = &job_ops;
	job->job.what = card != NULL ? "close the card" : "open the card";
	/* One after the other, and a card that hangs holds up no other. */
	job->job.order = (uint64_t)(uintptr_t)output;
	job->job.domain = (uint64_t)(uintptr_t)output;
	job->output = output;
	job->closes = card != NULL;
	job->card = card;
	job->driver = config->driver;
	wake_init(&job->ran);
	if (config->device != NULL) {
		job->device = strdup(config->device);
		if (job->device == NULL) {
			free(job);
			return NULL;
		}
	}
	job->request = (struct card_request){
		.device = job->device,
		.spec = *spec,
		.buffer_ms = config->buffer_ms,
		.period_ms = config->period_ms,
		.rewind = config->rewind,
		.format = config->format,
	};
	work_submit(work, &job->job);
	return job;
}

void
device_job_unwant(struct device_job *job)
{
	atomic_store(&job->unwanted, true);
}

struct card *
device_job_leave(struct device_job *job, int64_t wait_ns)
{
	const int64_t end_ns = clock_now_ns() + wait_ns;
	int64_t left_ns = wait_ns;
	struct card *card = NULL;

	device_job_unwant(job);
	while (left_ns > 0) {
		const uint32_t seen = wake_prepare(&job->ran);

		if (atomic_load(&job->has_run))
			break;
		(void)wake_wait(&job->ran, seen, left_ns);
		left_ns = end_ns - clock_now_ns();
	}
	job->output = NULL;
	if (!atomic_load(&job->has_run))
		return NULL;
	card = job->card;
	job->card = NULL;
	return card;
}

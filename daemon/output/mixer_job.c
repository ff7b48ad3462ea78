/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mixer_job.c - a round of work on the card's volume control.
 *
 * A round opens the control if it is not open, writes what is wanted, and reads
 * how it stands. Whatever fails closes it: the next round opens it again. The
 * last round only closes. */
#include "daemon/output/mixer_job.h"

#include "lib/base/clock.h"
#include "lib/base/thread.h"

#include <alsa/asoundlib.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct mixer_job *
job_of(struct work_job *job)
{
	return (struct mixer_job *)(void *)job;
}

static void
job_free(struct mixer_job *job)
{
	if (job->epoll_fd >= 0)
		close(job->epoll_fd);
	text_finish(&job->error);
	free(job->device);
	free(job->pcm);
	free(job->name);
	free(job);
}

static void
close_control(struct mixer_job *job)
{
	mixer_control_close(job->control);
	job->control = NULL;
}

static int
open_control(struct mixer_job *job)
{
	const struct mixer_config config = {job->device, job->pcm, job->name};

	return mixer_control_open(&config, job->epoll_fd, &job->control,
				  &job->error);
}

static int
use_control(struct mixer_job *job)
{
	int error = 0;

	if (job->writes)
		error = mixer_control_write(job->control, job->gain);
	if (error >= 0)
		error = mixer_control_read(job->control, &job->read_gain);
	if (error >= 0) {
		mixer_control_listen(job->control);
		return 0;
	}
	text_printf(&job->error, "the volume control %s is lost: %s",
		    mixer_control_name(job->control), snd_strerror(error));
	close_control(job);
	return error;
}

static int
job_run(struct work_job *work_job)
{
	struct mixer_job *job = job_of(work_job);
	int error = 0;

	thread_assert_worker();
	text_clear(&job->error);
	if (job->reopen)
		close_control(job);
	if (!atomic_load(&job->unwanted)) {
		if (job->control == NULL)
			error = open_control(job);
		if (error >= 0)
			error = use_control(job);
	}
	if (atomic_load(&job->unwanted)) {
		close_control(job);
		atomic_store(&job->has_ended, true);
		wake_post(&job->ended);
	}
	return error;
}

static void
job_orphan(struct work_job *work_job)
{
	thread_assert_worker();
	close_control(job_of(work_job));
	job_free(job_of(work_job));
}

/* Without a mixer it is over when the control is closed. Where the pool itself
 * ends, one that is open is left to the end of the process. */
static void
job_done(struct work_job *work_job, int result)
{
	struct mixer_job *job = job_of(work_job);

	job->out = false;
	if (job->mixer != NULL)
		mixer_job_done(job->mixer, job, result);
	if (result == -ECANCELED)
		job_free(job);
	else if (job->mixer == NULL && result != -ETIMEDOUT) {
		if (job->control != NULL)
			mixer_job_submit(job);
		else
			job_free(job);
	}
}

static const struct work_job_ops job_ops = {
	.run = job_run,
	.done = job_done,
	.orphan = job_orphan,
};

static bool
copy(const char *from, char **ret_to)
{
	if (from == NULL)
		return true;
	*ret_to = strdup(from);
	return *ret_to != NULL;
}

struct mixer_job *
mixer_job_new(struct mixer *mixer, struct work *work,
	      const struct mixer_config *config, int epoll_fd)
{
	struct mixer_job *job = aligned_alloc(CACHE_LINE, sizeof(*job));

	if (job == NULL)
		return NULL;
	memset((void *)job, 0, sizeof(*job));
	job->job.ops = &job_ops;
	job->job.what = "the card's volume";
	/* One that hangs holds up no other. */
	job->job.order = (uint64_t)(uintptr_t)mixer;
	job->job.domain = (uint64_t)(uintptr_t)mixer;
	job->mixer = mixer;
	job->work = work;
	job->epoll_fd = fcntl(epoll_fd, F_DUPFD_CLOEXEC, 0);
	wake_init(&job->ended);
	if (job->epoll_fd >= 0 && copy(config->device, &job->device) &&
	    copy(config->pcm, &job->pcm) && copy(config->control, &job->name))
		return job;
	job_free(job);
	return NULL;
}

void
mixer_job_submit(struct mixer_job *job)
{
	job->out = true;
	work_submit(job->work, &job->job);
}

void
mixer_job_end(struct mixer_job *job, int64_t wait_ns)
{
	const int64_t end_ns = clock_now_ns() + wait_ns;
	int64_t left_ns = wait_ns;

	job->mixer = NULL;
	atomic_store(&job->unwanted, true);
	if (!job->out)
		mixer_job_submit(job);
	while (left_ns > 0) {
		const uint32_t seen = wake_prepare(&job->ended);

		if (atomic_load(&job->has_ended))
			break;
		(void)wake_wait(&job->ended, seen, left_ns);
		left_ns = end_ns - clock_now_ns();
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mixer.c - control's side of a card's volume control.
 *
 * What is wanted is noted, and a job is sent out when none is: it carries the
 * newest wish, so that a row of them comes to one or two rounds. What a round
 * reads after its own writing is what the control makes of the wish, rounded to
 * its steps; anything else that is read later was set by somebody else, and is
 * from then on what is wanted.
 *
 *   dirty: something is wanted that no round has taken along yet
 *   there: the last round came through, and had written what was wanted
 *
 * A mixer that does not answer is given up by the pool after a while; what is
 * set later is tried with a new job. */
#include "daemon/output/mixer.h"

#include "daemon/output/mixer_job.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS_MAX = 8 };
static const int64_t end_wait_ns = 200 * NS_PER_MS;

struct mixer {
	struct work *work;
	const struct mixer_events *events;
	void *context;
	char *device;
	char *pcm;
	char *control;
	int epoll_fd;
	struct mixer_job *job; /* NULL: the pool has it for good */
	bool has_wish;
	float wish;
	bool dirty;
	bool reread;
	bool reopen;
	bool there;
	float seen; /* while there: how it stood last */
	struct text name;
	struct text error;
};

static bool
copy(const char *from, char **ret_to)
{
	if (from == NULL)
		return true;
	*ret_to = strdup(from);
	return *ret_to != NULL;
}

static void
mixer_free(struct mixer *mixer)
{
	if (mixer->epoll_fd >= 0)
		close(mixer->epoll_fd);
	text_finish(&mixer->name);
	text_finish(&mixer->error);
	free(mixer->device);
	free(mixer->pcm);
	free(mixer->control);
	free(mixer);
}

/* Sends a job out, if there is something to do and none is out. */
static void
send_job(struct mixer *mixer)
{
	const struct mixer_config config = {mixer->device, mixer->pcm,
					    mixer->control};
	struct mixer_job *job = mixer->job;

	if (!mixer->dirty && !mixer->reread)
		return;
	if (job == NULL) {
		job = mixer_job_new(mixer, mixer->work, &config,
				    mixer->epoll_fd);
		mixer->job = job;
	}
	if (job == NULL || job->out)
		return;
	/* Who opens it anew writes, unless nothing was ever wanted. */
	job->writes = mixer->has_wish &&
		      (mixer->dirty || mixer->reopen || !mixer->there);
	job->gain = mixer->wish;
	job->reopen = mixer->reopen;
	mixer->dirty = false;
	mixer->reread = false;
	mixer->reopen = false;
	mixer_job_submit(job);
}

static void
go_away(struct mixer *mixer, const char *reason)
{
	if (mixer->there || strcmp(text_string(&mixer->error), reason) != 0)
		log_warn("output", "%s; the volume is made in software",
			 reason);
	mixer->there = false;
	text_clear(&mixer->error);
	text_add(&mixer->error, reason);
}

static void
come_back(struct mixer *mixer, const struct mixer_job *job)
{
	const float gain = job->read_gain;
	const bool differs = !mixer->there || gain != mixer->seen;

	/* A wish that came meanwhile is written first. */
	if (!mixer->there && mixer->dirty && !job->writes)
		return;
	if (!mixer->there) {
		text_clear(&mixer->name);
		text_add(&mixer->name, mixer_control_name(job->control));
		log_info("output", "the volume is that of %s",
			 text_string(&mixer->name));
	}
	mixer->there = true;
	mixer->seen = gain;
	text_clear(&mixer->error);
	if (job->writes || mixer->dirty || !differs)
		return;
	mixer->has_wish = true;
	mixer->wish = gain;
	mixer->events->changed(mixer->context, gain);
}

void
mixer_job_done(struct mixer *mixer, struct mixer_job *job, int result)
{
	if (result == -ECANCELED || result == -ETIMEDOUT)
		mixer->job = NULL;
	if (result == -ECANCELED)
		return;
	if (result == -ETIMEDOUT)
		go_away(mixer, "the sound card's mixer does not answer");
	else if (result < 0)
		go_away(mixer, text_string(&job->error)[0] != '\0'
				       ? text_string(&job->error)
				       : text_of_error(result));
	else
		come_back(mixer, job);
	send_job(mixer);
	mixer->events->settled(mixer->context);
}

int
mixer_create(const struct mixer_config *config, struct work *work,
	     const struct mixer_events *events, void *context,
	     struct mixer **ret_mixer)
{
	struct mixer *mixer = calloc(1, sizeof(*mixer));
	int error = 0;

	if (mixer == NULL)
		return -ENOMEM;
	mixer->work = work;
	mixer->events = events;
	mixer->context = context;
	mixer->reread = true;
	mixer->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (mixer->epoll_fd < 0) {
		error = -errno;
	} else if (!copy(config->device, &mixer->device) ||
		   !copy(config->pcm, &mixer->pcm) ||
		   !copy(config->control, &mixer->control)) {
		error = -ENOMEM;
	}
	if (error < 0) {
		mixer_free(mixer);
		return error;
	}
	send_job(mixer);
	*ret_mixer = mixer;
	return 0;
}

void
mixer_destroy(struct mixer *mixer)
{
	if (mixer == NULL)
		return;
	if (mixer->job != NULL)
		mixer_job_end(mixer->job, end_wait_ns);
	mixer_free(mixer);
}

int
mixer_event_fd(const struct mixer *mixer)
{
	return mixer->epoll_fd;
}

void
mixer_dispatch(struct mixer *mixer)
{
	struct epoll_event events[EVENTS_MAX];
	const int count = epoll_wait(mixer->epoll_fd, events, EVENTS_MAX, 0);
	int i;

	/* One that is unplugged says so for ever. */
	for (i = 0; i < count; i++) {
		mixer->reread = true;
		if ((events[i].events & (EPOLLERR | EPOLLHUP)) != 0)
			mixer->reopen = true;
	}
	send_job(mixer);
}

void
mixer_set(struct mixer *mixer, float gain)
{
	mixer->has_wish = true;
	mixer->wish = gain;
	mixer->dirty = true;
	send_job(mixer);
}

void
mixer_apply(struct mixer *mixer)
{
	mixer->dirty = mixer->dirty || mixer->has_wish;
	mixer->reread = true;
	send_job(mixer);
}

bool
mixer_is_there(const struct mixer *mixer)
{
	return mixer->there;
}

bool
mixer_is_busy(const struct mixer *mixer)
{
	return mixer->dirty || mixer->reread ||
	       (mixer->job != NULL && mixer->job->out);
}

const char *
mixer_name(const struct mixer *mixer)
{
	return mixer->there ? text_string(&mixer->name) : "";
}

const char *
mixer_error(const struct mixer *mixer)
{
	return text_string(&mixer->error);
}

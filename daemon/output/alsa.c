/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alsa.c - a card behind alsa-lib.
 *
 * A worker opens it (non-blocking: a busy card says so), sets it up
 * (alsa_params.c) and closes it. In between the output thread moves samples
 * through the card's own memory where it can, else by writei from a buffer of
 * ours. No call of its waits: the thread sleeps in its own ppoll, whose time
 * is reckoned from the delay; the descriptors only tell of faults.
 *
 * What a fault looks like differs by plug-in, so the state is asked for
 * wherever a call did not succeed, and first of all in status(). */
#include "daemon/output/alsa_setup.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct alsa_card {
	struct card card;
	/* immutable */
	snd_pcm_t *pcm;
	bool mmap;
	size_t frame_bytes;
	uint8_t *bounce; /* a buffer's worth, unless mmap */
	struct pollfd fds[CARD_POLL_MAX];
	unsigned fd_count;
	snd_pcm_status_t *last; /* memory for suspended_status() */
	/* output */
	snd_pcm_uframes_t offset; /* of what begin() gave */
};

static const int64_t TIMESTAMP_AGE_MAX_NS = 500 * INT64_C(1000000);

static RT_SAFE struct alsa_card *
alsa_of(struct card *card)
{
	return (void *)card;
}

/* alsa-lib would print to stderr what its return values say as well. */
static void
ignore_error(const char *file, int line, const char *function, int error,
	     const char *format, ...)
{
	(void)file;
	(void)line;
	(void)function;
	(void)error;
	(void)format;
}

static void
silence_library(void)
{
	(void)snd_lib_error_set_handler(ignore_error);
}

void
alsa_silence(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, silence_library);
}

static void
add_open_reason(const char *device, int error, struct text *reason)
{
	struct text holder = {0};

	if (error == -EBUSY && alsa_holder_add("/proc", &holder))
		text_printf(reason, "the sound card %s is in use by %s", device,
			    text_string(&holder));
	else if (error == -EBUSY)
		text_printf(reason, "the sound card %s is in use", device);
	else if (error == -ENOENT || error == -ENODEV || error == -ENXIO)
		text_printf(reason, "there is no sound card %s", device);
	else
		text_printf(reason, "cannot open the sound card %s: %s", device,
			    snd_strerror(error));
	text_finish(&holder);
}

static void
name_card(struct alsa_card *alsa, const char *device)
{
	snd_pcm_info_t *info = NULL;
	const char *name = "";

	if (snd_pcm_info_malloc(&info) < 0)
		return;
	if (snd_pcm_info(alsa->pcm, info) == 0)
		name = snd_pcm_info_get_name(info);
	if (name[0] == '\0' || strcmp(name, device) == 0)
		snprintf(alsa->card.info.name, sizeof(alsa->card.info.name),
			 "%s", device);
	else
		snprintf(alsa->card.info.name, sizeof(alsa->card.info.name),
			 "%s (%s)", name, device);
	snd_pcm_info_free(info);
}

static int
find_descriptors(struct alsa_card *alsa)
{
	const int count = snd_pcm_poll_descriptors_count(alsa->pcm);
	int found = 0;

	if (count <= 0)
		return count;
	if (count > CARD_POLL_MAX)
		return -E2BIG;
	found = snd_pcm_poll_descriptors(alsa->pcm, alsa->fds, (unsigned)count);
	if (found < 0)
		return found;
	/* Room for more samples is no news: the clock tells when. */
	for (int i = 0; i < found; i++)
		alsa->fds[i].events = 0;
	alsa->fd_count = (unsigned)found;
	return 0;
}

/* The card's memory may be mapped page by page, as each is first touched: that
 * must not be left to the output thread, which also finds what is wrong here.
 * Nothing is committed. */
static void
fill_with_silence(struct alsa_card *alsa)
{
	const snd_pcm_sframes_t avail = snd_pcm_avail_update(alsa->pcm);
	const snd_pcm_channel_area_t *areas = NULL;
	snd_pcm_uframes_t offset = 0, frames = 0;

	if (avail <= 0)
		return;
	frames = (snd_pcm_uframes_t)avail;
	if (snd_pcm_mmap_begin(alsa->pcm, &areas, &offset, &frames) < 0)
		return;
	memset((uint8_t *)areas[0].addr + areas[0].first / 8 +
		       offset * alsa->frame_bytes,
	       0, frames * alsa->frame_bytes);
}

static int
set_up(struct alsa_card *alsa, const struct card_request *request,
       const char *device, struct text *ret_reason)
{
	struct text detail = {0};
	int error = alsa_params_set(alsa->pcm, request, &alsa->card.info,
				    &alsa->mmap, &detail);

	if (error == 0)
		error = find_descriptors(alsa);
	if (error == 0)
		error = snd_pcm_prepare(alsa->pcm);
	if (error < 0)
		text_printf(ret_reason, "cannot use the sound card %s: %s",
			    device,
			    detail.length > 0 ? text_string(&detail)
					      : snd_strerror(error));
	text_finish(&detail);
	if (error < 0)
		return error;
	name_card(alsa, device);
	alsa->frame_bytes = card_format_bytes(alsa->card.info.spec.format) *
			    alsa->card.info.spec.channels;
	if (alsa->mmap) {
		fill_with_silence(alsa);
		return 0;
	}
	/* Written, so that the output thread meets no page fault there. */
	alsa->bounce =
		malloc(alsa->card.info.buffer_frames * alsa->frame_bytes);
	if (alsa->bounce == NULL)
		return -ENOMEM;
	memset(alsa->bounce, 0,
	       alsa->card.info.buffer_frames * alsa->frame_bytes);
	return 0;
}

static int
alsa_open(const struct card_request *request, struct card **ret_card,
	  struct text *ret_reason)
{
	const char *device =
		request->device != NULL ? request->device : "default";
	struct alsa_card *alsa = NULL;
	int error = 0;

	alsa_silence();
	alsa = calloc(1, sizeof(*alsa));
	if (alsa == NULL)
		return -ENOMEM;
	alsa->card.ops = &card_alsa;
	error = snd_pcm_open(&alsa->pcm, device, SND_PCM_STREAM_PLAYBACK,
			     SND_PCM_NONBLOCK);
	if (error < 0) {
		add_open_reason(device, error, ret_reason);
		free(alsa);
		return error;
	}
	error = snd_pcm_status_malloc(&alsa->last);
	if (error == 0)
		error = set_up(alsa, request, device, ret_reason);
	if (error < 0) {
		snd_pcm_status_free(alsa->last);
		free(alsa->bounce);
		snd_pcm_close(alsa->pcm);
		free(alsa);
		return error;
	}
	*ret_card = &alsa->card;
	return 0;
}

static void
alsa_close(struct card *card)
{
	struct alsa_card *alsa = alsa_of(card);

	(void)snd_pcm_drop(alsa->pcm);
	(void)snd_pcm_close(alsa->pcm);
	snd_pcm_status_free(alsa->last);
	free(alsa->bounce);
	free(alsa);
}

/* 0, or what is wrong with the card. */
static RT_DEVICE int
fault(struct alsa_card *alsa)
{
	switch (snd_pcm_state(alsa->pcm)) {
	case SND_PCM_STATE_XRUN:
		return -EPIPE;
	case SND_PCM_STATE_SUSPENDED:
		return -ESTRPIPE;
	case SND_PCM_STATE_DISCONNECTED:
		return -ENODEV;
	default:
		return 0;
	}
}

/* A call failed with error: the state knows better why. */
static RT_DEVICE int
explain(struct alsa_card *alsa, int error)
{
	const int known = fault(alsa);

	if (known < 0)
		return known;
	/* The way a card that was pulled out answers. */
	return error == -EBADFD || error == -EBADF || error == -ENOTTY ? -ENODEV
								       : error;
}

/* When the position was so: the card's own word for it if there is one. */
static RT_DEVICE int64_t
position_time(struct alsa_card *alsa)
{
	const int64_t now_ns = clock_now_ns();
	snd_pcm_uframes_t avail = 0;
	snd_htimestamp_t stamp;
	int64_t stamp_ns = 0;

	if (snd_pcm_htimestamp(alsa->pcm, &avail, &stamp) < 0)
		return now_ns;
	stamp_ns = (int64_t)stamp.tv_sec * NS_PER_S + stamp.tv_nsec;
	return stamp_ns <= now_ns && now_ns - stamp_ns < TIMESTAMP_AGE_MAX_NS
		       ? stamp_ns
		       : now_ns;
}

/* How far it had come. */
static RT_DEVICE void
suspended_status(struct alsa_card *alsa, struct card_status *ret_status)
{
	snd_pcm_sframes_t delay = 0;
	snd_pcm_uframes_t avail = 0;

	if (snd_pcm_status(alsa->pcm, alsa->last) < 0)
		return;
	delay = snd_pcm_status_get_delay(alsa->last);
	avail = snd_pcm_status_get_avail(alsa->last);
	if (delay < 0 || avail > alsa->card.info.buffer_frames)
		return;
	ret_status->avail_frames = (uint32_t)avail;
	ret_status->delay_frames = (uint32_t)delay;
	ret_status->time_ns = clock_now_ns();
	ret_status->running = false;
}

static RT_DEVICE int
alsa_status(struct card *card, struct card_status *ret_status)
{
	struct alsa_card *alsa = alsa_of(card);
	const snd_pcm_sframes_t buffer = card->info.buffer_frames;
	const bool running = snd_pcm_state(alsa->pcm) == SND_PCM_STATE_RUNNING;
	snd_pcm_sframes_t avail = 0, delay = 0;
	int error = fault(alsa);

	if (error == -ESTRPIPE)
		suspended_status(alsa, ret_status);
	if (error < 0)
		return error;
	if (running) {
		error = snd_pcm_avail_delay(alsa->pcm, &avail, &delay);
	} else {
		avail = snd_pcm_avail_update(alsa->pcm);
		error = avail < 0 ? (int)avail : 0;
		delay = buffer - avail;
	}
	if (error < 0)
		return explain(alsa, error);
	/* A plug-in that found out just now that its card is gone says that all
	 * was heard: the status before tells more. */
	error = fault(alsa);
	if (error == -ENODEV)
		return error;
	if (avail > buffer)
		avail = buffer;
	ret_status->avail_frames = (uint32_t)avail;
	ret_status->delay_frames = delay > 0 ? (uint32_t)delay : 0;
	ret_status->time_ns = position_time(alsa);
	ret_status->running = running;
	return 0;
}

static RT_DEVICE int
alsa_begin(struct card *card, void **ret_memory, size_t *ret_frames)
{
	struct alsa_card *alsa = alsa_of(card);
	const snd_pcm_sframes_t avail = snd_pcm_avail_update(alsa->pcm);
	const snd_pcm_channel_area_t *areas = NULL;
	snd_pcm_uframes_t frames = *ret_frames;
	int error = 0;

	if (avail < 0)
		return explain(alsa, (int)avail);
	if (frames > (snd_pcm_uframes_t)avail)
		frames = (snd_pcm_uframes_t)avail;
	if (!alsa->mmap) {
		*ret_memory = alsa->bounce;
		*ret_frames = frames < card->info.buffer_frames
				      ? frames
				      : card->info.buffer_frames;
		return 0;
	}
	error = snd_pcm_mmap_begin(alsa->pcm, &areas, &alsa->offset, &frames);
	if (error < 0)
		return explain(alsa, error);
	*ret_memory = (uint8_t *)areas[0].addr + areas[0].first / 8 +
		      alsa->offset * alsa->frame_bytes;
	*ret_frames = frames;
	return 0;
}

static RT_DEVICE int
alsa_commit(struct card *card, size_t frames)
{
	struct alsa_card *alsa = alsa_of(card);
	snd_pcm_sframes_t done = 0;

	if (frames == 0)
		return 0;
	if (alsa->mmap)
		done = snd_pcm_mmap_commit(alsa->pcm, alsa->offset, frames);
	else
		done = snd_pcm_writei(alsa->pcm, alsa->bounce, frames);
	if (done < 0)
		return explain(alsa, (int)done);
	/* begin() gave no more than there was room for. */
	return (size_t)done == frames ? 0 : explain(alsa, -EIO);
}

static RT_DEVICE long
alsa_rewind(struct card *card, size_t frames)
{
	struct alsa_card *alsa = alsa_of(card);
	const snd_pcm_sframes_t most = snd_pcm_rewindable(alsa->pcm);
	snd_pcm_sframes_t done = 0;

	if (most < 0)
		return explain(alsa, (int)most);
	if (frames > (size_t)most)
		frames = (size_t)most;
	if (frames == 0)
		return 0;
	done = snd_pcm_rewind(alsa->pcm, frames);
	return done < 0 ? explain(alsa, (int)done) : done;
}

static RT_DEVICE int
alsa_start(struct card *card)
{
	struct alsa_card *alsa = alsa_of(card);
	const int error = snd_pcm_start(alsa->pcm);

	return error < 0 ? explain(alsa, error) : 0;
}

static RT_DEVICE int
alsa_reset(struct card *card)
{
	struct alsa_card *alsa = alsa_of(card);
	int error = 0;

	/* What a suspended card holds may still be heard: it might resume. */
	if (fault(alsa) != -ESTRPIPE)
		(void)snd_pcm_drop(alsa->pcm);
	error = snd_pcm_prepare(alsa->pcm);
	if (error < 0 && fault(alsa) == -ENODEV)
		return -ENODEV;
	return error;
}

/* Some plug-ins say that all is well and stay suspended: these must be made
 * ready anew, as those that cannot resume. */
static RT_DEVICE int
alsa_resume(struct card *card)
{
	struct alsa_card *alsa = alsa_of(card);
	const int error = snd_pcm_resume(alsa->pcm);

	if (error == -EAGAIN)
		return error;
	if (fault(alsa) == -ENODEV)
		return -ENODEV;
	return error < 0 || fault(alsa) == -ESTRPIPE ? -ENOSYS : 0;
}

static RT_DEVICE unsigned
alsa_poll_fds(struct card *card, struct pollfd *ret_fds, unsigned capacity)
{
	const struct alsa_card *alsa = alsa_of(card);
	unsigned i = 0;

	for (i = 0; i < alsa->fd_count && i < capacity; i++)
		ret_fds[i] = alsa->fds[i];
	return i;
}

static RT_DEVICE int
alsa_poll_events(struct card *card, struct pollfd *fds, unsigned count)
{
	struct alsa_card *alsa = alsa_of(card);
	unsigned short events = 0;
	const int error = snd_pcm_poll_descriptors_revents(alsa->pcm, fds,
							   count, &events);

	if (error < 0)
		return explain(alsa, error);
	if ((events & (POLLERR | POLLHUP | POLLNVAL)) == 0)
		return 0;
	return explain(alsa, (events & POLLNVAL) != 0 ? -ENODEV : 0);
}

bool
card_alsa_present(void)
{
	return alsa_listed("/proc");
}

const struct card_ops card_alsa = {
	.name = "alsa",
	.open = alsa_open,
	.close = alsa_close,
	.status = alsa_status,
	.begin = alsa_begin,
	.commit = alsa_commit,
	.rewind = alsa_rewind,
	.start = alsa_start,
	.reset = alsa_reset,
	.resume = alsa_resume,
	.poll_fds = alsa_poll_fds,
	.poll_events = alsa_poll_events,
};

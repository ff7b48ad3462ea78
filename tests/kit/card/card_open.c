/* SPDX-License-Identifier: GPL-3.0-or-later */
/* card_open.c - how a test card comes and goes: what the opener's thread does.
 *
 *	_snd_pcm_rotarytest_open -> hw_params (again and again) -> close
 *
 * All of it may block and use files: in the product these run on a worker. The
 * keeper runs from a hw_params to the next or to the close, so that everything
 * a set-up has can be replaced between the two. */
#include "card.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* What alsa-lib looks for when it has loaded us. */
int _snd_pcm_rotarytest_open(snd_pcm_t **ret_pcm, const char *name,
			     snd_config_t *root, snd_config_t *conf,
			     snd_pcm_stream_t stream, int mode)
	__attribute__((visibility("default")));

static void
card_destroy(struct card *card)
{
	card_files_close(card);
	if (card->timer_fd >= 0)
		close(card->timer_fd);
	if (card->wake_fd >= 0)
		close(card->wake_fd);
	if (card->cry_fd >= 0)
		close(card->cry_fd);
	if (card->listen_fd >= 0)
		close(card->listen_fd);
	free(card->shadow);
	free(card);
}

int
card_hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *params)
{
	struct card *card = io->private_data;
	int width = snd_pcm_format_physical_width(io->format);

	(void)params;
	card_keeper_stop(card);
	if (atomic_load(&card->gone))
		return -ENODEV;
	int r = card_files_renew(card);
	if (r)
		return r;
	card->frame_bytes = (unsigned)width / 8 * io->channels;
	card->shadow_frames = io->buffer_size + UINT64_C(2) * io->rate;
	card->mrate =
		(uint64_t)io->rate * (uint64_t)(1000000 + card->params.ppm);
	free(card->shadow);
	size_t bytes = card->shadow_frames * card->frame_bytes;
	card->shadow = malloc(bytes);
	if (!card->shadow)
		return -ENOMEM;
	/* The thread that plays must not be the first to touch it. */
	memset(card->shadow, 0xa5, bytes);
	card->run = (struct card_run){.epoch = card->run.epoch};
	atomic_store(&card->written, 0);
	atomic_store(&card->captured, 0);
	card_claim_open(card, card->run.epoch, 0);
	card_claim_close(card);
	atomic_store(&card->avail_min, io->period_size);
	atomic_store(&card->stop_threshold, io->buffer_size);
	card_event(card, CARD_EVENT_SETUP, card_now_ns(), 0, 0);
	return card_keeper_start(card);
}

int
card_close(snd_pcm_ioplug_t *io)
{
	struct card *card = io->private_data;

	if (card->run.active)
		card_end_run(card, CARD_EVENT_DROP, card_now_ns());
	card_event(card, CARD_EVENT_CLOSE, card_now_ns(), 0, 0);
	/* A card that was never set up has no keeper to log for it. */
	if (!card->keeping && !card_keeper_start(card))
		card_keeper_stop(card);
	card_keeper_stop(card);
	card_destroy(card);
	return 0;
}

static int
constrain(snd_pcm_ioplug_t *io, int type, const struct card_list *list)
{
	if (list->range)
		return snd_pcm_ioplug_set_param_minmax(
			io, type, list->values[0], list->values[1]);
	return snd_pcm_ioplug_set_param_list(io, type, list->count,
					     list->values);
}

static int
constrain_all(struct card *card)
{
	static const struct card_list access = {
		.count = 2,
		.values = {SND_PCM_ACCESS_RW_INTERLEAVED,
			   SND_PCM_ACCESS_MMAP_INTERLEAVED}};
	static const struct card_list periods = {
		.range = true, .count = 2, .values = {2, 4096}};
	const struct card_params *params = &card->params;
	const struct {
		int type;
		const struct card_list *list;
	} all[] = {
		{SND_PCM_IOPLUG_HW_ACCESS, &access},
		{SND_PCM_IOPLUG_HW_FORMAT, &params->formats},
		{SND_PCM_IOPLUG_HW_RATE, &params->rates},
		{SND_PCM_IOPLUG_HW_CHANNELS, &params->channels},
		{SND_PCM_IOPLUG_HW_BUFFER_BYTES, &params->buffer_bytes},
		{SND_PCM_IOPLUG_HW_PERIOD_BYTES, &params->period_bytes},
		{SND_PCM_IOPLUG_HW_PERIODS, &periods},
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		int r = constrain(&card->io, all[i].type, all[i].list);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
read_conf(struct card_params *params, snd_config_t *conf)
{
	snd_config_iterator_t i = NULL, next = NULL;

	snd_config_for_each(i, next, conf)
	{
		snd_config_t *entry = snd_config_iterator_entry(i);
		const char *id = NULL;
		char *value = NULL;
		if (snd_config_get_id(entry, &id) < 0 ||
		    !strcmp(id, "comment") || !strcmp(id, "type") ||
		    !strcmp(id, "hint"))
			continue;
		int r = snd_config_get_ascii(entry, &value);
		if (!r)
			r = card_params_set(params, id, value);
		if (r)
			SNDERR("rotarytest: bad parameter %s", id);
		free(value);
		if (r)
			return r;
	}
	return 0;
}

/* Busy or gone: the card can't be opened now. */
static int
refuse(struct card *card)
{
	struct card_faults faults;

	card_faults_read(card->params.dir, &faults);
	if (!faults.gone && !faults.busy)
		return 0;
	card_log(card, card_now_ns(), "refused %s",
		 faults.gone ? "gone" : "busy");
	return faults.gone ? -ENODEV : -EBUSY;
}

/* A pipe, since its writer is told by POLLERR that nobody reads any more: a
 * timer, which is the other thing to poll, has no error to show. */
static int
open_cry(struct card *card)
{
	int fds[2];

	if (pipe2(fds, O_NONBLOCK | O_CLOEXEC))
		return -errno;
	card->listen_fd = fds[0];
	card->cry_fd = fds[1];
	return 0;
}

/* Fresh memory is there only once it is written to, which must not be left to
 * the thread that plays: half a minute into it, for the events' later pages. */
static struct card *
new_card(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct card *card = calloc(1, sizeof *card);
	volatile char *bytes = (volatile char *)card;

	for (size_t i = 0; card && i < sizeof *card; i += page)
		bytes[i] = 0;
	if (card)
		bytes[sizeof *card - 1] = 0;
	return card;
}

static int
card_create(const char *name, snd_config_t *conf, struct card **ret_card)
{
	struct card *card = new_card();

	if (!card)
		return -ENOMEM;
	card->wake_fd = card->dir_fd = card->notify_fd = card->heard_fd = -1;
	card->cry_fd = card->listen_fd = -1;
	card->timer_fd =
		timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	int r = -errno;
	if (card->timer_fd < 0)
		goto out;
	card->wake_fd = eventfd(0, EFD_CLOEXEC);
	r = -errno;
	if (card->wake_fd < 0)
		goto out;
	r = open_cry(card);
	if (r)
		goto out;
	snprintf(card->name, sizeof card->name, "%s", name ? name : "");
	card_params_init(&card->params);
	r = read_conf(&card->params, conf);
	if (!r)
		r = card_params_override(&card->params);
	if (!r)
		r = card_files_open(card);
	if (!r)
		r = refuse(card);
out:
	if (r)
		card_destroy(card);
	else
		*ret_card = card;
	return r;
}

int
_snd_pcm_rotarytest_open(snd_pcm_t **ret_pcm, const char *name,
			 snd_config_t *root, snd_config_t *conf,
			 snd_pcm_stream_t stream, int mode)
{
	struct card *card = NULL;

	(void)root;
	if (stream != SND_PCM_STREAM_PLAYBACK)
		return -EINVAL;
	int r = card_create(name, conf, &card);
	if (r)
		return r;
	card->io = (snd_pcm_ioplug_t){
		.version = SND_PCM_IOPLUG_VERSION,
		.name = "Rotary test card",
		.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC |
			 SND_PCM_IOPLUG_FLAG_BOUNDARY_WA,
		.poll_fd = card->timer_fd,
		.poll_events = POLLIN,
		.callback = card_callbacks(card),
		.private_data = card,
	};
	r = snd_pcm_ioplug_create(&card->io, name, stream, mode);
	if (r < 0) {
		card_destroy(card);
		return r;
	}
	card_event(card, CARD_EVENT_OPEN, card_now_ns(), 0, 0);
	r = constrain_all(card);
	if (r < 0) {
		snd_pcm_ioplug_delete(&card->io); /* which closes */
		return r;
	}
	*ret_pcm = card->io.pcm;
	return 0;
}

#pragma GCC visibility push(default)
SND_PCM_PLUGIN_SYMBOL(rotarytest)
#pragma GCC visibility pop

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wav.c - what would have been heard, in a file: paced like null, in the
 * source's own bits, so that what is written is bit-perfect.
 *
 * The output thread writes to the ring of paced.c and never to the file; a
 * thread of the card's own takes from it what has been played. A full disk
 * shows as the card's error at its next status.
 *
 * In one run of the program a file is begun once. Opened again with the same
 * spec the card goes on with it; with another it begins NAME-2.wav, NAME-3.wav
 * and so on. The list of what was written is guarded by one lock, which only
 * workers take. */
#include "daemon/output/paced.h"
#include "daemon/output/wav_file.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/base/thread.h"
#include "lib/sync/wake.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAV_NAMES = 8, WAV_SPARE_MS = 1000 };

static const int64_t STORE_INTERVAL_NS = 500 * INT64_C(1000000);

/* A file name that was opened in this run. */
struct wav_name {
	char *device; /* NULL: not used */
	bool open;
	unsigned number;
	struct card_spec spec;
	uint64_t data_bytes;
};

/* Guarded by names_lock. */
static struct wav_name names[WAV_NAMES];
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

struct wav_card {
	struct card card;
	struct paced paced;
	/* the storing thread's, but at open and close */
	struct wav_file file;
	struct wav_name *name;
	struct thread thread;
	struct wake wake;
	ATOMIC(bool) closing;
	ATOMIC(int) error; /* -errno of a write */
};

static RT_SAFE struct wav_card *
wav_of(struct card *card)
{
	return (void *)card;
}

/* Takes everything that was played to the file. */
static void
store(struct wav_card *wav)
{
	while (atomic_load(&wav->error) == 0) {
		size_t frames = 0;
		const void *from = paced_read(&wav->paced, &frames);
		int error = 0;

		if (frames == 0)
			return;
		error = wav_file_append(&wav->file, from,
					frames * wav->paced.frame_bytes);
		if (error < 0)
			atomic_store(&wav->error, error);
		paced_stored(&wav->paced, frames);
	}
}

static void *
store_main(void *argument)
{
	struct wav_card *wav = argument;

	while (!atomic_load(&wav->closing)) {
		const uint32_t seen = wake_prepare(&wav->wake);

		store(wav);
		if (!atomic_load(&wav->closing))
			(void)wake_wait(&wav->wake, seen, STORE_INTERVAL_NS);
	}
	store(wav);
	return NULL;
}

/* NAME.wav, NAME-2.wav, ... */
static void
make_path(const struct wav_name *name, struct text *path)
{
	const char *slash = strrchr(name->device, '/');
	const char *dot = strrchr(name->device, '.');

	if (name->number == 1 || dot == NULL ||
	    (slash != NULL && dot < slash)) {
		text_add(path, name->device);
		if (name->number > 1)
			text_printf(path, "-%u", name->number);
		return;
	}
	text_add_bytes(path, name->device, (size_t)(dot - name->device));
	text_printf(path, "-%u%s", name->number, dot);
}

static bool
same_spec(const struct card_spec *a, const struct card_spec *b)
{
	return a->rate_hz == b->rate_hz && a->channels == b->channels &&
	       a->format == b->format && a->bits == b->bits;
}

static struct wav_name *
find_name_locked(const char *device)
{
	struct wav_name *unused = NULL;

	for (unsigned i = 0; i < WAV_NAMES; i++) {
		if (names[i].device == NULL)
			unused = unused == NULL ? &names[i] : unused;
		else if (strcmp(names[i].device, device) == 0)
			return &names[i];
	}
	/* A name that is not in use is forgotten for a new one. */
	for (unsigned i = 0; i < WAV_NAMES && unused == NULL; i++) {
		if (!names[i].open)
			unused = &names[i];
	}
	if (unused == NULL)
		return NULL;
	free(unused->device);
	*unused = (struct wav_name){.device = strdup(device)};
	return unused->device == NULL ? NULL : unused;
}

/* The entry for the file to write now. 0, -EBUSY, -ENOMEM. */
static int
take_name(const char *device, const struct card_spec *spec,
	  struct wav_name **ret_name)
{
	struct wav_name *name = NULL;
	int error = 0;

	pthread_mutex_lock(&names_lock);
	name = find_name_locked(device);
	if (name == NULL) {
		error = -ENOMEM;
	} else if (name->open) {
		error = -EBUSY;
	} else {
		name->open = true;
		if (!same_spec(&name->spec, spec)) {
			name->number++;
			name->spec = *spec;
			name->data_bytes = 0;
		}
		*ret_name = name;
	}
	pthread_mutex_unlock(&names_lock);
	return error;
}

static void
give_back_name(struct wav_name *name, uint64_t data_bytes)
{
	pthread_mutex_lock(&names_lock);
	name->open = false;
	name->data_bytes = data_bytes;
	pthread_mutex_unlock(&names_lock);
}

static void
choose_format(const struct audio_spec *spec, enum card_format *ret_format,
	      uint32_t *ret_bits)
{
	if (spec->kind == SAMPLE_F32) {
		*ret_format = CARD_F32;
		*ret_bits = 32;
	} else if (spec->bits <= 16) {
		*ret_format = CARD_S16;
		*ret_bits = 16;
	} else if (spec->bits <= 24) {
		*ret_format = CARD_S24_3;
		*ret_bits = 24;
	} else {
		*ret_format = CARD_S32;
		*ret_bits = 32;
	}
}

static int
open_file(struct wav_card *wav, const char *device, struct text *ret_reason)
{
	struct text path = {0};
	int error = take_name(device, &wav->card.info.spec, &wav->name);

	if (error < 0) {
		text_printf(ret_reason, "cannot write %s: %s", device,
			    error == -EBUSY ? "it is being written already"
					    : text_of_error(error));
		return error;
	}
	make_path(wav->name, &path);
	error = path.failed ? -ENOMEM
			    : wav_file_open(&wav->file, text_string(&path),
					    &wav->card.info.spec,
					    wav->name->data_bytes);
	if (error < 0) {
		text_printf(ret_reason, "cannot write %s: %s",
			    text_string(&path), text_of_error(error));
		give_back_name(wav->name, wav->name->data_bytes);
	}
	snprintf(wav->card.info.name, sizeof(wav->card.info.name), "%s",
		 text_string(&path));
	text_finish(&path);
	return error;
}

static int
start_thread(struct wav_card *wav)
{
	const struct thread_spec spec = {
		.role = THREAD_ROLE_WORKER,
		.name = "rotary-wav",
		.stack_bytes = THREAD_STACK_WORKER,
		.main = store_main,
		.argument = wav,
	};

	wake_init(&wav->wake);
	return thread_start(&wav->thread, &spec);
}

static int
wav_open(const struct card_request *request, struct card **ret_card,
	 struct text *ret_reason)
{
	const char *device =
		request->device != NULL ? request->device : "rotary.wav";
	struct wav_card *wav = aligned_alloc(CACHE_LINE, sizeof(*wav));
	enum card_format format;
	uint32_t bits = 0;
	int error = 0;

	if (wav == NULL)
		return -ENOMEM;
	memset((void *)wav, 0, sizeof(*wav));
	wav->card.ops = &card_wav;
	choose_format(&request->spec, &format, &bits);
	paced_info(request, format, bits, &wav->card.info);
	error = open_file(wav, device, ret_reason);
	if (error < 0)
		goto no_file;
	error = paced_init(&wav->paced, &wav->card.info,
			   (uint32_t)((uint64_t)request->spec.rate_hz *
				      WAV_SPARE_MS / 1000));
	if (error == 0)
		error = start_thread(wav);
	if (error < 0)
		goto no_thread;
	*ret_card = &wav->card;
	return 0;

no_thread:
	text_printf(ret_reason, "no memory to write %s", device);
	paced_finish(&wav->paced);
	give_back_name(wav->name, wav->file.data_bytes);
	(void)wav_file_close(&wav->file);
no_file:
	free(wav);
	return error;
}

static void
wav_close(struct card *card)
{
	struct wav_card *wav = wav_of(card);
	struct card_status status;
	int error = 0;

	(void)paced_status(&wav->paced, &status);
	atomic_store(&wav->closing, true);
	wake_post(&wav->wake);
	thread_join(&wav->thread);
	error = wav_file_close(&wav->file);
	if (atomic_load(&wav->error) < 0)
		error = atomic_load(&wav->error);
	if (error < 0)
		log_err("output", "%s is not whole: %s", card->info.name,
			text_of_error(error));
	give_back_name(wav->name, wav->file.data_bytes);
	paced_finish(&wav->paced);
	free(wav);
}

static RT_DEVICE int
wav_status(struct card *card, struct card_status *ret_status)
{
	struct wav_card *wav = wav_of(card);
	const int failed =
		atomic_load_explicit(&wav->error, memory_order_relaxed);

	if (failed < 0)
		return failed;
	return paced_status(&wav->paced, ret_status);
}

static RT_SAFE int
wav_begin(struct card *card, void **ret_memory, size_t *ret_frames)
{
	return paced_begin(&wav_of(card)->paced, ret_memory, ret_frames);
}

static RT_SAFE int
wav_commit(struct card *card, size_t frames)
{
	return paced_commit(&wav_of(card)->paced, frames);
}

static RT_SAFE long
wav_rewind(struct card *card, size_t frames)
{
	return paced_rewind(&wav_of(card)->paced, frames);
}

static RT_SAFE int
wav_start(struct card *card)
{
	return paced_start(&wav_of(card)->paced);
}

static RT_SAFE int
wav_reset(struct card *card)
{
	return paced_reset(&wav_of(card)->paced);
}

static RT_SAFE int
wav_resume(struct card *card)
{
	(void)card;
	return -ENOSYS;
}

static RT_SAFE unsigned
wav_poll_fds(struct card *card, struct pollfd *ret_fds, unsigned capacity)
{
	(void)card;
	(void)ret_fds;
	(void)capacity;
	return 0;
}

static RT_SAFE int
wav_poll_events(struct card *card, struct pollfd *fds, unsigned count)
{
	(void)card;
	(void)fds;
	(void)count;
	return 0;
}

const struct card_ops card_wav = {
	.name = "wav",
	.open = wav_open,
	.close = wav_close,
	.status = wav_status,
	.begin = wav_begin,
	.commit = wav_commit,
	.rewind = wav_rewind,
	.start = wav_start,
	.reset = wav_reset,
	.resume = wav_resume,
	.poll_fds = wav_poll_fds,
	.poll_events = wav_poll_events,
};

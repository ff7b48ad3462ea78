/* SPDX-License-Identifier: GPL-3.0-or-later */
/* card_files.c - what the test card writes down and is told by files.
 *
 *	DIR/events.log	 a line per event: "SECONDS NUMBER KIND name=value ..."
 *	DIR/heard.N.raw	 what was heard in the N-th set-up, as the format says
 *	DIR/heard.raw	 a link to the newest of them
 *	DIR/fault	 read: words "gone busy stall suspend xrun block MS";
 *			 no file, or an empty one: all is well
 *
 * N goes on where an earlier process left off: no file is ever overwritten.
 * All of it is done by the opener or by the keeper, never by the thread that
 * plays. A disk that is full is told on stderr and makes heard files short;
 * tests compare lengths. */
#include "card.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEARD_MAX = 100000, SILENCE_BYTES = 4096 };

static int
open_heard(struct card *card)
{
	char name[32];

	for (int n = card->number + 1; n < HEARD_MAX; n++) {
		snprintf(name, sizeof name, "heard.%d.raw", n);
		int fd = openat(card->dir_fd, name,
				O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -errno;
		card->number = n;
		card->heard_fd = fd;
		card->heard_frames = 0;
		unlinkat(card->dir_fd, "heard.raw", 0);
		/* Two cards in one folder may race for the link. */
		if (symlinkat(name, card->dir_fd, "heard.raw") &&
		    errno != EEXIST)
			return -errno;
		return 0;
	}
	return -ENFILE;
}

static int
open_all(struct card *card)
{
	const char *dir = card->params.dir;

	if (mkdir(dir, 0755) && errno != EEXIST)
		return -errno;
	card->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (card->dir_fd < 0)
		return -errno;
	card->notify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (card->notify_fd < 0 ||
	    inotify_add_watch(card->notify_fd, dir,
			      IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM |
				      IN_DELETE) < 0)
		return -errno;
	int fd = openat(card->dir_fd, "events.log",
			O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	card->log = fd < 0 ? NULL : fdopen(fd, "a");
	if (!card->log) {
		int r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	return open_heard(card);
}

int
card_files_open(struct card *card)
{
	card->dir_fd = card->notify_fd = card->heard_fd = -1;
	if (!card->params.dir[0])
		return 0;
	int r = open_all(card);
	if (r) {
		fprintf(stderr, "rotarytest: %s: %s\n", card->params.dir,
			strerror(-r));
		card_files_close(card);
	}
	return r;
}

void
card_files_close(struct card *card)
{
	int *const fds[] = {&card->dir_fd, &card->notify_fd, &card->heard_fd};

	if (card->log)
		fclose(card->log);
	card->log = NULL;
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

int
card_files_renew(struct card *card)
{
	if (card->heard_fd < 0 || !card->heard_frames)
		return 0;
	close(card->heard_fd);
	card->heard_fd = -1;
	return open_heard(card);
}

void
card_files_hear(struct card *card, const void *memory, size_t frames)
{
	const char *at = memory;
	size_t left = frames * card->frame_bytes;

	card->heard_frames += frames;
	while (left && card->heard_fd >= 0) {
		ssize_t n = write(card->heard_fd, at, left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			fprintf(stderr, "rotarytest: heard file: %s\n",
				strerror(errno));
			return;
		}
		at += n;
		left -= (size_t)n;
	}
}

void
card_files_silence(struct card *card, size_t frames)
{
	static const char zeros[SILENCE_BYTES];
	size_t most = sizeof zeros / card->frame_bytes;

	while (frames) {
		size_t now = frames < most ? frames : most;
		card_files_hear(card, zeros, now);
		frames -= now;
	}
}

void
card_log(struct card *card, int64_t time_ns, const char *format, ...)
{
	va_list arguments;

	if (!card->log)
		return;
	fprintf(card->log, "%" PRId64 ".%09" PRId64 " %d ",
		time_ns / 1000000000, time_ns % 1000000000, card->number);
	va_start(arguments, format);
	vfprintf(card->log, format, arguments);
	va_end(arguments);
	fputc('\n', card->log);
	fflush(card->log);
}

static void
log_setup(struct card *card, const struct card_event *event)
{
	const snd_pcm_ioplug_t *io = &card->io;

	card_log(card, event->time_ns,
		 "hw_params access=%s format=%s rate=%u channels=%u "
		 "period=%lu buffer=%lu",
		 snd_pcm_access_name(io->access),
		 snd_pcm_format_name(io->format), io->rate, io->channels,
		 io->period_size, io->buffer_size);
}

void
card_log_event(struct card *card, const struct card_event *event)
{
	static const char *const names[] = {
		[CARD_EVENT_OPEN] = "open",
		[CARD_EVENT_SETUP] = "hw_params",
		[CARD_EVENT_PREPARE] = "prepare",
		[CARD_EVENT_START] = "start",
		[CARD_EVENT_DROP] = "drop",
		[CARD_EVENT_DRAINED] = "drained",
		[CARD_EVENT_XRUN] = "xrun",
		[CARD_EVENT_SUSPEND] = "suspend",
		[CARD_EVENT_RESUME] = "resume",
		[CARD_EVENT_GONE] = "gone",
		[CARD_EVENT_REWIND] = "rewind",
		[CARD_EVENT_FORWARD] = "forward",
		[CARD_EVENT_LATE] = "late",
		[CARD_EVENT_BLOCK] = "block",
		[CARD_EVENT_CLOSE] = "close",
	};

	switch (event->kind) {
	case CARD_EVENT_OPEN:
		card_log(card, event->time_ns, "open name=%s", card->name);
		return;
	case CARD_EVENT_SETUP:
		log_setup(card, event);
		return;
	case CARD_EVENT_REWIND:
	case CARD_EVENT_FORWARD:
	case CARD_EVENT_LATE:
		card_log(card, event->time_ns, "%s frames=%" PRId64,
			 names[event->kind], event->value);
		return;
	case CARD_EVENT_BLOCK:
		card_log(card, event->time_ns, "block ms=%" PRId64,
			 event->value);
		return;
	default:
		card_log(card, event->time_ns, "%s heard=%" PRIu64,
			 names[event->kind], card->heard_frames);
	}
}

void
card_faults_read(const char *dir, struct card_faults *ret_faults)
{
	char path[CARD_PATH_MAX + 8];
	char word[16];
	struct card_faults faults = {.gone = false};

	snprintf(path, sizeof path, "%s/fault", dir);
	FILE *file = dir[0] ? fopen(path, "re") : NULL;
	while (file && fscanf(file, "%15s", word) == 1) {
		if (!strcmp(word, "gone"))
			faults.gone = true;
		else if (!strcmp(word, "busy"))
			faults.busy = true;
		else if (!strcmp(word, "stall"))
			faults.stall = true;
		else if (!strcmp(word, "suspend"))
			faults.suspend = true;
		else if (!strcmp(word, "xrun"))
			faults.xrun = true;
		else if (strcmp(word, "block") ||
			 fscanf(file, "%u", &faults.block_ms) != 1)
			fprintf(stderr, "rotarytest: fault: \"%s\"?\n", word);
	}
	if (file)
		fclose(file);
	*ret_faults = faults;
}

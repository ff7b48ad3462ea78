/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipe_end.c - see pipe_end.h.
 *
 * A pipe takes up to PIPE_BUF bytes whole or not at all, and takes them when it
 * polls as writable. So standard output, whose flags other programs may share,
 * need not be made non-blocking, and no frame is ever cut in two by us. */
#include "daemon/output/pipe_end.h"

#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT_MAX = 8 };

/* Ends that no card uses now. Guarded by kept_lock. */
struct kept_end {
	int fd;
	bool used;
};

static struct kept_end kept[KEPT_MAX];
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static int
refuse(struct text *ret_reason, const char *device, const char *why, int error)
{
	text_printf(ret_reason, "cannot write to %s: %s", device, why);
	return error;
}

/* An end of the FIFO for writing, which nobody need read: it is opened for both
 * first. */
static int
open_writing(const char *path)
{
	const int both = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int fd = -1;

	if (both < 0)
		return -1;
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	close(both);
	return fd;
}

/* The FIFO at path is the one that fd is open on. */
static bool
is_same(const char *path, int fd)
{
	struct stat there, held;

	return stat(path, &there) == 0 && fstat(fd, &held) == 0 &&
	       there.st_dev == held.st_dev && there.st_ino == held.st_ino;
}

/* Takes the end that was left by an earlier one. */
static int
take_kept(const char *path)
{
	int fd = -1;

	pthread_mutex_lock(&kept_lock);
	for (unsigned i = 0; i < KEPT_MAX && fd < 0; i++) {
		if (!kept[i].used || !is_same(path, kept[i].fd))
			continue;
		fd = kept[i].fd;
		kept[i].used = false;
	}
	pthread_mutex_unlock(&kept_lock);
	return fd;
}

/* The one that was left first makes room. */
static void
keep(int fd)
{
	unsigned at = KEPT_MAX - 1;

	pthread_mutex_lock(&kept_lock);
	for (unsigned i = 0; i < KEPT_MAX; i++)
		if (!kept[i].used && at == KEPT_MAX - 1)
			at = i;
	if (kept[at].used)
		close(kept[at].fd);
	kept[at] = (struct kept_end){.fd = fd, .used = true};
	pthread_mutex_unlock(&kept_lock);
}

static int
init_standard_output(struct pipe_end *end, struct text *ret_reason)
{
	struct stat status;

	if (fstat(STDOUT_FILENO, &status) < 0)
		return refuse(ret_reason, "standard output",
			      text_of_error(errno), -EBADF);
	if (isatty(STDOUT_FILENO))
		return refuse(ret_reason, "standard output",
			      "it is a terminal; send it through a pipe",
			      -EINVAL);
	if (!S_ISFIFO(status.st_mode) && !S_ISREG(status.st_mode) &&
	    !S_ISCHR(status.st_mode))
		return refuse(ret_reason, "standard output",
			      "it is neither a pipe nor a file", -EINVAL);
	end->is_file = !S_ISFIFO(status.st_mode);
	end->fd = STDOUT_FILENO;
	return 0;
}

static int
init_fifo(struct pipe_end *end, const char *device, struct text *ret_reason)
{
	struct stat status;

	if (mkfifo(device, S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP) < 0 &&
	    errno != EEXIST)
		return refuse(ret_reason, device, text_of_error(errno), -errno);
	if (stat(device, &status) < 0)
		return refuse(ret_reason, device, text_of_error(errno), -errno);
	if (!S_ISFIFO(status.st_mode))
		return refuse(ret_reason, device,
			      "it is there and no FIFO; the wav output writes "
			      "files",
			      -EINVAL);
	if (access(device, W_OK) < 0)
		return refuse(ret_reason, device, text_of_error(errno), -errno);
	end->path = strdup(device);
	if (end->path == NULL)
		return -ENOMEM;
	end->fd = take_kept(device);
	if (end->fd < 0)
		end->fd = open_writing(device);
	return 0;
}

int
pipe_end_init(struct pipe_end *end, const char *device, size_t frame_bytes,
	      struct text *ret_reason)
{
	*end = (struct pipe_end){.fd = -1, .frame_bytes = frame_bytes};
	return strcmp(device, "-") == 0 ? init_standard_output(end, ret_reason)
					: init_fifo(end, device, ret_reason);
}

void
pipe_end_finish(struct pipe_end *end)
{
	if (end->fd >= 0 && end->path != NULL)
		keep(end->fd);
	end->fd = -1;
	free(end->path);
	end->path = NULL;
}

/* POLLERR is what the end of a pipe says that nobody reads. */
static bool
is_read(const struct pipe_end *end)
{
	struct pollfd poll_fd = {.fd = end->fd, .events = POLLOUT};

	return end->is_file || poll(&poll_fd, 1, 0) == 0 ||
	       (poll_fd.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
}

/* Throws away what was not read; so the next reader begins with a frame. */
static void
drain(const struct pipe_end *end)
{
	char bytes[1024];
	const int fd = open(end->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	while (read(fd, bytes, sizeof(bytes)) > 0)
		continue;
	close(fd);
}

bool
pipe_end_has_reader(struct pipe_end *end)
{
	if (end->path != NULL && !end->has_reader &&
	    (end->fd < 0 || !is_same(end->path, end->fd))) {
		if (end->fd >= 0)
			close(end->fd);
		end->fd = open_writing(end->path);
	}
	if (end->fd >= 0 && is_read(end)) {
		end->has_reader = true;
	} else if (end->has_reader) {
		end->has_reader = false;
		if (end->path != NULL)
			drain(end);
	}
	return end->has_reader;
}

bool
pipe_end_has_room(const struct pipe_end *end)
{
	struct pollfd poll_fd = {.fd = end->fd, .events = POLLOUT};

	return poll(&poll_fd, 1, 0) > 0;
}

int
pipe_end_write(struct pipe_end *end, const void *from, size_t frames)
{
	ssize_t written = 0;

	if (frames > pipe_end_chunk(end))
		frames = pipe_end_chunk(end);
	if (frames == 0 || !pipe_end_has_room(end))
		return 0;
	written = write(end->fd, from, frames * end->frame_bytes);
	if (written < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (written < 0)
		return -errno;
	return (int)((size_t)written / end->frame_bytes);
}

size_t
pipe_end_chunk(const struct pipe_end *end)
{
	return PIPE_BUF / end->frame_bytes;
}

size_t
pipe_end_unread(const struct pipe_end *end)
{
	int bytes = 0;

	if (end->fd < 0 || end->is_file || ioctl(end->fd, FIONREAD, &bytes) < 0)
		return 0;
	return (size_t)bytes / end->frame_bytes;
}

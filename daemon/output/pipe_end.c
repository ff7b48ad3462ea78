/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipe_end.c - see pipe_end.h.
 *
 * A pipe takes up to PIPE_BUF bytes whole or not at all, and takes them when it
 * polls as writable. So standard output, whose flags other programs may share,
 * need not be made non-blocking, and no frame is ever cut in two. */
#include "daemon/output/pipe_end.h"

#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int
refuse(struct text *ret_reason, const char *device, const char *why, int error)
{
	text_printf(ret_reason, "cannot write to %s: %s", device, why);
	return error;
}

static int
init_standard_output(struct pipe_end *end, struct text *ret_reason)
{
	struct stat status;

	if (fstat(STDOUT_FILENO, &status) < 0)
		return refuse(ret_reason, "standard output", strerror(errno),
			      -EBADF);
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
		return refuse(ret_reason, device, strerror(errno), -errno);
	if (stat(device, &status) < 0)
		return refuse(ret_reason, device, strerror(errno), -errno);
	if (!S_ISFIFO(status.st_mode))
		return refuse(ret_reason, device,
			      "it is there and no FIFO; the wav output writes "
			      "files",
			      -EINVAL);
	if (access(device, W_OK) < 0)
		return refuse(ret_reason, device, strerror(errno), -errno);
	end->path = strdup(device);
	return end->path != NULL ? 0 : -ENOMEM;
}

int
pipe_end_init(struct pipe_end *end, const char *device, size_t frame_bytes,
	      struct text *ret_reason)
{
	*end = (struct pipe_end){.fd = -1, .frame_bytes = frame_bytes};
	return strcmp(device, "-") == 0 ? init_standard_output(end, ret_reason)
					: init_fifo(end, device, ret_reason);
}

static void
drop(struct pipe_end *end)
{
	if (end->fd >= 0 && end->path != NULL)
		close(end->fd);
	end->fd = -1;
}

void
pipe_end_finish(struct pipe_end *end)
{
	drop(end);
	free(end->path);
	end->path = NULL;
}

/* POLLERR is what the end of a pipe says that nobody reads. */
static bool
is_left(const struct pipe_end *end)
{
	struct pollfd poll_fd = {.fd = end->fd, .events = POLLOUT};

	return poll(&poll_fd, 1, 0) > 0 &&
	       (poll_fd.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

bool
pipe_end_has_reader(struct pipe_end *end)
{
	if (end->fd >= 0 && !end->is_file && is_left(end))
		drop(end);
	if (end->fd < 0 && end->path != NULL)
		end->fd = open(end->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	return end->fd >= 0;
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
	if (written < 0) {
		const int error = -errno;

		drop(end);
		return error;
	}
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

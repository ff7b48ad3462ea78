/* SPDX-License-Identifier: GPL-3.0-or-later */
/* file.c - a source that is a regular file.
 *
 * Read with pread() at a place of our own, so that a descriptor handed to us
 * may be shared. The kernel is asked to read ahead what follows and to forget
 * what was played: a long file should not push everything else out of the page
 * cache of a small machine. The first KEEP_BYTES stay, since each seek, which
 * is a new stream, reads the headers again. */
#include "daemon/source/source.h"

#include "daemon/source/skips.h"
#include "lib/base/clock.h"
#include "lib/rt/rt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	AHEAD_BYTES = 1 << 20,
	FORGET_STEP_BYTES = 1 << 20,
	KEEP_BYTES = 1 << 20,
};

struct source {
	int fd;
	uint64_t offset;
	uint64_t advised;   /* read-ahead was asked for up to here */
	uint64_t forgotten; /* and the cache was given back up to here */
	struct stat status; /* when it was opened */
};

int
source_open_fd(int fd, struct source **ret_source)
{
	struct stat status;
	struct source *source = NULL;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	source = calloc(1, sizeof(*source));
	if (source == NULL)
		return -ENOMEM;
	source->fd = fd;
	source->forgotten = KEEP_BYTES;
	source->status = status;
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	*ret_source = source;
	return 0;
}

static int
open_local(const struct source_ref *ref)
{
	char *path = malloc(PATH_URI_MAX + 1);
	int fd = 0;

	if (path == NULL)
		return -ENOMEM;
	fd = path_local(ref->uri, path, PATH_URI_MAX + 1);
	if (fd == 0)
		fd = path_open_local(path, ref->uid, O_RDONLY);
	free(path);
	return fd;
}

static bool
is_passed_over(const struct source *source, const char *uri)
{
	struct rt_subject subject;

	source_describe(source, uri, &subject);
	return skips_has(&subject);
}

int
source_open(const struct path_root *root, const struct source_ref *ref,
	    struct source **ret_source)
{
	struct source *source = NULL;
	int error = 0;
	const int fd = path_uri_is_local(ref->uri)
			       ? open_local(ref)
			       : path_open(root, ref->uri, O_RDONLY);

	if (fd < 0)
		return fd;
	error = source_open_fd(fd, &source);
	if (source == NULL) {
		(void)close(fd);
		return error;
	}
	if (is_passed_over(source, ref->uri)) {
		source_close(source);
		return -ENOTRECOVERABLE;
	}
	*ret_source = source;
	return 0;
}

void
source_close(struct source *source)
{
	if (source == NULL)
		return;
	(void)close(source->fd);
	free(source);
}

static void
advise(struct source *source)
{
	if (source->offset + AHEAD_BYTES / 2 > source->advised) {
		(void)posix_fadvise(source->fd, (off_t)source->offset,
				    AHEAD_BYTES, POSIX_FADV_WILLNEED);
		source->advised = source->offset + AHEAD_BYTES;
	}
	if (source->offset >= source->forgotten + FORGET_STEP_BYTES) {
		(void)posix_fadvise(source->fd, (off_t)source->forgotten,
				    (off_t)(source->offset - source->forgotten),
				    POSIX_FADV_DONTNEED);
		source->forgotten = source->offset;
	}
}

ssize_t
source_read(struct source *source, void *ret_bytes, size_t length)
{
	ssize_t count = 0;

	do {
		count = pread(source->fd, ret_bytes, length,
			      (off_t)source->offset);
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		return -errno;
	source->offset += (uint64_t)count;
	advise(source);
	return count;
}

int
source_seek(struct source *source, uint64_t offset)
{
	if (offset > INT64_MAX)
		return -EINVAL;
	source->offset = offset;
	source->advised = 0;
	/* What was jumped over was not read, so there is nothing to forget. */
	source->forgotten = offset > KEEP_BYTES ? offset : KEEP_BYTES;
	return 0;
}

uint64_t
source_tell(const struct source *source)
{
	return source->offset;
}

uint64_t
source_length(const struct source *source)
{
	struct stat status;

	if (fstat(source->fd, &status) < 0 || status.st_size < 0)
		return UINT64_MAX;
	return (uint64_t)status.st_size;
}

int64_t
source_mtime_s(const struct source *source)
{
	return source->status.st_mtim.tv_sec;
}

void
source_describe(const struct source *source, const char *uri,
		struct rt_subject *ret_subject)
{
	const struct timespec *mtime = &source->status.st_mtim;

	*ret_subject = (struct rt_subject){
		.name = uri,
		.is_open = true,
		.size_bytes = (uint64_t)source->status.st_size,
		.mtime_ns = mtime->tv_sec * NS_PER_S + mtime->tv_nsec,
	};
}

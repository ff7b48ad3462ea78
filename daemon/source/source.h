/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source.h - where the bytes of a stream come from: for now, files.
 *
 * Threads: one worker at a time. RT: MAY_BLOCK, all of it. A source is opened,
 * read and closed on workers only; the real-time side sees a byte ring. */
#ifndef ROTARY_SOURCE_SOURCE_H
#define ROTARY_SOURCE_SOURCE_H

#include "daemon/source/path.h"
#include "lib/base/attr.h"

#include <stdbool.h>
#include <sys/types.h>

struct source;
struct rt_subject;

/* What to open; copied into whoever keeps it. */
struct source_ref {
	const char *uri; /* relative to the music folder, or local */
	uid_t uid;       /* who asked, for local uris */
};

/* Opens a regular file. FIFOs, folders, sockets and devices are refused
 * without waiting. 0, -EISDIR, -EINVAL (not a regular file), -ENOTRECOVERABLE
 * (it is passed over, see skips.h), -errno. */
NODISCARD int source_open(const struct path_root *root,
			  const struct source_ref *ref,
			  struct source **ret_source);
/* Opens what a descriptor already refers to; owns fd on success. */
NODISCARD int source_open_fd(int fd, struct source **ret_source);
void source_close(struct source *source);

/* Reads up to length bytes at the current place. Bytes, 0 at the end, -errno.
 * Regular files are read ahead with posix_fadvise() and not kept cached. */
NODISCARD ssize_t source_read(struct source *source, void *ret_bytes,
			      size_t length);
NODISCARD int source_seek(struct source *source, uint64_t offset);
uint64_t source_tell(const struct source *source);
/* Length in bytes, or UINT64_MAX when it is not known. */
uint64_t source_length(const struct source *source);
/* CLOCK_REALTIME seconds of the last change. */
int64_t source_mtime_s(const struct source *source);
/* As what a thread that works on it should set, for crashes; its name is uri,
 * which must outlive it. */
void source_describe(const struct source *source, const char *uri,
		     struct rt_subject *ret_subject);

#endif

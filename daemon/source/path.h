/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path.h - the one gate between names that others give us and files.
 *
 * A URI of ours is relative to the music folder: no leading '/', no "." or
 * ".." part, no empty part, no NUL, at most PATH_URI_MAX bytes. Such a name is
 * opened beneath the folder and nowhere else. With follow_links, links inside
 * the music folder are followed wherever they lead (they are the owner's own);
 * without, nothing that leaves the folder is (openat2, RESOLVE_BENEATH |
 * RESOLVE_NO_MAGICLINKS). Absolute names and file:// are for clients on the
 * local socket, for files they could read themselves.
 * Threads: path_uri_* pure, any; path_open* worker (MAY_BLOCK). */
#ifndef ROTARY_SOURCE_PATH_H
#define ROTARY_SOURCE_PATH_H

#include "lib/base/attr.h"

#include <stdbool.h>
#include <sys/types.h>

enum { PATH_URI_MAX = 4095 };

struct path_root {
	const char *folder; /* absolute */
	bool follow_links;
};

/* 0, -EINVAL (not a name of ours, see above), -ENAMETOOLONG. "" is the folder
 * itself. */
NODISCARD int path_uri_check(const char *uri);
/* Writes uri without leading, trailing and doubled slashes ("/" gives ""). */
NODISCARD int path_uri_normalize(const char *uri, char *ret_uri,
				 size_t capacity);
/* True for "/..." and "file://...". */
bool path_uri_is_local(const char *uri);
/* The absolute path of a local uri with %XX resolved for file://. 0, -EINVAL,
 * -ENAMETOOLONG. */
NODISCARD int path_local(const char *uri, char *ret_path, size_t capacity);

/* Opens beneath root: O_CLOEXEC, never a terminal, and never blocking on a
 * FIFO. Returns a descriptor, -EINVAL (bad name), -EXDEV (leads outside),
 * -errno from the kernel. */
NODISCARD int path_open(const struct path_root *root, const char *uri,
			int flags);
/* Opens an absolute path for a client of uid: any file for the daemon's own
 * uid, else one that uid owns or everyone may read. -EACCES otherwise. */
NODISCARD int path_open_local(const char *path, uid_t uid, int flags);

#endif

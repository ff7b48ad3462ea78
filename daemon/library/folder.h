/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folder.h - reads songs straight from the music folder: one song, one folder,
 * or everything below it.
 *
 * Of each folder first the files, then the folders; both by the bytes of their
 * names, whatever the locale. Left out are files whose suffix no decoder knows
 * and names that start with a dot or hold a newline. A name that is not fit for
 * a line of the protocol is told in the form of name.h, which path_open()
 * understands. A file that cannot be read or decoded is told without tags; what
 * is inside and cannot be entered or looked at is left out.
 *
 * Links: a folder is entered where it really is, and at most once more by way
 * of links; never inside itself (device and inode). So no maze of links makes
 * a walk endless.
 * Threads: worker. RT: MAY_BLOCK. */
#ifndef ROTARY_LIBRARY_FOLDER_H
#define ROTARY_LIBRARY_FOLDER_H

#include "daemon/library/song.h"
#include "daemon/source/source.h"
#include "lib/base/attr.h"

#include <stdbool.h>

enum folder_entry_kind { FOLDER_SONG, FOLDER_FOLDER, FOLDER_FILE };

struct folder_entry {
	enum folder_entry_kind kind;
	const char *uri;
	struct song *song; /* FOLDER_SONG with tags wanted, else NULL; not
			      owned by who is called */
	int64_t mtime_s;
	uint64_t size_bytes;
};

/* Return false to stop. */
typedef bool folder_fn(void *context, const struct folder_entry *entry);

struct folder_request {
	const struct path_root *root;
	struct source_ref ref; /* "" is the music folder */
	bool recursive;
	bool tags;                          /* read them: opens each file */
	bool other_files;                   /* FOLDER_FILE too, for listfiles */
	const ATOMIC(uint32_t) * cancelled; /* may be NULL */
};

/* Calls entry for what ref names: a file itself, or a folder's contents.
 * 0 (also when entry stopped it), -ENOENT, -ENOTDIR, -EINVAL (neither file nor
 * folder), -EACCES, -ECANCELED, -errno. ret_reason, a static string, says why;
 * it is also set when a single song was told without tags, else NULL. */
MAY_BLOCK NODISCARD int folder_read(const struct folder_request *request,
				    folder_fn *entry, void *context,
				    const char **ret_reason);

/* The tags of one file. *ret_song has no tags when it cannot be decoded, or is
 * passed over (skips.h); then, and on failure, ret_reason, a static string,
 * says why, else it is NULL. 0, -ENOENT, -EISDIR, -EINVAL (not a regular file),
 * -EACCES, -ENOMEM, -errno.
 */
MAY_BLOCK NODISCARD int folder_read_song(const struct path_root *root,
					 const struct source_ref *ref,
					 struct song **ret_song,
					 const char **ret_reason);

#endif

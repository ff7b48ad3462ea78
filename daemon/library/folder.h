/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folder.h - reads songs straight from the music folder: one song, one folder,
 * or everything below it.
 *
 * Names are sorted as people sort them (by the locale-free order of their
 * bytes, numbers not split), files whose suffix no decoder knows are left out,
 * so are names that start with a dot or hold a newline. Links that lead in a
 * circle are entered once (device and inode). A file that cannot be read or
 * decoded is listed with its URI and no tags.
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
	struct song *song; /* FOLDER_SONG; not owned by who is called */
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

/* Calls entry for what ref names: a song itself, or a folder's contents.
 * 0, -ENOENT, -ENOTDIR, -ECANCELED, -errno; ret_reason is static. */
MAY_BLOCK NODISCARD int folder_read(const struct folder_request *request,
				    folder_fn *entry, void *context,
				    const char **ret_reason);

/* The tags of one file. *ret_song has no tags when it cannot be decoded; then
 * ret_reason, a static string, says why, else it is NULL. */
MAY_BLOCK NODISCARD int folder_read_song(const struct path_root *root,
					 const struct source_ref *ref,
					 struct song **ret_song,
					 const char **ret_reason);

#endif

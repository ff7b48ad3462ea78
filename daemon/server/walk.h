/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk.h - songs and folders under a URI, read on workers piece by piece.
 *
 * Each piece is one job of at most some 50 ms, so that a big library is no
 * stuck worker, and no further piece is read before the last one was taken: a
 * slow client costs no memory. Order: a folder's songs by name, then each of
 * its folders, followed (when recursive) by what is in it. A folder is entered
 * where it really is and at most once more by way of links, never inside
 * itself, as folder.h says. Inside, what cannot be read is left out. Threads:
 * control. Errors: -ENOENT, -ENOTDIR (not a folder), -EISDIR (not a song),
 * -EACCES, -EINVAL (not a name of ours), -ETIMEDOUT (the file system does not
 * answer), -ENOMEM, -errno. */
#ifndef ROTARY_SERVER_WALK_H
#define ROTARY_SERVER_WALK_H

#include "daemon/library/folder.h"
#include "daemon/source/path.h"
#include "lib/base/attr.h"

#include <stdbool.h>
#include <sys/types.h>

struct walk;
struct work;

enum walk_what {
	WALK_ANY,
	WALK_ONLY_SONG,   /* -EISDIR for a folder */
	WALK_ONLY_FOLDER, /* -ENOTDIR for a song */
};

struct walk_request {
	struct work *work;
	const struct path_root *root; /* copied */
	const char *uri;              /* checked; copied */
	uid_t uid;
	enum walk_what what;
	bool recursive;
	bool tags;        /* else songs have only a URI */
	bool other_files; /* FOLDER_FILE too */
	bool itself;      /* the folder that uri names comes first */
};

struct walk_item {
	enum folder_entry_kind kind;
	char *uri;
	struct song *song; /* FOLDER_SONG with tags */
	int64_t mtime_s;
	uint64_t size_bytes;
};

/* wake is called when walk_next() has something after WALK_WAIT. NULL: no
 * memory. */
NODISCARD struct walk *walk_create(const struct walk_request *request,
				   void (*wake)(void *context), void *context);
/* Any time: a running job is cancelled and frees itself. */
void walk_destroy(struct walk *walk);

enum walk_next { WALK_ITEM, WALK_WAIT, WALK_END, WALK_FAILED };

/* The item is valid until the next call. */
enum walk_next walk_next(struct walk *walk, const struct walk_item **ret_item);
int walk_error(const struct walk *walk);

#endif

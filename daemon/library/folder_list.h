/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folder_list.h - the names in one folder, with what they are, sorted: files
 * first, then folders. For folder.c. Threads: worker. */
#ifndef ROTARY_LIBRARY_FOLDER_LIST_H
#define ROTARY_LIBRARY_FOLDER_LIST_H

#include "daemon/library/folder.h"
#include "daemon/library/place_set.h"
#include "lib/base/text.h"

struct folder_item {
	size_t name; /* its place in names */
	enum folder_entry_kind kind;
	bool by_link;
	struct place place;
	int64_t mtime_s;
	uint64_t size_bytes;
};

struct folder_list {
	struct folder_item *items;
	size_t count;
	size_t capacity;
	struct text names; /* as the file system has them, each with its NUL */
};

void folder_list_finish(struct folder_list *list);
/* Reads the folder that fd refers to, which is closed; uri is its name. 0,
 * -ECANCELED, -ENOMEM, -errno. */
MAY_BLOCK NODISCARD int folder_list_read(struct folder_list *list,
					 const struct folder_request *request,
					 const char *uri, int fd);
const char *folder_list_name(const struct folder_list *list,
			     const struct folder_item *item);

/* Opens what uri names for the request: beneath the music folder, or as a
 * local file. Returns a descriptor or -errno. */
MAY_BLOCK NODISCARD int folder_open(const struct folder_request *request,
				    const char *uri, int flags);
/* Adds the name of a folder's child to its uri, in the form for clients. False:
 * too long. */
bool folder_add_name(struct text *uri, const char *name);
bool folder_cancelled(const struct folder_request *request);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folder_list.c - reads one folder whole and lets go of it.
 *
 * The descriptor is closed before anything else is opened, so that a walk
 * needs one descriptor however deep it is. What a link leads to is looked at
 * through the same gate as any other name (path.h), so that a folder's listing
 * never tells more than could be opened. */
#include "daemon/library/folder_list.h"

#include "daemon/decode/decoder.h"
#include "daemon/source/name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
folder_list_finish(struct folder_list *list)
{
	free(list->items);
	text_finish(&list->names);
	*list = (struct folder_list){0};
}

const char *
folder_list_name(const struct folder_list *list, const struct folder_item *item)
{
	return list->names.bytes + item->name;
}

bool
folder_cancelled(const struct folder_request *request)
{
	return request->cancelled != NULL &&
	       atomic_load_explicit(request->cancelled, memory_order_relaxed);
}

int
folder_open(const struct folder_request *request, const char *uri, int flags)
{
	char *path = NULL;
	int fd = 0;

	if (!path_uri_is_local(uri))
		return path_open(request->root, uri, flags);
	path = malloc(PATH_URI_MAX + 1);
	if (path == NULL)
		return -ENOMEM;
	fd = path_local(uri, path, PATH_URI_MAX + 1);
	if (fd == 0)
		fd = path_open_local(path, request->ref.uid, flags);
	free(path);
	return fd;
}

bool
folder_add_name(struct text *uri, const char *name)
{
	if (uri->length > 0 && uri->bytes[uri->length - 1] != '/')
		text_add_char(uri, '/');
	name_add_outside(uri, name);
	return uri->failed || uri->length <= PATH_URI_MAX;
}

/* What a link leads to. */
static int
follow(const struct folder_request *request, const char *folder_uri,
       const char *name, struct stat *ret_status)
{
	struct text uri = {0};
	int fd = -ENAMETOOLONG;

	text_add(&uri, folder_uri);
	if (folder_add_name(&uri, name))
		fd = uri.failed ? -ENOMEM
				: folder_open(request, uri.bytes, O_PATH);
	text_finish(&uri);
	if (fd < 0)
		return fd;
	if (fstat(fd, ret_status) < 0) {
		(void)close(fd);
		return -errno;
	}
	(void)close(fd);
	return 0;
}

static int
append(struct folder_list *list, const char *name,
       const struct folder_item *item)
{
	struct folder_item *items = NULL;
	size_t capacity = 0;

	if (list->count == list->capacity) {
		capacity = list->capacity == 0 ? 32 : list->capacity * 2;
		items = realloc(list->items, capacity * sizeof(*items));
		if (items == NULL)
			return -ENOMEM;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count] = *item;
	list->items[list->count++].name = list->names.length;
	text_add_bytes(&list->names, name, strlen(name) + 1);
	return list->names.failed ? -ENOMEM : 0;
}

/* False when this file is not wanted. */
static bool
kind_of(const struct folder_request *request, const char *name,
	const struct stat *status, enum folder_entry_kind *ret_kind)
{
	if (S_ISDIR(status->st_mode)) {
		*ret_kind = FOLDER_FOLDER;
		return true;
	}
	*ret_kind = decoder_knows_suffix(name) ? FOLDER_SONG : FOLDER_FILE;
	return S_ISREG(status->st_mode) &&
	       (*ret_kind == FOLDER_SONG || request->other_files);
}

static int
add_name(struct folder_list *list, const struct folder_request *request,
	 const char *uri, int folder, const char *name)
{
	struct folder_item item = {0};
	struct stat status;
	int error = 0;

	if (name[0] == '.' || strchr(name, '\n') != NULL)
		return 0;
	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return 0; /* gone meanwhile */
	if (S_ISLNK(status.st_mode)) {
		error = follow(request, uri, name, &status);
		if (error < 0)
			return error == -ENOMEM ? error : 0;
		item.by_link = true;
	}
	if (!kind_of(request, name, &status, &item.kind))
		return 0;
	item.place = (struct place){status.st_dev, status.st_ino};
	item.mtime_s = status.st_mtim.tv_sec;
	item.size_bytes = (uint64_t)status.st_size;
	return append(list, name, &item);
}

static int
compare(const void *a, const void *b, void *names)
{
	const struct folder_item *first = a;
	const struct folder_item *second = b;
	const bool first_folder = first->kind == FOLDER_FOLDER;
	const bool second_folder = second->kind == FOLDER_FOLDER;

	if (first_folder != second_folder)
		return first_folder ? 1 : -1;
	return strcmp((const char *)names + first->name,
		      (const char *)names + second->name);
}

int
folder_list_read(struct folder_list *list, const struct folder_request *request,
		 const char *uri, int fd)
{
	DIR *folder = fdopendir(fd);
	const struct dirent *entry = NULL;
	int error = 0;

	if (folder == NULL) {
		error = -errno;
		(void)close(fd);
		return error;
	}
	while (error == 0) {
		errno = 0;
		entry = readdir(folder);
		if (entry == NULL) {
			error = -errno;
			break;
		}
		error = folder_cancelled(request)
				? -ECANCELED
				: add_name(list, request, uri, dirfd(folder),
					   entry->d_name);
	}
	(void)closedir(folder);
	if (error == 0 && list->count > 0)
		qsort_r(list->items, list->count, sizeof(list->items[0]),
			compare, list->names.bytes);
	return error;
}

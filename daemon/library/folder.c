/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folder.c - the walk through folders.
 *
 * A folder is read whole, sorted, and told name by name; one that is entered
 * becomes a level on a stack of our own, so that depth costs memory and no
 * stack (a path of 4,095 bytes has up to 2,047 levels). One text holds the URI
 * and is cut back to the level's length before each name.
 *
 * Where a walk may go: down a real folder always, for those are a tree. A
 * folder that is a link, or lies below one, is entered unless the walk is
 * inside it already or has been there by way of a link before. So each folder
 * is told at most twice, where it is and where a link leads to it. */
#include "daemon/library/folder.h"

#include "daemon/library/folder_list.h"
#include "daemon/source/name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct level {
	struct level *above;
	struct folder_list list;
	size_t next;
	size_t uri_length;
	struct place place;
	bool by_link; /* it or a folder above it is a link */
};

struct walk {
	const struct folder_request *request;
	folder_fn *entry;
	void *context;
	struct text uri;
	struct level *level;
	struct place_set linked; /* entered by way of a link */
	bool stopped;
};

static void
pop_level(struct walk *walk)
{
	struct level *level = walk->level;

	walk->level = level->above;
	folder_list_finish(&level->list);
	free(level);
}

/* Reads the folder that fd refers to; its name is walk->uri. */
static int
push_level(struct walk *walk, int fd, bool by_link)
{
	struct level *level = calloc(1, sizeof(*level));
	struct stat status;
	int error = 0;

	if (level == NULL || fstat(fd, &status) < 0) {
		error = level == NULL ? -ENOMEM : -errno;
		free(level);
		(void)close(fd);
		return error;
	}
	level->place = (struct place){status.st_dev, status.st_ino};
	level->by_link = by_link;
	level->uri_length = walk->uri.length;
	error = folder_list_read(&level->list, walk->request,
				 text_string(&walk->uri), fd);
	level->above = walk->level;
	walk->level = level;
	if (error < 0)
		pop_level(walk);
	return error;
}

static bool
is_inside(const struct walk *walk, struct place place)
{
	for (const struct level *i = walk->level; i != NULL; i = i->above)
		if (i->place.inode == place.inode &&
		    i->place.device == place.device)
			return true;
	return false;
}

/* 1: go in; 0: don't; -ENOMEM. */
static int
may_enter(struct walk *walk, const struct folder_item *item)
{
	if (is_inside(walk, item->place))
		return 0;
	if (!item->by_link && !walk->level->by_link)
		return 1;
	return place_set_add(&walk->linked, item->place);
}

static int
enter(struct walk *walk, const struct folder_item *item)
{
	const bool by_link = item->by_link || walk->level->by_link;
	int error = may_enter(walk, item);
	int fd = 0;

	if (error <= 0)
		return error;
	fd = folder_open(walk->request, walk->uri.bytes,
			 O_RDONLY | O_DIRECTORY);
	error = fd < 0 ? fd : push_level(walk, fd, by_link);
	/* What cannot be entered is left out. */
	return error == -ENOMEM || error == -ECANCELED ? error : 0;
}

/* A file that cannot be decoded is a song without tags. */
static int
read_song(const struct walk *walk, int64_t mtime_s, struct song **ret_song,
	  const char **ret_reason)
{
	const struct source_ref ref = {walk->uri.bytes, walk->request->ref.uid};
	struct song_builder *builder = NULL;
	int error = folder_read_song(walk->request->root, &ref, ret_song,
				     ret_reason);

	if (error == 0 || error == -ENOMEM)
		return error;
	builder = song_builder_create(ref.uri);
	if (builder == NULL)
		return -ENOMEM;
	song_builder_mtime(builder, mtime_s);
	*ret_song = song_builder_finish(builder);
	return *ret_song == NULL ? -ENOMEM : 0;
}

/* Calls back for the item whose name is walk->uri. */
static int
tell(struct walk *walk, const struct folder_item *item, const char **ret_reason)
{
	struct folder_entry entry = {
		.kind = item->kind,
		.uri = walk->uri.bytes,
		.mtime_s = item->mtime_s,
		.size_bytes = item->size_bytes,
	};
	int error = 0;

	*ret_reason = NULL;
	if (item->kind == FOLDER_SONG && walk->request->tags)
		error = read_song(walk, item->mtime_s, &entry.song, ret_reason);
	if (error < 0)
		return error;
	if (!walk->entry(walk->context, &entry))
		walk->stopped = true;
	song_unref(entry.song);
	return 0;
}

/* The next name of the innermost folder. */
static int
step(struct walk *walk)
{
	struct level *level = walk->level;
	const struct folder_item *item = NULL;
	const char *ignored = NULL;
	int error = 0;

	if (folder_cancelled(walk->request))
		return -ECANCELED;
	if (level->next == level->list.count) {
		pop_level(walk);
		return 0;
	}
	item = &level->list.items[level->next++];
	walk->uri.length = level->uri_length;
	walk->uri.bytes[walk->uri.length] = '\0';
	if (!folder_add_name(&walk->uri, folder_list_name(&level->list, item)))
		return 0; /* nobody could name it */
	if (walk->uri.failed)
		return -ENOMEM;
	error = tell(walk, item, &ignored);
	if (error == 0 && !walk->stopped && item->kind == FOLDER_FOLDER &&
	    walk->request->recursive)
		error = enter(walk, item);
	return error;
}

/* The request names a file. */
static int
tell_file(struct walk *walk, const char **ret_reason)
{
	struct folder_item item = {.kind = FOLDER_SONG};
	struct stat status;
	int fd = folder_open(walk->request, walk->uri.bytes, O_PATH);

	if (fd < 0)
		return fd;
	if (fstat(fd, &status) < 0) {
		(void)close(fd);
		return -errno;
	}
	(void)close(fd);
	item.mtime_s = status.st_mtim.tv_sec;
	item.size_bytes = (uint64_t)status.st_size;
	return tell(walk, &item, ret_reason);
}

/* The name of what is asked for: local names as paths, since what is added to
 * them is not written as file:// wants it. */
static int
set_uri(struct walk *walk)
{
	const char *uri = walk->request->ref.uri;
	char *path = NULL;
	int error = 0;

	if (!path_uri_is_local(uri)) {
		error = path_uri_check(uri);
		text_add(&walk->uri, uri);
	} else {
		path = malloc(PATH_URI_MAX + 1);
		if (path == NULL)
			return -ENOMEM;
		error = path_local(uri, path, PATH_URI_MAX + 1);
		if (error == 0)
			name_add_outside(&walk->uri, path);
		free(path);
	}
	/* Something must be there for the first cut. */
	text_add(&walk->uri, "");
	return walk->uri.failed ? -ENOMEM : error;
}

static const char *
reason_of(int error)
{
	switch (error) {
	case 0:
		return NULL;
	case -ENOENT:
	case -ENOTDIR:
		return "there is no such file or folder";
	case -EACCES:
	case -EPERM:
		return "it may not be read";
	case -EXDEV:
		return "it leads out of the music folder";
	case -EINVAL:
		return "it is neither a file nor a folder";
	case -ECANCELED:
		return "it was given up";
	case -ENOMEM:
		return "there is not enough memory for it";
	default:
		return "it could not be read";
	}
}

int
folder_read(const struct folder_request *request, folder_fn *entry,
	    void *context, const char **ret_reason)
{
	struct walk walk = {
		.request = request,
		.entry = entry,
		.context = context,
	};
	const char *reason = NULL;
	int error = set_uri(&walk);
	int fd = -1;

	if (error == 0)
		fd = folder_open(request, walk.uri.bytes,
				 O_RDONLY | O_DIRECTORY);
	if (error == 0 && fd >= 0)
		error = push_level(&walk, fd, false);
	else if (error == 0)
		error = fd == -ENOTDIR ? tell_file(&walk, &reason) : fd;
	while (error == 0 && walk.level != NULL && !walk.stopped)
		error = step(&walk);
	while (walk.level != NULL)
		pop_level(&walk);
	place_set_finish(&walk.linked);
	text_finish(&walk.uri);
	*ret_reason = error < 0 ? reason_of(error) : reason;
	return error;
}

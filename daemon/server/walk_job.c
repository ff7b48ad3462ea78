/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk_job.c - reading folders and songs, a piece a job.
 *
 * What is still to be read is a stack: a folder that is taken off it is told
 * and, in a recursive walk, replaced by its songs and then its folders, in
 * order. So a walk goes depth first and can be left after any entry. Only the
 * failure to read what the walk was asked for is an error; what is inside and
 * cannot be read is left out. */
#include "daemon/server/walk_job.h"

#include "daemon/decode/decoder.h"
#include "daemon/library/song.h"
#include "daemon/source/name.h"
#include "lib/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLICE_MS = 50 };

struct walk_pending {
	struct walk_pending *next;
	enum folder_entry_kind kind;
	int64_t mtime_s;
	uint64_t size_bytes;
	char uri[];
};

/* Items ------------------------------------------------------------------ */

void
walk_job_drop_items(struct walk_job *job)
{
	unsigned i = 0;

	for (i = 0; i < job->count; i++) {
		free(job->items[i].uri);
		if (job->items[i].song != NULL)
			song_unref(job->items[i].song);
	}
	job->count = 0;
}

/* Takes the song over. */
static int
add_item(struct walk_job *job, const char *uri, const struct walk_item *item)
{
	struct walk_item *added = &job->items[job->count];

	*added = *item;
	added->uri = strdup(uri);
	if (added->uri == NULL) {
		if (item->song != NULL)
			song_unref(item->song);
		return -ENOMEM;
	}
	job->count++;
	return 0;
}

/* Reading ---------------------------------------------------------------- */

static struct path_root
root_of(const struct walk_job *job)
{
	return (struct path_root){job->folder, job->follow_links};
}

static int
open_folder(const struct walk_job *job, const char *uri)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	const struct path_root root = root_of(job);
	char *path = NULL;
	int fd = 0;

	if (!path_uri_is_local(uri))
		return path_open(&root, uri, flags);
	path = malloc(PATH_URI_MAX + 1);
	if (path == NULL)
		return -ENOMEM;
	fd = path_local(uri, path, PATH_URI_MAX + 1);
	if (fd == 0)
		fd = path_open_local(path, job->uid, flags);
	free(path);
	return fd;
}

/* What a folder holds, in two lists. */
struct contents {
	struct walk_pending *first[2];
	struct walk_pending **last[2];
	bool failed;
};

static bool
add_content(void *context, const struct folder_entry *entry)
{
	struct contents *contents = context;
	const int part = entry->kind == FOLDER_FOLDER;
	const size_t size = strlen(entry->uri) + 1;
	struct walk_pending *pending = malloc(sizeof(*pending) + size);

	if (pending == NULL) {
		contents->failed = true;
		return false;
	}
	*pending = (struct walk_pending){
		.kind = entry->kind,
		.mtime_s = entry->mtime_s,
		.size_bytes = entry->size_bytes,
	};
	memcpy(pending->uri, entry->uri, size);
	*contents->last[part] = pending;
	contents->last[part] = &pending->next;
	return true;
}

/* Puts a folder's contents on the stack. */
static int
read_contents(struct walk_job *job, const char *uri)
{
	const struct path_root root = root_of(job);
	const struct folder_request request = {
		.root = &root,
		.ref = {uri, job->uid},
		.other_files = job->other_files,
		.cancelled = &job->base.cancelled,
	};
	struct contents contents = {.failed = false};
	const char *reason = NULL;
	int r = 0;

	contents.last[0] = &contents.first[0];
	contents.last[1] = &contents.first[1];
	r = folder_read(&request, add_content, &contents, &reason);
	*contents.last[1] = job->pending;
	*contents.last[0] = contents.first[1];
	job->pending = contents.first[0];
	return contents.failed ? -ENOMEM : r;
}

/* Adds the path that a descriptor really has. */
static int
add_real_path(struct text *path, int fd)
{
	char link[32];
	char *bytes = malloc(PATH_MAX);
	ssize_t length = 0;
	int r = 0;

	if (bytes == NULL)
		return -ENOMEM;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, bytes, PATH_MAX);
	if (length < 0)
		r = -errno;
	else
		text_add_bytes(path, bytes, (size_t)length);
	free(bytes);
	return path->failed ? -ENOMEM : r;
}

/* Whether the folder stands where its URI says, with no link on the way down
 * from where the walk began. */
static bool
is_where_it_says(const struct walk_job *job, const char *uri, const char *path)
{
	const size_t length = strlen(job->uri);
	struct text expected = {0};
	bool equal = false;

	if (strncmp(uri, job->uri, length) != 0)
		return false;
	uri += length;
	uri += *uri == '/';
	text_add(&expected, job->real_path.bytes);
	if (expected.length > 1)
		text_add_char(&expected, '/');
	name_add_inside(&expected, uri);
	equal = !expected.failed && strcmp(expected.bytes, path) == 0;
	text_finish(&expected);
	return equal;
}

/* Whether the folder that the URI stands in is path or lies below it. */
static bool
is_inside(const struct walk_job *job, const char *uri, const struct text *path)
{
	const char *slash = strrchr(uri, '/');
	struct text parent = {0};
	bool inside = false;
	int fd = 0;

	if (slash != NULL && slash > uri)
		text_add_bytes(&parent, uri, (size_t)(slash - uri));
	fd = open_folder(job, text_string(&parent));
	text_clear(&parent);
	if (fd >= 0 && add_real_path(&parent, fd) == 0)
		inside =
			strncmp(parent.bytes, path->bytes, path->length) == 0 &&
			(parent.bytes[path->length] == '/' ||
			 parent.bytes[path->length] == '\0' ||
			 path->length == 1);
	if (fd >= 0)
		close(fd);
	text_finish(&parent);
	return inside;
}

/* Whether a recursive walk goes into this folder: where it really is always;
 * by way of a link once, and never into itself. 1, 0, -errno. */
static int
may_enter(struct walk_job *job, const char *uri, int fd,
	  const struct stat *status)
{
	const struct place place = {status->st_dev, status->st_ino};
	struct text path = {0};
	int r = add_real_path(&path, fd);

	if (r == 0 && is_where_it_says(job, uri, path.bytes))
		r = 1;
	else if (r == 0 && !is_inside(job, uri, &path))
		r = place_set_add(&job->linked, place);
	text_finish(&path);
	return r;
}

/* Opens the folder inside the walk. 1: go into it; 0: been there. */
static int
enter_folder(struct walk_job *job, const char *uri)
{
	struct stat status;
	int fd = open_folder(job, uri);
	int r = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status) < 0)
		r = -errno;
	else
		r = may_enter(job, uri, fd, &status);
	close(fd);
	return r;
}

/* Opens the folder that the walk is for. */
static int
enter_first(struct walk_job *job, int64_t *ret_mtime_s)
{
	struct stat status;
	int fd = open_folder(job, job->uri);
	int r = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status) < 0)
		r = -errno;
	else
		r = add_real_path(&job->real_path, fd);
	*ret_mtime_s = status.st_mtim.tv_sec;
	close(fd);
	return r;
}

static int
begin_song(struct walk_job *job)
{
	const struct path_root root = root_of(job);
	const struct source_ref ref = {job->uri, job->uid};
	struct walk_item item = {.kind = FOLDER_SONG};
	const char *reason = NULL;
	int r = 0;

	if (job->what == WALK_ONLY_FOLDER)
		return -ENOTDIR;
	r = folder_read_song(&root, &ref, &item.song, &reason);
	if (r < 0)
		return r;
	if (reason != NULL && !decoder_knows_suffix(job->uri)) {
		song_unref(item.song);
		return -ENOENT;
	}
	item.mtime_s = song_mtime_s(item.song);
	return add_item(job, song_uri(item.song), &item);
}

static int
begin(struct walk_job *job)
{
	int64_t mtime_s = 0;
	int r = enter_first(job, &mtime_s);

	if (r == -ENOTDIR)
		return begin_song(job);
	if (r < 0)
		return r;
	if (job->what == WALK_ONLY_SONG)
		return -EISDIR;
	if (job->itself && job->uri[0] != '\0') {
		const struct walk_item item = {
			.kind = FOLDER_FOLDER,
			.mtime_s = mtime_s,
		};

		r = add_item(job, job->uri, &item);
		if (r < 0)
			return r;
	}
	return read_contents(job, job->uri);
}

static int
take_song(struct walk_job *job, const struct walk_pending *pending)
{
	const struct path_root root = root_of(job);
	const struct source_ref ref = {pending->uri, job->uid};
	struct walk_item item = {
		.kind = FOLDER_SONG,
		.mtime_s = pending->mtime_s,
		.size_bytes = pending->size_bytes,
	};
	const char *reason = NULL;

	if (job->tags && folder_read_song(&root, &ref, &item.song, &reason) < 0)
		return 0;
	return add_item(job, pending->uri, &item);
}

static int
take_folder(struct walk_job *job, const struct walk_pending *pending)
{
	const struct walk_item item = {
		.kind = FOLDER_FOLDER,
		.mtime_s = pending->mtime_s,
	};
	int r = 0;

	if (job->recursive) {
		r = enter_folder(job, pending->uri);
		if (r > 0)
			r = read_contents(job, pending->uri);
		else if (r == 0)
			return 0;
	}
	if (r == -ENOMEM)
		return r;
	return add_item(job, pending->uri, &item);
}

static int
take(struct walk_job *job, const struct walk_pending *pending)
{
	const struct walk_item file = {
		.kind = FOLDER_FILE,
		.mtime_s = pending->mtime_s,
		.size_bytes = pending->size_bytes,
	};

	switch (pending->kind) {
	case FOLDER_SONG:
		return take_song(job, pending);
	case FOLDER_FOLDER:
		return take_folder(job, pending);
	case FOLDER_FILE:
		break;
	}
	return add_item(job, pending->uri, &file);
}

static bool
has_time(const struct walk_job *job, int64_t until_ns)
{
	return job->count < WALK_BATCH && clock_now_ns() < until_ns &&
	       atomic_load_explicit(&job->base.cancelled,
				    memory_order_relaxed) == 0;
}

int
walk_job_run(struct walk_job *job)
{
	const int64_t until_ns = clock_now_ns() + SLICE_MS * NS_PER_MS;
	int r = 0;

	if (!job->begun) {
		job->begun = true;
		r = begin(job);
	}
	while (r == 0 && job->pending != NULL) {
		struct walk_pending *pending = job->pending;

		if (!has_time(job, until_ns))
			return 0;
		job->pending = pending->next;
		r = take(job, pending);
		free(pending);
	}
	job->ended = true;
	return r;
}

/* Life ------------------------------------------------------------------- */

struct walk_job *
walk_job_create(const struct walk_request *request)
{
	struct walk_job *job = calloc(1, sizeof(*job));

	if (job == NULL)
		return NULL;
	job->folder = strdup(request->root->folder);
	job->uri = strdup(request->uri);
	job->follow_links = request->root->follow_links;
	job->uid = request->uid;
	job->what = request->what;
	job->recursive = request->recursive;
	job->tags = request->tags;
	job->other_files = request->other_files;
	job->itself = request->itself;
	if (job->folder == NULL || job->uri == NULL) {
		walk_job_destroy(job);
		return NULL;
	}
	return job;
}

void
walk_job_destroy(struct walk_job *job)
{
	if (job == NULL)
		return;
	while (job->pending != NULL) {
		struct walk_pending *next = job->pending->next;

		free(job->pending);
		job->pending = next;
	}
	walk_job_drop_items(job);
	place_set_finish(&job->linked);
	text_finish(&job->real_path);
	free(job->folder);
	free(job->uri);
	free(job);
}

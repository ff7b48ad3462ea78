/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skips.c - which files are passed over: the notes of earlier crashes, in
 * memory, sorted by name so that those of one file stand together and in the
 * order in which they were made.
 *
 * The list only changes at its beginning and end, and when crashes are
 * forgiven: a crash of this process is the business of the next. The lock is
 * held for looks into memory only, so control may take it too. */
#include "daemon/source/skips.h"

#include "daemon/source/skips_file.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/rt/rt.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const skips_reason =
	"it made the player crash twice, so it is passed over until it is "
	"changed; \"rotary reset skips\" has it tried again";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* protected by lock */
static struct {
	struct notes notes; /* sorted */
	char *path;
} list;
/* skips_begin()'s and skips_end()'s */
static int note_fd = -1;

static int
compare(const void *a, const void *b)
{
	const struct note *left = a;
	const struct note *right = b;
	const int order = strcmp(left->name, right->name);

	if (order != 0)
		return order;
	return (left->offset > right->offset) - (left->offset < right->offset);
}

/* Any note of that name, and from there the first. */
static size_t
find_first(const char *name)
{
	size_t low = 0;
	size_t high = list.notes.count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (strcmp(list.notes.items[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
is_at(size_t index, const char *name)
{
	return index < list.notes.count &&
	       strcmp(list.notes.items[index].name, name) == 0;
}

/* What the notes of one name, the first of which is at index, come to for a
 * file of this size and time. */
static bool
judge(size_t index, uint64_t size_bytes, int64_t mtime_ns)
{
	const char *name = list.notes.items[index].name;
	unsigned same = 0;
	unsigned all = 0;

	for (; is_at(index, name); index++) {
		const struct note *note = &list.notes.items[index];

		if (note->forgiven)
			continue;
		all++;
		same += note->size_bytes == size_bytes &&
			note->mtime_ns == mtime_ns;
	}
	return same >= SKIPS_CRASHES || all >= SKIPS_CRASHES_ANY;
}

bool
skips_has(const struct rt_subject *file)
{
	bool passed_over = false;
	size_t index = 0;

	pthread_mutex_lock(&lock);
	index = find_first(file->name);
	if (is_at(index, file->name))
		passed_over = judge(index, file->size_bytes, file->mtime_ns);
	pthread_mutex_unlock(&lock);
	return passed_over;
}

/* The file with its first note at index. Returns the first of the next. */
static size_t
tell_file(size_t index, skips_fn *tell, void *context)
{
	const size_t first = index;
	struct skip skip = {.name = list.notes.items[index].name};
	const struct note *last = NULL;

	for (; is_at(index, skip.name); index++)
		if (!list.notes.items[index].forgiven) {
			last = &list.notes.items[index];
			skip.crashes++;
		}
	if (last != NULL) {
		skip.passed_over =
			judge(first, last->size_bytes, last->mtime_ns);
		tell(context, &skip);
	}
	return index;
}

void
skips_list(skips_fn *tell, void *context)
{
	size_t index = 0;

	pthread_mutex_lock(&lock);
	while (index < list.notes.count)
		index = tell_file(index, tell, context);
	pthread_mutex_unlock(&lock);
}

unsigned
skips_forgive(const char *name)
{
	const char *last = NULL;
	unsigned files = 0;
	size_t index = 0;

	pthread_mutex_lock(&lock);
	for (index = name == NULL ? 0 : find_first(name);
	     index < list.notes.count; index++) {
		struct note *note = &list.notes.items[index];

		if (name != NULL && strcmp(note->name, name) != 0)
			break;
		if (note->forgiven)
			continue;
		note->forgiven = true;
		files += last == NULL || strcmp(last, note->name) != 0;
		last = note->name;
	}
	pthread_mutex_unlock(&lock);
	return files;
}

/* Those that are forgiven and still stand in the file. *ret_all: no others
 * do. NULL: no memory. */
static uint64_t *
collect_locked(size_t *ret_count, bool *ret_all)
{
	uint64_t *offsets = calloc(list.notes.count + 1, sizeof(*offsets));
	size_t i = 0;

	*ret_count = 0;
	*ret_all = true;
	for (i = 0; offsets != NULL && i < list.notes.count; i++) {
		struct note *note = &list.notes.items[i];

		*ret_all = *ret_all && note->forgiven;
		if (note->forgiven && !note->saved)
			offsets[(*ret_count)++] = note->offset;
	}
	return offsets;
}

/* offsets are in the order of the list. What was forgiven in between waits for
 * a save of its own. */
static void
mark_saved(const uint64_t *offsets, size_t count)
{
	size_t done = 0;
	size_t i = 0;

	pthread_mutex_lock(&lock);
	for (i = 0; i < list.notes.count && done < count; i++)
		if (list.notes.items[i].offset == offsets[done]) {
			list.notes.items[i].saved = true;
			done++;
		}
	pthread_mutex_unlock(&lock);
}

int
skips_save(void)
{
	uint64_t *offsets = NULL;
	char *path = NULL;
	size_t count = 0;
	bool all = false;
	int error = 0;

	pthread_mutex_lock(&lock);
	offsets = collect_locked(&count, &all);
	if (list.path != NULL)
		path = strdup(list.path);
	pthread_mutex_unlock(&lock);
	if (offsets == NULL || path == NULL)
		error = -ENOMEM;
	else if (count > 0)
		error = notes_strike(path, offsets, all ? 0 : count);
	if (error == 0 && offsets != NULL)
		mark_saved(offsets, count);
	free(path);
	free(offsets);
	return error;
}

static void
count_passed_over(void *context, const struct skip *skip)
{
	unsigned *count = context;

	*count += skip->passed_over;
}

static void
say_how_many(void)
{
	unsigned count = 0;

	skips_list(count_passed_over, &count);
	if (count > 0)
		log_info("player",
			 "files that are passed over because they made the "
			 "player crash: %u; \"rotary doctor\" names them",
			 count);
}

MAY_BLOCK void
skips_begin(const char *folder)
{
	struct text path = {0};
	struct notes notes = {0};
	int read_only = 0;
	int error = 0;
	int fd = -1;

	text_printf(&path, "%s/crashes", folder);
	fd = path.failed ? -ENOMEM : notes_open(text_string(&path), &read_only);
	error = fd < 0 ? fd : notes_read(fd, &notes);
	if (error < 0 || read_only < 0)
		log_warn("player",
			 "crashes cannot be noted in %s: %s; a file that makes "
			 "the player crash will be tried again and again",
			 text_string(&path),
			 text_of_error(read_only < 0 ? read_only : error));
	if (notes.count > 0)
		qsort(notes.items, notes.count, sizeof(notes.items[0]),
		      compare);
	pthread_mutex_lock(&lock);
	list.notes = notes;
	list.path = path.failed ? NULL : strdup(text_string(&path));
	pthread_mutex_unlock(&lock);
	text_finish(&path);
	note_fd = fd;
	if (fd >= 0 && read_only == 0)
		rt_crash_note_to(fd);
	say_how_many();
}

MAY_BLOCK void
skips_end(void)
{
	rt_crash_note_to(-1);
	if (note_fd >= 0)
		(void)close(note_fd);
	note_fd = -1;
	pthread_mutex_lock(&lock);
	notes_finish(&list.notes);
	free(list.path);
	list.path = NULL;
	pthread_mutex_unlock(&lock);
}

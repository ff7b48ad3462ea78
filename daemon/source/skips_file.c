/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skips_file.c - FOLDER/crashes: reading it, keeping it short, striking out.
 *
 *   crash SIZE MTIME_NS NAME
 *
 * a line, written by a process that was about to die: it may be cut short, or
 * stand behind one that was. Anything else between two ends of line means
 * nothing. A note is struck out by its first byte, in place, so that neither a
 * full disk nor an end in the middle leaves the file worse than it was; only a
 * file that is too long is written anew, beside it, and renamed.
 *
 * Space for the next few notes is asked for ahead, where the file system can:
 * the disk may be full when the player crashes. */
#include "daemon/source/skips_file.h"

#include "daemon/source/path.h"
#include "daemon/source/skips.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AHEAD_BYTES = 16 << 10 };

static const char word[] = "crash ";
static const char struck = '-';

/* A number that ends with a blank; NULL: there is none. */
static char *
take_number(char *at, uint64_t *ret_number)
{
	char *end = at;

	if (*at < '0' || *at > '9')
		return NULL;
	errno = 0;
	*ret_number = strtoull(at, &end, 10);
	return errno == 0 && *end == ' ' ? end + 1 : NULL;
}

/* line ends with a NUL. */
static bool
parse_line(char *line, size_t length, struct note *ret_note)
{
	uint64_t mtime = 0;
	char *at = line + strlen(word);

	if (length <= strlen(word) || strlen(line) != length ||
	    strncmp(line, word, strlen(word)) != 0)
		return false;
	at = take_number(at, &ret_note->size_bytes);
	if (at != NULL)
		at = take_number(at, &mtime);
	if (at == NULL || *at == '\0' || strlen(at) > PATH_URI_MAX)
		return false;
	ret_note->mtime_ns = (int64_t)mtime;
	ret_note->name = at;
	return true;
}

static size_t
count_ends(const char *bytes, size_t length)
{
	size_t count = 0;
	size_t i = 0;

	for (i = 0; i < length; i++)
		count += bytes[i] == '\n';
	return count;
}

/* first is where bytes stood in the file. What has no end of line was cut
 * short. */
static void
parse(struct notes *notes, size_t length, uint64_t first)
{
	char *line = notes->bytes;
	char *const end = notes->bytes + length;
	char *stop = NULL;

	while ((stop = memchr(line, '\n', (size_t)(end - line))) != NULL) {
		struct note note = {
			.offset = first + (uint64_t)(line - notes->bytes),
		};

		*stop = '\0';
		if (parse_line(line, (size_t)(stop - line), &note))
			notes->items[notes->count++] = note;
		line = stop + 1;
	}
}

static ssize_t
read_all(int descriptor, char *ret_bytes, size_t length, uint64_t offset)
{
	size_t done = 0;

	while (done < length) {
		const ssize_t got =
			pread(descriptor, ret_bytes + done, length - done,
			      (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

int
notes_read(int descriptor, struct notes *ret_notes)
{
	struct stat status;
	uint64_t first = 0;
	ssize_t length = 0;

	*ret_notes = (struct notes){0};
	if (fstat(descriptor, &status) < 0)
		return -errno;
	if (status.st_size > SKIPS_FILE_MAX)
		first = (uint64_t)status.st_size - SKIPS_FILE_MAX;
	ret_notes->bytes = malloc(SKIPS_FILE_MAX);
	if (ret_notes->bytes == NULL)
		return -ENOMEM;
	length = read_all(descriptor, ret_notes->bytes, SKIPS_FILE_MAX, first);
	if (length < 0) {
		notes_finish(ret_notes);
		return (int)length;
	}
	/* One more than there can be: calloc(0) may be NULL. */
	ret_notes->items =
		calloc(count_ends(ret_notes->bytes, (size_t)length) + 1,
		       sizeof(ret_notes->items[0]));
	if (ret_notes->items == NULL) {
		notes_finish(ret_notes);
		return -ENOMEM;
	}
	parse(ret_notes, (size_t)length, first);
	return 0;
}

void
notes_finish(struct notes *notes)
{
	free(notes->items);
	free(notes->bytes);
	*notes = (struct notes){0};
}

static void
add_note(struct text *text, const struct note *note)
{
	text_printf(text, "%s%llu %llu %s\n", word,
		    (unsigned long long)note->size_bytes,
		    (unsigned long long)note->mtime_ns, note->name);
}

/* The newest notes, as many as fit into half a file. */
static void
add_newest(struct text *text, const struct notes *notes)
{
	size_t first = notes->count;
	size_t bytes = 0;

	while (first > 0 && bytes < SKIPS_FILE_MAX / 2) {
		first--;
		bytes += strlen(notes->items[first].name) + 64;
	}
	for (; first < notes->count; first++)
		add_note(text, &notes->items[first]);
}

static int
write_file(const char *path, const struct text *text)
{
	const int fd = open(path,
			    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
				    O_NOFOLLOW | O_NONBLOCK,
			    0600);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text_string(text), text->length) != (ssize_t)text->length)
		error = -ENOSPC;
	else if (fdatasync(fd) < 0)
		error = -errno;
	if (close(fd) < 0 && error == 0)
		error = -errno;
	if (error < 0)
		(void)unlink(path);
	return error;
}

/* Puts a shorter file in the place of descriptor's. */
static int
shorten(int descriptor, const char *path)
{
	struct notes notes;
	struct text text = {0};
	struct text beside = {0};
	int error = notes_read(descriptor, &notes);

	if (error < 0)
		return error;
	add_newest(&text, &notes);
	text_printf(&beside, "%s.new", path);
	error = text.failed || beside.failed ? -ENOMEM : 0;
	if (error == 0)
		error = write_file(text_string(&beside), &text);
	if (error == 0 && rename(text_string(&beside), path) < 0)
		error = -errno;
	text_finish(&beside);
	text_finish(&text);
	notes_finish(&notes);
	return error;
}

/* A descriptor of a regular file, or -errno. */
static int
open_regular(const char *path, int flags)
{
	const int fd =
		open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	(void)close(fd);
	return -EINVAL;
}

static bool
is_too_long(int descriptor)
{
	struct stat status;

	return fstat(descriptor, &status) == 0 &&
	       status.st_size > SKIPS_FILE_MAX;
}

int
notes_open(const char *path, int *ret_read_only)
{
	const int flags = O_RDWR | O_APPEND | O_CREAT;
	int fd = open_regular(path, flags);
	int error = 0;

	*ret_read_only = 0;
	if (fd < 0) {
		*ret_read_only = fd;
		return open_regular(path, O_RDONLY);
	}
	if (is_too_long(fd)) {
		error = shorten(fd, path);
		(void)close(fd);
		/* Not to be cut, it must not grow either. */
		fd = open_regular(path, error < 0 ? O_RDONLY : flags);
		*ret_read_only = error;
	}
	if (fd >= 0 && *ret_read_only == 0)
		(void)fallocate(fd, FALLOC_FL_KEEP_SIZE, lseek(fd, 0, SEEK_END),
				AHEAD_BYTES);
	return fd;
}

int
notes_strike(const char *path, const uint64_t *offsets, size_t count)
{
	const int fd = open_regular(path, O_WRONLY);
	int error = 0;
	size_t i = 0;

	if (fd < 0)
		return fd;
	if (count == 0 && ftruncate(fd, 0) < 0)
		error = -errno;
	for (i = 0; i < count && error == 0; i++)
		if (pwrite(fd, &struck, 1, (off_t)offsets[i]) != 1)
			error = errno != 0 ? -errno : -EIO;
	if (close(fd) < 0 && error == 0)
		error = -errno;
	return error;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skips_file.h - the file behind skips.h. Threads: any, but one at a time.
 * RT: MAY_BLOCK, all of it. */
#ifndef ROTARY_SOURCE_SKIPS_FILE_H
#define ROTARY_SOURCE_SKIPS_FILE_H

#include "lib/base/attr.h"

#include <stdbool.h>

/* One crash. */
struct note {
	const char *name; /* in notes.bytes */
	uint64_t size_bytes;
	int64_t mtime_ns;
	uint64_t offset; /* of its line in the file */
	bool forgiven;
	bool saved; /* that it is */
};

struct notes {
	char *bytes;
	struct note *items; /* in the order of the file */
	size_t count;
};

/* Reads what descriptor's file holds, of a long one the end; what is not a
 * note is passed over. 0 or -errno. */
NODISCARD int notes_read(int descriptor, struct notes *ret_notes);
void notes_finish(struct notes *notes);

/* Opens the file for appending, or for reading where it cannot be; cuts it
 * where it is too long. A descriptor or -errno. *ret_read_only: -errno, when
 * nothing can be appended. */
NODISCARD int notes_open(const char *path, int *ret_read_only);
/* Takes notes out of the file by their places in it: no space is needed. With
 * 0 of them, all that it holds. 0 or -errno. */
NODISCARD int notes_strike(const char *path, const uint64_t *offsets,
			   size_t count);

#endif

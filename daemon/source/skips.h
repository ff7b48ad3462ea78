/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skips.h - the files that made the player crash, and are passed over.
 *
 * FOLDER/crashes holds a line for each crash that the thread's subject can be
 * blamed for, written by the crash handler (lib/rt/crash.c). A file with
 * SKIPS_CRASHES of them is not opened any more, whoever asks, until its size
 * or time of change is another: then it may have been repaired, and its
 * crashes are counted anew. With SKIPS_CRASHES_ANY crashes in all under one
 * name it is not tried again by itself: something that is never twice the same
 * must not crash the player for ever.
 *
 *   tried -> crash -> tried -> crash -> passed over -> changed, forgiven ...
 *
 * One list a process, as there is one crash handler. Nothing is opened: no
 * file is passed over.
 * Threads: any, but where it is said otherwise. RT: no. */
#ifndef ROTARY_SOURCE_SKIPS_H
#define ROTARY_SOURCE_SKIPS_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct rt_subject;

enum {
	SKIPS_CRASHES = 2,
	SKIPS_CRASHES_ANY = 8,
	/* A longer file is cut to its newest notes, half as long. */
	SKIPS_FILE_MAX = 256 << 10,
};

/* Why such a file is not opened: half a sentence for the user. */
extern const char *const skips_reason;

/* Reads the notes and has the crash handler go on with them. What is wrong is
 * logged, and whatever can be used is used. Before anything is opened. */
MAY_BLOCK void skips_begin(const char *folder);
/* No crash is noted any more, and no file is passed over. */
MAY_BLOCK void skips_end(void);

bool skips_has(const struct rt_subject *file);

struct skip {
	const char *name;
	unsigned crashes;
	bool passed_over; /* unless it has changed since */
};
typedef void skips_fn(void *context, const struct skip *skip);
/* All files with a crash, by their names. The list is locked meanwhile. */
void skips_list(skips_fn *tell, void *context);

/* Forgets the crashes of one file, or with NULL of all. The number of files;
 * what is kept in the folder changes with skips_save(). */
unsigned skips_forgive(const char *name);
/* Worker. 0 or -errno, and then what was forgiven is back after a restart. */
MAY_BLOCK NODISCARD int skips_save(void);

#endif

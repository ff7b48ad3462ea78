/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ini.h - the lines of an INI file, strictly: a section, "name = value", a
 * comment (# or ; at the start of a line, or a blank and ; behind a value).
 * The one reader of configuration there is: rotary.conf, remote.conf, key maps.
 *
 * Pure but for ini_read(). Threads: any. RT: MAY_BLOCK. Errors: -errno, with
 * one sentence that names file and line. */
#ifndef ROTARY_BASE_INI_H
#define ROTARY_BASE_INI_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct text;

enum { INI_LINE_MAX = 4200, INI_FILE_MAX = 1024 * 1024 };

struct ini_line {
	const char *path;
	unsigned number;
	const char *section; /* "" before the first */
	const char *name;    /* NULL: the section begins here */
	const char *value;
};

/* Takes one line. 0, or -errno with the reason, without file and line, in
 * ret_error. The strings of line live until it returns. */
typedef int ini_take(void *context, const struct ini_line *line,
		     struct text *ret_error);

/* 0; -EINVAL: bad text, or take() said so; other errors of take(). */
NODISCARD int ini_parse(const char *path, const char *bytes, size_t length,
			ini_take *take, void *context, struct text *ret_error);

/* Reads a regular file of at most INI_FILE_MAX bytes. ret_trusted (or NULL):
 * it is root's or our own, and only its owner may write it. 0, -EINVAL (no
 * file but something else, or too long), -ENOENT and other -errno of open(),
 * without a text then; -ENOMEM. */
NODISCARD int ini_read(const char *path, struct text *ret_bytes,
		       bool *ret_trusted, struct text *ret_error);

#endif

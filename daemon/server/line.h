/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line.h - takes one request line apart: a command word and its arguments.
 *
 * Pure; any thread. Errors are texts of the protocol, static. */
#ifndef ROTARY_SERVER_LINE_H
#define ROTARY_SERVER_LINE_H

#include "lib/base/attr.h"

enum {
	LINE_BYTES_MAX = 8192, /* with its newline */
	LINE_ARGS_MAX = 70,
};

struct line {
	char *word;
	char *args[LINE_ARGS_MAX];
	size_t arg_count;
};

enum line_result {
	LINE_OK,
	LINE_NOT_OURS, /* the word is none: who sends it speaks another
			  protocol */
	LINE_BAD,      /* quoting */
	LINE_TOO_MANY, /* arguments; word is set */
};

/* Cuts white space off the end, in place. */
void line_strip(char *bytes);

/* Splits in place; the parts of ret_line point into bytes. */
NODISCARD enum line_result line_split(char *bytes, struct line *ret_line,
				      const char **ret_error);

#endif

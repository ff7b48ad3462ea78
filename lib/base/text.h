/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.h - growable text, UTF-8 and numbers as people and protocols write them.
 *
 * Threads: a struct text belongs to one thread; the rest is pure.
 * RT: MAY_BLOCK (allocates). Errors: -errno as listed. */
#ifndef ROTARY_BASE_TEXT_H
#define ROTARY_BASE_TEXT_H

#include "lib/base/attr.h"

#include <stdbool.h>

/* Growable bytes, always NUL-terminated once anything was added. A failed
 * allocation sets failed and drops what follows, so that a writer checks
 * once, at the end. {0} is empty. */
struct text {
	char *bytes;
	size_t length;
	size_t capacity;
	bool failed;
};

void text_finish(struct text *text);
void text_clear(struct text *text); /* keeps the memory */
void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const void *bytes, size_t length);
void text_add_char(struct text *text, char character);
void text_printf(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
/* string as a JSON string with its quotes. */
void text_add_json(struct text *text, const char *string);
/* word in double quotes, as a request of the protocol holds it. */
void text_add_quoted(struct text *text, const char *word);
/* Removes the first length bytes. */
void text_drop(struct text *text, size_t length);
/* The contents, never NULL. */
const char *text_string(const struct text *text);

/* True when bytes are valid UTF-8 (RFC 3629: no surrogates, no overlong
 * forms) without NUL. */
bool utf8_valid(const char *bytes, size_t length);

/* Adds bytes with every byte that is not valid UTF-8 replaced by U+FFFD and
 * every control character by a space: fit for one line of a protocol. At most
 * limit bytes are added, cut at a character. */
void text_add_clean(struct text *text, const char *bytes, size_t length,
		    size_t limit);

/* Whole-string numbers in the C locale. Return 0, -EINVAL (not a number, or
 * something follows it), -ERANGE (outside min..max). */
NODISCARD int text_parse_int(const char *string, int64_t min, int64_t max,
			     int64_t *ret_value);
NODISCARD int text_parse_double(const char *string, double *ret_value);
/* yes/no, true/false, on/off, 1/0. */
NODISCARD int text_parse_bool(const char *string, bool *ret_value);
/* "90", "1:30", "1:02:03", with an optional fraction, as ns. */
NODISCARD int text_parse_time(const char *string, int64_t *ret_ns);

/* sentence broken at spaces into lines of at most 78 bytes that begin with
 * prefix; a longer word has a line of its own. */
void text_add_wrapped(struct text *text, const char *prefix,
		      const char *sentence);
/* words as a line of a manual page: a minus that can be copied, and nothing
 * that troff would take for a request. */
void text_add_troff(struct text *text, const char *words);

/* What an errno value, or its negative, means: never NULL. */
const char *text_of_error(int error);

/* ns as "m:ss" or "h:mm:ss" into text. */
void text_add_time(struct text *text, int64_t ns);

#endif

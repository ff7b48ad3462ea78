/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.c - growable text.
 *
 * Invariant: bytes == NULL and length == capacity == 0, or length < capacity
 * and bytes[length] == 0. Capacity doubles, so that n additions copy O(n)
 * bytes in all. After a failed allocation the contents stay as they were and
 * nothing is added any more until text_clear(). */
#include "lib/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* Room for length more bytes and the NUL. */
static bool
reserve(struct text *text, size_t length)
{
	size_t capacity = text->capacity > 0 ? text->capacity : FIRST_CAPACITY;
	char *bytes = NULL;

	if (text->failed)
		return false;
	if (length < text->capacity - text->length)
		return true;
	if (length >= SIZE_MAX / 4 || text->length >= SIZE_MAX / 4) {
		text->failed = true;
		return false;
	}
	while (capacity - text->length <= length)
		capacity *= 2;
	bytes = realloc(text->bytes, capacity);
	if (bytes == NULL) {
		text->failed = true;
		return false;
	}
	if (text->bytes == NULL)
		bytes[0] = '\0';
	text->bytes = bytes;
	text->capacity = capacity;
	return true;
}

void
text_finish(struct text *text)
{
	if (text == NULL)
		return;
	free(text->bytes);
	*text = (struct text){0};
}

void
text_clear(struct text *text)
{
	text->length = 0;
	text->failed = false;
	if (text->bytes != NULL)
		text->bytes[0] = '\0';
}

void
text_add(struct text *text, const char *string)
{
	text_add_bytes(text, string, strlen(string));
}

void
text_add_bytes(struct text *text, const void *bytes, size_t length)
{
	if (!reserve(text, length))
		return;
	if (length > 0)
		memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

void
text_add_char(struct text *text, char character)
{
	text_add_bytes(text, &character, 1);
}

void
text_printf(struct text *text, const char *format, ...)
{
	va_list arguments;
	int length = 0;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0) {
		text->failed = true;
		return;
	}
	if (!reserve(text, (size_t)length))
		return;
	va_start(arguments, format);
	vsnprintf(text->bytes + text->length, (size_t)length + 1, format,
		  arguments);
	va_end(arguments);
	text->length += (size_t)length;
}

void
text_add_quoted(struct text *text, const char *word)
{
	text_add_char(text, '"');
	for (; *word != '\0'; word++) {
		if (*word == '"' || *word == '\\')
			text_add_char(text, '\\');
		text_add_char(text, *word);
	}
	text_add_char(text, '"');
}

void
text_drop(struct text *text, size_t length)
{
	if (length > text->length)
		length = text->length;
	if (length == 0)
		return;
	text->length -= length;
	memmove(text->bytes, text->bytes + length, text->length + 1);
}

const char *
text_string(const struct text *text)
{
	return text->bytes != NULL ? text->bytes : "";
}

const char *
text_of_error(int error)
{
	const char *words = strerrordesc_np(error < 0 ? -error : error);

	return words != NULL ? words : "unknown error";
}

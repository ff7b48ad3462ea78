/* SPDX-License-Identifier: GPL-3.0-or-later */
/* name.c - the two forms of a file's name, bytes inside and %XX outside. See
 * name.h for the rule; decoding is checked by writing the form again, so that
 * both directions can never disagree. */
#include "daemon/source/name.h"

#include "lib/base/text.h"

#include <string.h>

static bool
is_control(unsigned char byte)
{
	return byte < 0x20 || byte == 0x7f;
}

/* Length of the valid UTF-8 character that bytes begin with, or 0. */
static size_t
character_length(const char *bytes, size_t left)
{
	const unsigned char first = (unsigned char)bytes[0];
	const size_t length = first < 0x80   ? 1
			      : first < 0xe0 ? 2
			      : first < 0xf0 ? 3
					     : 4;

	return length <= left && utf8_valid(bytes, length) ? length : 0;
}

static void
add_part_outside(struct text *text, const char *part, size_t length)
{
	size_t i = 0;

	while (i < length) {
		const unsigned char byte = (unsigned char)part[i];
		const size_t step = character_length(part + i, length - i);

		if (step == 0 || is_control(byte) || byte == '%') {
			text_printf(text, "%%%02X", byte);
			i++;
		} else {
			text_add_bytes(text, part + i, step);
			i += step;
		}
	}
}

static bool
part_is_clean(const char *part, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (is_control((unsigned char)part[i]))
			return false;
	return utf8_valid(part, length);
}

void
name_add_outside(struct text *text, const char *name)
{
	for (;;) {
		const size_t length = strcspn(name, "/");

		if (part_is_clean(name, length))
			text_add_bytes(text, name, length);
		else
			add_part_outside(text, name, length);
		name += length;
		if (*name == '\0')
			return;
		text_add_char(text, *name++);
	}
}

static int
hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

/* Adds the length bytes at part with each %XX resolved. */
static void
add_decoded(struct text *text, const char *part, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		int high = -1;
		int low = -1;

		if (part[i] == '%' && i + 2 < length) {
			high = hex_digit(part[i + 1]);
			low = hex_digit(part[i + 2]);
		}
		if (high >= 0 && low >= 0) {
			text_add_char(text, (char)(high << 4 | low));
			i += 2;
		} else {
			text_add_char(text, part[i]);
		}
	}
}

/* True when bytes, all of text, are a name whose form for clients is part. */
static bool
is_form_of(const struct text *bytes, const char *part, size_t length)
{
	struct text form = {0};
	bool same = false;

	/* A name holds no NUL and no '/'. */
	if (bytes->failed || strlen(text_string(bytes)) != bytes->length ||
	    strchr(text_string(bytes), '/') != NULL)
		return false;
	name_add_outside(&form, text_string(bytes));
	same = !form.failed && form.length == length &&
	       memcmp(text_string(&form), part, length) == 0;
	text_finish(&form);
	return same;
}

bool
name_add_inside(struct text *text, const char *uri)
{
	struct text part = {0};
	bool differs = false;

	for (;;) {
		const size_t length = strcspn(uri, "/");

		text_clear(&part);
		if (memchr(uri, '%', length) != NULL)
			add_decoded(&part, uri, length);
		if (part.length > 0 && part.length != length &&
		    is_form_of(&part, uri, length)) {
			differs = true;
			text_add_bytes(text, part.bytes, part.length);
		} else {
			text_add_bytes(text, uri, length);
		}
		uri += length;
		if (*uri == '\0')
			break;
		text_add_char(text, *uri++);
	}
	text_finish(&part);
	return differs;
}

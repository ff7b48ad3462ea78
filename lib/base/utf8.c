/* SPDX-License-Identifier: GPL-3.0-or-later */
/* utf8.c - UTF-8 as RFC 3629 defines it, and text made fit for one line.
 *
 * One function, character_length(), knows the encoding; a byte that begins no
 * valid character counts as one broken character of its own, so that a scan
 * always moves on and finds the next good one. */
#include "lib/base/text.h"

#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static bool
continues(unsigned char byte)
{
	return (byte & 0xC0) == 0x80;
}

/* The length of the valid character at bytes, or 0. The second byte's range
 * excludes overlong forms (E0, F0), surrogates (ED) and what lies above
 * U+10FFFF (F4); see the table in RFC 3629, section 4. */
static size_t
character_length(const unsigned char *bytes, size_t length)
{
	const unsigned char first = bytes[0];
	unsigned char low = 0x80, high = 0xBF;
	size_t need = 0, i = 0;

	if (first < 0x80)
		return 1;
	if (first < 0xC2 || first > 0xF4)
		return 0;
	need = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
	if (length < need)
		return 0;
	if (first == 0xE0)
		low = 0xA0;
	else if (first == 0xED)
		high = 0x9F;
	else if (first == 0xF0)
		low = 0x90;
	else if (first == 0xF4)
		high = 0x8F;
	if (bytes[1] < low || bytes[1] > high)
		return 0;
	for (i = 2; i < need; i++)
		if (!continues(bytes[i]))
			return 0;
	return need;
}

bool
utf8_valid(const char *bytes, size_t length)
{
	const unsigned char *at = (const unsigned char *)bytes;

	while (length > 0) {
		const size_t step = character_length(at, length);

		if (step == 0 || *at == 0)
			return false;
		at += step;
		length -= step;
	}
	return true;
}

/* C0, DEL, C1, and the two separators that end a line in Unicode. */
static bool
is_control(const unsigned char *at, size_t length)
{
	if (length == 1)
		return *at < 0x20 || *at == 0x7F;
	if (length == 2)
		return at[0] == 0xC2 && at[1] < 0xA0;
	return length == 3 && at[0] == 0xE2 && at[1] == 0x80 &&
	       (at[2] == 0xA8 || at[2] == 0xA9);
}

void
text_add_clean(struct text *text, const char *bytes, size_t length,
	       size_t limit)
{
	const unsigned char *at = (const unsigned char *)bytes;

	while (length > 0) {
		const size_t step = character_length(at, length);
		const char *out = (const char *)at;
		size_t out_length = step;

		if (step == 0) {
			out = replacement;
			out_length = sizeof(replacement) - 1;
		} else if (is_control(at, step)) {
			out = " ";
			out_length = 1;
		}
		if (out_length > limit)
			return;
		text_add_bytes(text, out, out_length);
		limit -= out_length;
		at += step > 0 ? step : 1;
		length -= step > 0 ? step : 1;
	}
}

static void
add_json_ascii(struct text *text, char character)
{
	static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	const char *i = NULL;

	for (i = escapes; *i != '\0'; i += 2) {
		if (*i == character) {
			text_add_char(text, '\\');
			text_add_char(text, i[1]);
			return;
		}
	}
	if ((unsigned char)character < 0x20 || character == 0x7F)
		text_printf(text, "\\u%04x", (unsigned)character);
	else
		text_add_char(text, character);
}

void
text_add_json(struct text *text, const char *string)
{
	const unsigned char *at = (const unsigned char *)string;
	size_t length = strlen(string);

	text_add_char(text, '"');
	while (length > 0) {
		size_t step = character_length(at, length);

		if (step == 1)
			add_json_ascii(text, (char)*at);
		else if (step == 0)
			text_add(text, replacement);
		else
			text_add_bytes(text, at, step);
		if (step == 0)
			step = 1;
		at += step;
		length -= step;
	}
	text_add_char(text, '"');
}

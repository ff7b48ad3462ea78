/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.c - how wide a character is, the locale knows. */
#include "remote/cli/columns.h"

#include "lib/base/text.h"

#include <string.h>
#include <wchar.h>

void
columns_add(struct text *text, const char *string, int columns)
{
	size_t left = strlen(string), length = 0;
	mbstate_t state;
	wchar_t character = 0;
	int width = 0;

	memset(&state, 0, sizeof(state));
	while (left > 0) {
		length = mbrtowc(&character, string, left, &state);
		width = length <= left ? wcwidth(character) : -1;
		if (width > columns || (width < 0 && columns < 1))
			return;
		if (width < 0) {
			memset(&state, 0, sizeof(state));
			length = length <= left ? length : 1;
			text_add_char(text, '?');
			columns--;
		} else {
			text_add_bytes(text, string, length);
			columns -= width;
		}
		string += length;
		left -= length;
	}
}

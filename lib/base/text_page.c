/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_page.c - sentences laid out for people: wrapped for --help and sample
 * files, and as troff wants them for manual pages. */
#include "lib/base/text.h"

#include <string.h>

enum { WIDTH = 78 };

void
text_add_wrapped(struct text *text, const char *prefix, const char *sentence)
{
	const size_t room = WIDTH - strlen(prefix);

	while (*sentence != '\0') {
		size_t length = strlen(sentence);

		if (length > room) {
			length = room;
			while (length > 0 && sentence[length] != ' ')
				length--;
			if (length == 0)
				length = strcspn(sentence, " ");
		}
		text_add(text, prefix);
		text_add_bytes(text, sentence, length);
		text_add_char(text, '\n');
		sentence += length;
		sentence += strspn(sentence, " ");
	}
}

void
text_add_troff(struct text *text, const char *words)
{
	if (*words == '.' || *words == '\'')
		text_add(text, "\\&");
	for (; *words != '\0'; words++) {
		if (*words == '-')
			text_add(text, "\\-");
		else if (*words == '\\')
			text_add(text, "\\e");
		else
			text_add_char(text, *words);
	}
	text_add_char(text, '\n');
}

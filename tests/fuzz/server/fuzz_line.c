/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_line.c - the line parser alone: whatever the bytes, the parts it gives
 * lie inside them, and what it accepts can be written again and read back. */
#include "daemon/server/line.h"
#include "lib/base/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(int condition)
{
	if (!condition)
		abort();
}

static void
add_quoted(struct text *text, const char *argument)
{
	text_add(text, " \"");
	for (; *argument != '\0'; argument++) {
		if (*argument == '"' || *argument == '\\')
			text_add_char(text, '\\');
		text_add_char(text, *argument);
	}
	text_add_char(text, '"');
}

/* The same line in our writing gives the same parts. */
static void
check_again(const struct line *line)
{
	struct text again = {0};
	struct line second;
	const char *error = NULL;
	size_t i;

	text_add(&again, line->word);
	for (i = 0; i < line->arg_count; i++)
		add_quoted(&again, line->args[i]);
	check(line_split(again.bytes, &second, &error) == LINE_OK);
	check(strcmp(second.word, line->word) == 0);
	check(second.arg_count == line->arg_count);
	for (i = 0; i < line->arg_count; i++)
		check(strcmp(second.args[i], line->args[i]) == 0);
	text_finish(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = malloc(size + 1);
	const char *end = bytes + size;
	const char *error = NULL;
	struct line line;
	enum line_result result;
	size_t i;

	check(bytes != NULL);
	if (size > 0)
		memcpy(bytes, data, size);
	bytes[size] = '\0';
	line_strip(bytes);
	result = line_split(bytes, &line, &error);
	check(line.arg_count <= LINE_ARGS_MAX);
	for (i = 0; i < line.arg_count; i++)
		check(line.args[i] > line.word &&
		      line.args[i] + strlen(line.args[i]) <= end);
	if (result == LINE_OK)
		check_again(&line);
	else
		check(error != NULL);
	free(bytes);
	return 0;
}

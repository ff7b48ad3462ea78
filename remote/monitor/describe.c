/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe.c - a key's row of the map in words. The actions are said as they
 * are written in the map; an alias goes by the name of its key. */
#include "remote/monitor/describe.h"

#include "lib/base/text.h"

void
describe_add_meaning(struct text *text, const struct keymap_bound *bound)
{
	static const char *const words[KEYMAP_GESTURE_COUNT] = {
		"",        "",        "held: ", "held long: ", "while held: ",
		"twice: ", "let go: "};
	const char *comma = "";
	int i = 0;

	for (i = 0; i < KEYMAP_GESTURE_COUNT; i++) {
		if (bound->actions[i] == NULL)
			continue;
		text_printf(text, "%s%s%s", comma, words[i],
			    bound->actions[i]->text);
		comma = "; ";
	}
}

void
describe_add_line(struct text *line, const struct keymap *map, struct key key)
{
	const struct keymap_bound *bound =
		keymap_find(map, KEYMAP_MODE_PLAY, key);
	struct text words = {0};

	key_add_name(&words, keymap_fold(map, key));
	text_add(&words, ": ");
	if (bound != NULL)
		describe_add_meaning(&words, bound);
	else
		text_add(&words, "nothing");
	text_add(line, "say ");
	action_add_word(line, text_string(&words));
	text_add(line, " text");
	line->failed = line->failed || words.failed;
	text_finish(&words);
}

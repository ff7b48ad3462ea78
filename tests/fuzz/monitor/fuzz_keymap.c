/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_keymap.c - any bytes as a key map: either all of it can be done, or
 * there is a message that names the file and is text. */
#include "lib/base/text.h"
#include "remote/monitor/keymap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
find_map(void *context, const char *name, struct text *ret_path)
{
	(void)context;
	(void)name;
	text_add(ret_path, ROTARY_SOURCE "/config/keymaps/default.map");
	return 0;
}

/* What is bound can be written as a line of the protocol. */
static void
visit(void *context, enum keymap_mode mode, struct key key,
      const struct keymap_bound *bound)
{
	int gesture = 0, i = 0;

	(void)context;
	if (!key_is_valid(key) || mode >= KEYMAP_MODE_COUNT)
		abort();
	for (gesture = 0; gesture < KEYMAP_GESTURE_COUNT; gesture++) {
		const struct action *action = bound->actions[gesture];

		for (i = 0; action != NULL && i < action->step_count; i++) {
			struct text line = {0};

			action_add_line(&line, &action->steps[i], -10000);
			if (line.length == 0 ||
			    strchr(text_string(&line), '\n') != NULL ||
			    !utf8_valid(line.bytes, line.length))
				abort();
			text_finish(&line);
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct keymap_rules rules = {.find = find_map, .exec = true};
	struct keymap *map = NULL;
	struct text error = {0};
	int result = keymap_parse("/a.map", (const char *)data, size, true,
				  &rules, &map, &error);

	if (result == 0) {
		keymap_each(map, visit, NULL);
		keymap_unref(map);
	} else if (result != -EINVAL ||
		   strncmp(text_string(&error), "/a.map:", 7) != 0 ||
		   !utf8_valid(error.bytes, error.length)) {
		abort();
	}
	text_finish(&error);
	return 0;
}

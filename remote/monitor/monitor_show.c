/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monitor_show.c - --test and --check in words. A line that begins at the left
 * is what came in, an indented one what would be done. */
#include "remote/monitor/monitor_parts.h"

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "remote/monitor/monitor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void
print(const struct text *text)
{
	puts(text_string(text));
	fflush(stdout);
}

static const char *
name_of(const struct monitor *monitor, unsigned number)
{
	const struct device *device = devices_at(monitor->devices, number);

	return device != NULL ? device_identity(device)->name : "(command)";
}

void
monitor_show_device(const struct monitor *monitor, unsigned number,
		    const char *map_path)
{
	static const char *const kinds[] = {"remote", "keyboard", "knob"};
	const struct device *device = devices_at(monitor->devices, number);
	const struct keymap_identity *identity = device_identity(device);
	struct text text = {0};

	text_add_clean(&text, identity->name, strlen(identity->name), 200);
	text_printf(&text,
		    ": %s, %s%s, bus 0x%02x vendor 0x%04x product "
		    "0x%04x, ",
		    device_path(device),
		    identity->is_rc ? "an infrared " : "a ",
		    kinds[identity->kind], identity->bus, identity->vendor,
		    identity->product);
	if (map_path != NULL)
		text_printf(&text, "by %s", map_path);
	else
		text_add(&text, "no key map claims it");
	print(&text);
	text_finish(&text);
}

void
monitor_show_gone(const struct monitor *monitor, unsigned number)
{
	(void)monitor;
	printf("device %u is gone\n", number);
	fflush(stdout);
}

void
monitor_show_event(struct monitor *monitor, unsigned number,
		   const struct device_event *event)
{
	const char *name = name_of(monitor, number);
	struct text text = {0};

	if (!key_is_axis(event->key) && event->value == 2)
		return;
	text_add_clean(&text, name, strlen(name), 200);
	text_add(&text, ": ");
	key_add_name(&text, event->key);
	if (event->lost)
		text_add(&text, " up, but nobody saw it");
	else if (key_is_axis(event->key))
		text_printf(&text, " turned by %d", event->value);
	else if (event->value == 1)
		text_add(&text, " down");
	else
		text_printf(&text, " up after %lld ms",
			    (long long)((event->time_ns - monitor->down_ns) /
					NS_PER_MS));
	if (event->value == 1)
		monitor->down_ns = event->time_ns;
	print(&text);
	text_finish(&text);
}

void
monitor_show_output(const struct core_output *output)
{
	struct text text = {0};

	text_printf(&text, "  %s, ", keymap_mode_name(output->mode));
	if (output->key.code != 0)
		key_add_name(&text, output->key);
	if (output->action != NULL && output->gesture != KEYMAP_SHORT)
		text_printf(&text, ".%s", keymap_gesture_name(output->gesture));
	text_add(&text, ": ");
	switch (output->kind) {
	case CORE_LINE:
		text_add(&text, output->line);
		break;
	case CORE_STEP:
		if (output->step->kind == ACTION_EXEC)
			text_add(&text, "exec ");
		action_add_line(&text, output->step, output->factor);
		break;
	case CORE_POWER:
		text_printf(&text, "power %s, now", output->line);
		break;
	case CORE_UNBOUND:
		text_add(&text, "nothing is bound to it");
		break;
	}
	print(&text);
	text_finish(&text);
}

static void
list_row(void *context, enum keymap_mode mode, struct key key,
	 const struct keymap_bound *bound)
{
	int gesture = 0;

	(void)context;
	for (gesture = 0; gesture < KEYMAP_GESTURE_COUNT; gesture++) {
		struct text text = {0};

		if (bound->actions[gesture] == NULL)
			continue;
		text_printf(&text, "%s ", keymap_mode_name(mode));
		key_add_name(&text, key);
		if (gesture != KEYMAP_SHORT)
			text_printf(&text, ".%s",
				    keymap_gesture_name(
					    (enum keymap_gesture)gesture));
		text_printf(&text, " = %s", bound->actions[gesture]->text);
		print(&text);
		text_finish(&text);
	}
}

int
monitor_check(const struct conf *options)
{
	struct keymaps *maps = NULL;
	int i = 0, wrong = 0;

	if (keymaps_create(conf_text(options, OPTION_KEYMAPS),
			   conf_bool(options, OPTION_EXEC), &maps) < 0)
		return -ENOMEM;
	wrong = keymaps_read(maps);
	printf("options: %s\n",
	       conf_file(options) != NULL ? conf_file(options) : "(none)");
	for (i = 0; keymaps_folder(maps, i) != NULL; i++)
		printf("folder: %s\n", keymaps_folder(maps, i));
	for (i = 0; keymaps_at(maps, i) != NULL; i++) {
		printf("map: %s\n", keymap_path(keymaps_at(maps, i)));
		keymap_each(keymaps_at(maps, i), list_row, NULL);
	}
	keymaps_destroy(maps);
	return wrong > 0 ? -EINVAL : 0;
}

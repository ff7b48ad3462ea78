/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monitor_output.c - does what the core wants done: a command, something of the
 * remote's own, a program, the end of the machine. A mode that the daemon
 * cannot follow (it is away, or knows no menu) is left again at once, so that
 * the keys never are dead. */
#include "remote/monitor/monitor_parts.h"

#include "lib/base/log.h"
#include "lib/base/text.h"
#include "remote/monitor/own.h"
#include "remote/monitor/power.h"

#include <stdlib.h>
#include <string.h>

static const char topic[] = "remote";

static bool
needs_menu(const char *line)
{
	return strcmp(line, "menumode 1") == 0;
}

static void
send_line(struct monitor *monitor, const char *line)
{
	if (line[0] == '\0')
		return;
	if (wire_send(monitor->wire, monitor->now_ns, line) < 0 &&
	    needs_menu(line))
		core_set_mode(monitor->core, KEYMAP_MODE_PLAY);
}

void
monitor_take_refusal(void *context, const char *line)
{
	struct monitor *monitor = context;

	if (needs_menu(line) && core_mode(monitor->core) != KEYMAP_MODE_PLAY) {
		log_info(topic, "this daemon has no menu");
		core_set_mode(monitor->core, KEYMAP_MODE_PLAY);
	}
}

static void
do_step(struct monitor *monitor, const struct core_output *output)
{
	const struct action_step *step = output->step;
	struct text line = {0};

	switch (step->kind) {
	case ACTION_COMMAND:
		action_add_line(&line, step, output->factor);
		break;
	case ACTION_OWN:
		own_add_line(&line, step, wire_state(monitor->wire));
		break;
	case ACTION_EXEC:
		programs_start(&monitor->programs, monitor->now_ns, output->key,
			       step->words + 1);
		break;
	}
	if (!line.failed)
		send_line(monitor, text_string(&line));
	text_finish(&line);
}

static void
do_power(struct monitor *monitor, const char *word)
{
	struct text error = {0}, line = {0};

	log_info(topic, "power %s", word);
	if (power_do(word, &error) < 0) {
		log_err(topic, "%s", text_string(&error));
		text_add(&line, "say ");
		action_add_word(&line, text_string(&error));
		text_add(&line, " important");
		send_line(monitor, text_string(&line));
	}
	text_finish(&error);
	text_finish(&line);
}

/* Keyboards have many keys that mean nothing to a player. */
static void
tell_unbound(struct monitor *monitor, const struct core_output *output)
{
	const struct device *device =
		devices_at(monitor->devices, output->device);
	struct text name = {0};

	key_add_name(&name, output->key);
	log_debug(topic, "%s: no map binds %s",
		  device != NULL ? device_identity(device)->name : "a command",
		  text_string(&name));
	text_finish(&name);
	if (device == NULL ||
	    device_identity(device)->kind != KEYMAP_KIND_KEYBOARD)
		send_line(monitor, "chime error");
}

void
monitor_take_output(void *context, const struct core_output *output)
{
	struct monitor *monitor = context;

	if (monitor->is_test) {
		monitor_show_output(output);
		return;
	}
	switch (output->kind) {
	case CORE_LINE:
		send_line(monitor, output->line);
		break;
	case CORE_STEP:
		do_step(monitor, output);
		break;
	case CORE_POWER:
		do_power(monitor, output->line);
		break;
	case CORE_UNBOUND:
		tell_unbound(monitor, output);
		break;
	}
}

void
monitor_take_message(void *context, const char *words)
{
	struct monitor *monitor = context;
	enum keymap_gesture gesture = KEYMAP_SHORT;
	char *copy = strdup(words), *save = NULL;
	const char *verb = NULL, *name = NULL, *how = NULL;
	struct key key;

	if (copy == NULL)
		return;
	verb = strtok_r(copy, " ", &save);
	name = strtok_r(NULL, " ", &save);
	how = strtok_r(NULL, " ", &save);
	if (verb == NULL || strcmp(verb, "key") != 0 || name == NULL ||
	    key_parse(name, &key) < 0 ||
	    (how != NULL && keymap_gesture_parse(how, &gesture) < 0)) {
		struct text clean = {0};

		text_add_clean(&clean, words, strlen(words), 200);
		if (refusals_is_new(&monitor->nonsense, text_string(&clean)))
			log_warn(topic,
				 "the channel says \"%s\", which is not "
				 "\"key NAME [GESTURE]\"",
				 text_string(&clean));
		text_finish(&clean);
	} else {
		core_gesture(monitor->core, monitor->now_ns, key, gesture);
	}
	free(copy);
}

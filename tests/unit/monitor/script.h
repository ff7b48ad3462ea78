/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.h - plays scripts of keys to the core, and notes what they covered.
 *
 *	[map]			a key map follows, up to the next [; it may
 *include the shipped ones [map NAME]		a shipped one [case WHAT]
 *from the start, with the last map [trap NAME]		the same, and NAME is a
 *trap of traps.txt STEP / STEP -> OUTPUT | OUTPUT
 *
 * A step is "KEY down", "KEY up", "KEY auto" (value 2), "KEY tap|hold|long|
 * twice", "AXIS +3", "KEY lose", "240ms", "stall 3000ms" (nobody looks at the
 * clock meanwhile), "device KIND" (rc knob keyboard taps), "quiet 5000ms",
 * "gone", "mode NAME" (silently), "event TYPE CODE VALUE", "KEY gesture NAME".
 *"b: " before a key is the second device. Output: lines as sent, "own ...",
 *"exec ...", "power off", "unbound KEY", or "nothing"; "3x volume +2" is three
 *of them. */
#ifndef ROTARY_MONITOR_SCRIPT_H
#define ROTARY_MONITOR_SCRIPT_H

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "remote/monitor/core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifndef ROTARY_SOURCE
#	define ROTARY_SOURCE "."
#endif
#define FOLDER ROTARY_SOURCE "/tests/unit/monitor/scripts/"
#define MAPS ROTARY_SOURCE "/config/keymaps/"

enum { KEY_ROWS = 1024, NAMES_MAX = 128 };

struct coverage {
	/* For the shipped maps, by name: what was fired. */
	char *rows[KEY_ROWS];
	int row_count;
	bool gestures[KEYMAP_MODE_COUNT][KEYMAP_GESTURE_COUNT];
	char *traps[NAMES_MAX];
	int trap_count;
	int line_count;
	int failures;
};

struct script {
	const char *path;
	unsigned line;
	struct coverage *coverage;
	char map_name[64];
	struct keymap *map;
	struct text map_text;
	bool in_map;
	struct keymap_settings settings;
	struct core *core;
	int64_t now_ns;
	struct text output;
};

static inline void
fail_script(const struct script *script, const char *why, const char *what)
{
	print_error("%s:%u: %s: %s\n", script->path, script->line, why, what);
	fail();
}

static inline int
find_map(void *context, const char *name, struct text *ret_path)
{
	(void)context;
	text_add(ret_path, MAPS);
	text_add(ret_path, name);
	return 0;
}

static const struct keymap_rules rules = {.find = find_map, .exec = true};

static inline void
note(char *names[], int *count, int room, const char *name)
{
	int i = 0;

	for (i = 0; i < *count; i++)
		if (strcmp(names[i], name) == 0)
			return;
	assert_true(*count < room);
	names[(*count)++] = strdup(name);
}

static inline void
note_row(struct script *script, const struct core_output *output)
{
	struct text row = {0};

	/* What an alias did, its key's row did. */
	text_printf(&row, "%s [%s] ", script->map_name,
		    keymap_mode_name(output->mode));
	key_add_name(&row, keymap_fold(script->map, output->key));
	text_printf(&row, " %s", keymap_gesture_name(output->gesture));
	note(script->coverage->rows, &script->coverage->row_count, KEY_ROWS,
	     text_string(&row));
	text_finish(&row);
	script->coverage->gestures[output->mode][output->gesture] = true;
}

static inline void
on_output(void *context, const struct core_output *output)
{
	struct script *script = context;
	struct text *text = &script->output;

	if (output->action != NULL)
		note_row(script, output);
	if (text->length > 0)
		text_add(text, " | ");
	if (output->kind == CORE_LINE) {
		text_add(text, output->line);
	} else if (output->kind == CORE_POWER) {
		text_printf(text, "power %s", output->line);
	} else if (output->kind == CORE_UNBOUND) {
		text_add(text, "unbound ");
		key_add_name(text, output->key);
	} else {
		text_add(text, output->step->kind == ACTION_OWN    ? "own "
			       : output->step->kind == ACTION_EXEC ? "exec "
								   : "");
		action_add_line(text, output->step, output->factor);
	}
}

static inline void
restart(struct script *script)
{
	const struct core_options options = {
		.gestures = {.hold_ns = 600 * NS_PER_MS,
			     .long_ns = 3 * NS_PER_S,
			     .repeat_ns = 150 * NS_PER_MS,
			     .double_ns = 350 * NS_PER_MS,
			     .max_ns = 30 * NS_PER_S},
		.menu_timeout_ns = 30 * NS_PER_S,
	};

	core_destroy(script->core);
	script->now_ns = 100 * NS_PER_S;
	assert_int_equal(
		core_create(&options, on_output, script, &script->core), 0);
	core_tick(script->core, script->now_ns);
	script->settings = (struct keymap_settings){.rejoin_ms = 120,
						    .has_releases = true};
}

static inline void
set_devices(struct script *script)
{
	core_set_device(script->core, 0, script->map, &script->settings);
	core_set_device(script->core, 1, script->map, &script->settings);
	core_set_device(script->core, CORE_DEVICE_VIRTUAL, script->map,
			&script->settings);
}

static inline void
read_map(struct script *script)
{
	struct text error = {0};
	int result = 0;

	keymap_unref(script->map);
	script->map = NULL;
	if (script->map_name[0] != '\0') {
		struct text path = {0};

		text_printf(&path, MAPS "%s.map", script->map_name);
		result = keymap_load(text_string(&path), &rules, &script->map,
				     &error);
		text_finish(&path);
	} else {
		result = keymap_parse(script->path,
				      text_string(&script->map_text),
				      script->map_text.length, true, &rules,
				      &script->map, &error);
	}
	if (result < 0)
		fail_script(script, "map", text_string(&error));
	text_finish(&error);
}

/* As a loop would: whenever something is due. */
static inline void
pass(struct script *script, int64_t ns)
{
	const int64_t end_ns = script->now_ns + ns;

	while (core_deadline(script->core) <= end_ns) {
		script->now_ns = core_deadline(script->core);
		core_tick(script->core, script->now_ns);
	}
	script->now_ns = end_ns;
	core_tick(script->core, end_ns);
}

static inline void
key(struct script *script, unsigned device, struct key which, int value)
{
	core_event(script->core, script->now_ns, device, which, value);
}

static inline void
press_for(struct script *script, unsigned device, struct key which, int ms)
{
	key(script, device, which, 1);
	pass(script, ms * NS_PER_MS);
	key(script, device, which, 0);
}

static inline void
run_key_step(struct script *script, unsigned device, const char *name,
	     const char *what)
{
	enum keymap_gesture gesture;
	struct key which;

	if (key_parse(name, &which) < 0)
		fail_script(script, "no key", name);
	if (strcmp(what, "down") == 0) {
		key(script, device, which, 1);
	} else if (strcmp(what, "up") == 0) {
		key(script, device, which, 0);
	} else if (strcmp(what, "auto") == 0) {
		key(script, device, which, 2);
	} else if (strcmp(what, "tap") == 0) {
		press_for(script, device, which, 240);
		pass(script, 150 * NS_PER_MS);
	} else if (strcmp(what, "hold") == 0) {
		press_for(script, device, which, 700);
		pass(script, 150 * NS_PER_MS);
	} else if (strcmp(what, "long") == 0) {
		press_for(script, device, which, 3050);
		pass(script, 150 * NS_PER_MS);
	} else if (strcmp(what, "twice") == 0) {
		press_for(script, device, which, 100);
		pass(script, 150 * NS_PER_MS);
		press_for(script, device, which, 100);
	} else if (strcmp(what, "lose") == 0) {
		core_lose_key(script->core, device, which);
	} else if (strncmp(what, "gesture ", 8) == 0 &&
		   keymap_gesture_parse(what + 8, &gesture) == 0) {
		core_gesture(script->core, script->now_ns, which, gesture);
	} else if (key_is_axis(which)) {
		key(script, device, which, atoi(what));
	} else {
		fail_script(script, "no step", what);
	}
}

static inline void
set_device_kind(struct script *script, const char *kind)
{
	script->settings.rejoin_ms = strcmp(kind, "rc") == 0 ? 120 : 0;
	script->settings.has_releases = strcmp(kind, "taps") != 0;
	set_devices(script);
}

static inline void
run_step(struct script *script, char *step)
{
	unsigned device = 0, type = 0, code = 0;
	enum keymap_mode mode;
	char *blank = NULL;
	int ms = 0, value = 0, used = 0;

	if (sscanf(step, "%dms%n", &ms, &used) == 1 && step[used] == '\0') {
		pass(script, ms * NS_PER_MS);
	} else if (sscanf(step, "stall %dms", &ms) == 1) {
		script->now_ns += ms * NS_PER_MS;
		core_tick(script->core, script->now_ns);
	} else if (sscanf(step, "quiet %dms", &ms) == 1) {
		core_quiet_power(script->core, script->now_ns + ms * NS_PER_MS);
	} else if (sscanf(step, "event %u %u %d", &type, &code, &value) == 3) {
		key(script, 0, (struct key){(uint16_t)type, (uint16_t)code},
		    value);
	} else if (strncmp(step, "mode ", 5) == 0 &&
		   keymap_mode_parse(step + 5, &mode) == 0) {
		core_set_mode(script->core, mode);
	} else if (strncmp(step, "device ", 7) == 0) {
		set_device_kind(script, step + 7);
	} else if (strcmp(step, "gone") == 0) {
		core_drop_device(script->core, 0);
	} else {
		if (strncmp(step, "b: ", 3) == 0) {
			device = 1;
			step += 3;
		}
		blank = step + strcspn(step, " ");
		if (*blank == '\0')
			fail_script(script, "no step", step);
		*blank = '\0';
		run_key_step(script, device, step, blank + 1);
	}
}

/* Parts of line between " / ". */
static inline void
run_steps(struct script *script, char *line)
{
	char *next = NULL;

	for (; line != NULL; line = next) {
		next = strstr(line, " / ");
		if (next != NULL) {
			*next = '\0';
			next += 3;
		}
		run_step(script, line);
	}
}

/* What a line wants, with "3x WHAT" written out. */
static inline void
add_wanted(struct text *text, char *wanted)
{
	char *next = NULL;
	int times = 1, used = 0;

	for (; wanted != NULL; wanted = next) {
		next = strstr(wanted, " | ");
		if (next != NULL) {
			*next = '\0';
			next += 3;
		}
		used = 0;
		times = 1;
		if (sscanf(wanted, "%dx %n", &times, &used) != 1 || used == 0)
			times = 1;
		for (; times > 0; times--) {
			text_add(text, text->length > 0 ? " | " : "");
			text_add(text, wanted + used);
		}
	}
}

static inline void
run_line(struct script *script, char *line)
{
	char *arrow = strstr(line, " -> ");
	struct text wanted = {0};
	const char *got = NULL;

	if (script->core == NULL || arrow == NULL) {
		fail_script(script, "not understood", line);
		return;
	}
	*arrow = '\0';
	text_clear(&script->output);
	run_steps(script, line);
	got = script->output.length > 0 ? text_string(&script->output)
					: "nothing";
	add_wanted(&wanted, arrow + 4);
	if (strcmp(got, text_string(&wanted)) != 0) {
		print_error("%s:%u: wanted %s\n", script->path, script->line,
			    text_string(&wanted));
		print_error("%s:%u: got    %s\n", script->path, script->line,
			    got);
		script->coverage->failures++;
	}
	text_finish(&wanted);
	script->coverage->line_count++;
}

static inline void
begin_part(struct script *script, char *title)
{
	if (script->in_map)
		read_map(script);
	script->in_map = false;
	title[strlen(title) - 1] = '\0';
	if (strncmp(title, "[map", 4) == 0) {
		snprintf(script->map_name, sizeof(script->map_name), "%.63s",
			 title[4] != '\0' ? title + 5 : "");
		text_clear(&script->map_text);
		script->in_map = true;
		return;
	}
	if (strncmp(title, "[trap ", 6) == 0)
		note(script->coverage->traps, &script->coverage->trap_count,
		     NAMES_MAX, title + 6);
	else if (strncmp(title, "[case ", 6) != 0)
		fail_script(script, "not understood", title);
	restart(script);
	set_devices(script);
}

static inline bool
is_part(const char *line)
{
	return strncmp(line, "[map", 4) == 0 ||
	       strncmp(line, "[case ", 6) == 0 ||
	       strncmp(line, "[trap ", 6) == 0;
}

static inline void
run_script(const char *path, struct coverage *coverage)
{
	struct script script = {.path = path, .coverage = coverage};
	char line[1024];
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		script.line++;
		line[strcspn(line, "\n")] = '\0';
		if (is_part(line)) {
			begin_part(&script, line);
		} else if (script.in_map) {
			text_add(&script.map_text, line);
			text_add_char(&script.map_text, '\n');
		} else if (line[0] != '#' && line[0] != '\0') {
			run_line(&script, line);
		}
	}
	fclose(file);
	core_destroy(script.core);
	keymap_unref(script.map);
	text_finish(&script.map_text);
	text_finish(&script.output);
}

#endif

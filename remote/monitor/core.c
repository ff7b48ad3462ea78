/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core.c - modes, and the way of each event.
 *
 * An event of a key first meets what stands above the modes: power keys that
 * are quiet after a start, a countdown, which any key ends. Then the mode: in
 * describe a key only says what it does; else the map is asked, and the
 * machines of gesture.c take it from there. What they fire is done here when
 * it changes the mode or begins a countdown, and handed out otherwise.
 *
 * A gesture belongs to the mode in which its key went down: what holding OK
 * began in play does not go on in the menu. */
#include "remote/monitor/core.h"

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "remote/monitor/describe.h"
#include "remote/monitor/turn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTDOWN_S = 5 };

static const int64_t describe_again_ns = 2 * NS_PER_S;

struct device {
	struct keymap *map; /* NULL: not there */
	struct keymap_settings settings;
};

struct core {
	struct core_options options;
	core_emit *emit;
	void *context;
	struct device devices[CORE_DEVICES_MAX];
	struct gestures gestures;
	struct turns turns;
	int64_t now_ns; /* of the newest event */
	int64_t quiet_until_ns;
	enum keymap_mode mode;
	int64_t key_ns; /* when the last key went down */
	/* The countdown. */
	const char *power; /* NULL: none runs */
	int power_left_s;
	int64_t power_next_ns;
	/* The key that was described last. */
	struct key described;
	int64_t described_ns;
};

/* Where an output comes from. */
struct origin {
	unsigned device;
	struct key key;
	enum keymap_gesture gesture;
	enum keymap_mode mode;
	const struct action *action; /* NULL: no row of a map */
};

static void
emit(struct core *core, const struct origin *origin, struct core_output *output)
{
	output->mode = core->mode;
	if (origin != NULL) {
		output->mode = origin->mode;
		output->action = origin->action;
		output->device = origin->device;
		output->key = origin->key;
		output->gesture = origin->gesture;
	}
	core->emit(core->context, output);
}

static void
emit_line(struct core *core, const struct origin *origin, const char *line)
{
	struct core_output output = {.kind = CORE_LINE, .line = line};

	emit(core, origin, &output);
}

/* --- modes */

static bool
is_menu(enum keymap_mode mode)
{
	return mode == KEYMAP_MODE_MENU || mode == KEYMAP_MODE_TEXT;
}

static void
go_to_mode(struct core *core, const struct origin *origin,
	   enum keymap_mode mode)
{
	const enum keymap_mode before = core->mode;

	if (mode == before)
		return;
	core->mode = mode;
	core->key_ns = core->now_ns;
	core->described_ns = INT64_MIN;
	if (is_menu(mode) && !is_menu(before))
		emit_line(core, origin, "menumode 1");
	if (!is_menu(mode) && is_menu(before))
		emit_line(core, origin, "menumode 0");
	if (mode == KEYMAP_MODE_PLAY)
		emit_line(core, origin, "chime close");
	else if (before == KEYMAP_MODE_PLAY || mode == KEYMAP_MODE_DESCRIBE)
		emit_line(core, origin, "chime open");
}

void
core_set_mode(struct core *core, enum keymap_mode mode)
{
	core->mode = mode;
	core->key_ns = core->now_ns;
}

enum keymap_mode
core_mode(const struct core *core)
{
	return core->mode;
}

/* --- the countdown */

static void
begin_countdown(struct core *core, const struct origin *origin,
		const char *word)
{
	static const struct {
		const char *word;
		const char *line;
	} warnings[] = {
		{"off", "say \"Switching off in 5 seconds. Any key cancels.\" "
			"important"},
		{"restart", "say \"Restarting in 5 seconds. Any key cancels.\" "
			    "important"},
		{"sleep", "say \"Going to sleep in 5 seconds. Any key "
			  "cancels.\" important"},
	};
	size_t i = 0;

	for (i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++) {
		if (strcmp(warnings[i].word, word) != 0)
			continue;
		core->power = warnings[i].word;
		core->power_left_s = COUNTDOWN_S;
		core->power_next_ns = core->now_ns + NS_PER_S;
		emit_line(core, origin, warnings[i].line);
	}
}

static bool
cancel_countdown(struct core *core)
{
	if (core->power == NULL)
		return false;
	core->power = NULL;
	emit_line(core, NULL, "say Cancelled important");
	return true;
}

static void
count_down(struct core *core)
{
	struct core_output output = {.kind = CORE_POWER, .line = core->power};

	/* A second that came late is followed by a whole one all the same. */
	core->power_next_ns = core->now_ns + NS_PER_S;
	core->power_left_s--;
	if (core->power_left_s > 0) {
		emit_line(core, NULL, "chime tick");
		return;
	}
	core->power = NULL;
	emit(core, NULL, &output);
}

/* --- actions */

static void
do_step(struct core *core, const struct origin *origin,
	const struct action_step *step, int64_t factor)
{
	struct core_output output = {
		.kind = CORE_STEP, .step = step, .factor = factor};
	enum keymap_mode mode;

	if (step->kind == ACTION_OWN && step->own == ACTION_OWN_POWER) {
		begin_countdown(core, origin, step->words[1]);
		return;
	}
	if (step->kind == ACTION_OWN && step->own == ACTION_OWN_MODE &&
	    keymap_mode_parse(step->words[1], &mode) == 0) {
		go_to_mode(core, origin, mode);
		return;
	}
	if (step->kind == ACTION_OWN && step->own == ACTION_OWN_MENU) {
		if (strcmp(step->words[1], "enter") == 0) {
			go_to_mode(core, origin, KEYMAP_MODE_MENU);
			return;
		}
		if (strcmp(step->words[1], "leave") == 0) {
			go_to_mode(core, origin, KEYMAP_MODE_PLAY);
			return;
		}
	}
	emit(core, origin, &output);
}

static void
do_action(struct core *core, const struct origin *from,
	  const struct action *action, int64_t factor)
{
	struct origin origin = *from;
	int i = 0;

	origin.action = action;
	for (i = 0; i < action->step_count; i++)
		do_step(core, &origin, &action->steps[i], factor);
}

static void
on_gesture(void *context, const struct gesture_press *press,
	   enum keymap_gesture gesture, int64_t factor)
{
	struct core *core = context;
	const struct origin origin = {.device = press->device,
				      .key = press->key,
				      .gesture = gesture,
				      .mode = press->mode};

	/* Letting go always counts; the rest belongs to its mode. */
	if (press->mode != core->mode && gesture != KEYMAP_RELEASE)
		return;
	do_action(core, &origin, press->bound->actions[gesture], factor);
}

static void
on_turn(void *context, unsigned device, struct key key, int64_t value)
{
	struct core *core = context;
	const struct origin origin = {.device = device,
				      .key = key,
				      .gesture = KEYMAP_SHORT,
				      .mode = core->mode};
	const struct keymap_bound *bound = NULL;

	if (core->devices[device].map == NULL)
		return;
	bound = keymap_find(core->devices[device].map, core->mode, key);
	if (bound != NULL && bound->actions[KEYMAP_SHORT] != NULL)
		do_action(core, &origin, bound->actions[KEYMAP_SHORT], value);
}

/* --- describe */

/* Says what the key does in play, unless it does something here. Twice the
 * same key in a row leaves; true then. */
static bool
describe(struct core *core, const struct origin *origin)
{
	const struct keymap *map = core->devices[origin->device].map;
	struct text line = {0};

	if (core->mode != KEYMAP_MODE_DESCRIBE ||
	    keymap_find_in(map, KEYMAP_MODE_DESCRIBE, origin->key) != NULL)
		return false;
	if (core->described_ns != INT64_MIN &&
	    core->described.code == origin->key.code &&
	    core->now_ns - core->described_ns < describe_again_ns) {
		go_to_mode(core, origin, KEYMAP_MODE_PLAY);
		return true;
	}
	core->described = origin->key;
	core->described_ns = core->now_ns;
	describe_add_line(&line, map, origin->key);
	if (!line.failed)
		emit_line(core, origin, text_string(&line));
	text_finish(&line);
	return false;
}

/* --- events */

static void
press(struct core *core, const struct origin *origin)
{
	const struct device *device = &core->devices[origin->device];
	const struct keymap_bound *bound =
		keymap_find(device->map, core->mode, origin->key);
	const struct gesture_press press = {
		.device = origin->device,
		.key = origin->key,
		.mode = core->mode,
		.bound = bound,
		.rejoin_ns = device->settings.rejoin_ms * NS_PER_MS,
		.has_releases = device->settings.has_releases,
	};
	struct core_output output = {.kind = CORE_UNBOUND};

	if (describe(core, origin))
		return;
	if (bound != NULL) {
		gestures_down(&core->gestures, core->now_ns, &press);
		return;
	}
	gestures_end_others(&core->gestures, origin->device, origin->key);
	if (core->mode != KEYMAP_MODE_DESCRIBE)
		emit(core, origin, &output);
}

static void
key_down(struct core *core, const struct origin *origin)
{
	if (core->now_ns < core->quiet_until_ns && key_is_power(origin->key))
		return;
	core->key_ns = core->now_ns;
	if (gestures_rejoin(&core->gestures, core->now_ns, origin->device,
			    origin->key))
		return;
	if (!cancel_countdown(core))
		press(core, origin);
}

static void
advance(struct core *core, int64_t now_ns)
{
	if (now_ns > core->now_ns)
		core_tick(core, now_ns);
}

void
core_event(struct core *core, int64_t now_ns, unsigned device, struct key key,
	   int value)
{
	const struct origin origin = {.device = device,
				      .key = key,
				      .gesture = KEYMAP_PRESS,
				      .mode = core->mode};

	if (device >= CORE_DEVICES_MAX || core->devices[device].map == NULL ||
	    !key_is_valid(key))
		return;
	advance(core, now_ns);
	if (key_is_axis(key)) {
		core->key_ns = core->now_ns;
		if (!cancel_countdown(core))
			turns_event(&core->turns, core->now_ns, device, key,
				    value);
	} else if (value == 1) {
		key_down(core, &origin);
	} else if (value == 0) {
		gestures_up(&core->gestures, core->now_ns, device, key);
	}
}

void
core_lose_key(struct core *core, unsigned device, struct key key)
{
	gestures_cancel(&core->gestures, device, &key);
}

void
core_gesture(struct core *core, int64_t now_ns, struct key key,
	     enum keymap_gesture gesture)
{
	const struct origin origin = {.device = CORE_DEVICE_VIRTUAL,
				      .key = key,
				      .gesture = gesture,
				      .mode = core->mode};
	const struct device *device = &core->devices[CORE_DEVICE_VIRTUAL];
	const struct keymap_bound *bound = NULL;
	struct core_output output = {.kind = CORE_UNBOUND};

	if (device->map == NULL || !key_is_valid(key))
		return;
	advance(core, now_ns);
	core->key_ns = core->now_ns;
	if (cancel_countdown(core))
		return;
	if (describe(core, &origin))
		return;
	bound = keymap_find(device->map, core->mode, key);
	if (bound != NULL && gesture == KEYMAP_SHORT &&
	    bound->actions[KEYMAP_PRESS] != NULL)
		do_action(core, &origin, bound->actions[KEYMAP_PRESS], 1);
	if (bound != NULL && bound->actions[gesture] != NULL)
		do_action(core, &origin, bound->actions[gesture], 1);
	else if (bound == NULL && core->mode != KEYMAP_MODE_DESCRIBE)
		emit(core, &origin, &output);
}

void
core_quiet_power(struct core *core, int64_t until_ns)
{
	core->quiet_until_ns = until_ns;
	/* A countdown may have begun before the machine slept. */
	core->power = NULL;
}

/* --- time */

static int64_t
menu_deadline(const struct core *core)
{
	if (core->mode == KEYMAP_MODE_PLAY ||
	    core->options.menu_timeout_ns == 0)
		return INT64_MAX;
	return core->key_ns + core->options.menu_timeout_ns;
}

static int64_t
earlier(int64_t one_ns, int64_t other_ns)
{
	return one_ns < other_ns ? one_ns : other_ns;
}

int64_t
core_deadline(const struct core *core)
{
	int64_t due_ns = earlier(gestures_deadline(&core->gestures),
				 turns_deadline(&core->turns));

	due_ns = earlier(due_ns, menu_deadline(core));
	return core->power != NULL ? earlier(due_ns, core->power_next_ns)
				   : due_ns;
}

void
core_tick(struct core *core, int64_t now_ns)
{
	if (now_ns > core->now_ns)
		core->now_ns = now_ns;
	gestures_tick(&core->gestures, core->now_ns);
	turns_tick(&core->turns, core->now_ns);
	if (core->power != NULL && core->power_next_ns <= core->now_ns)
		count_down(core);
	if (menu_deadline(core) <= core->now_ns)
		go_to_mode(core, NULL, KEYMAP_MODE_PLAY);
}

/* --- devices */

void
core_drop_device(struct core *core, unsigned device)
{
	gestures_cancel(&core->gestures, device, NULL);
	turns_cancel(&core->turns, device);
	keymap_unref(core->devices[device].map);
	core->devices[device].map = NULL;
}

void
core_set_device(struct core *core, unsigned device, struct keymap *map,
		const struct keymap_settings *settings)
{
	core_drop_device(core, device);
	core->devices[device].map = keymap_ref(map);
	core->devices[device].settings = *settings;
}

int
core_create(const struct core_options *options, core_emit *output,
	    void *context, struct core **ret_core)
{
	struct core *core = calloc(1, sizeof(*core));

	if (core == NULL)
		return -ENOMEM;
	core->options = *options;
	core->emit = output;
	core->context = context;
	core->gestures.timing = options->gestures;
	core->gestures.fire = on_gesture;
	core->gestures.context = core;
	core->turns.tell = on_turn;
	core->turns.context = core;
	core->described_ns = INT64_MIN;
	*ret_core = core;
	return 0;
}

void
core_destroy(struct core *core)
{
	unsigned i = 0;

	if (core == NULL)
		return;
	for (i = 0; i < CORE_DEVICES_MAX; i++)
		keymap_unref(core->devices[i].map);
	free(core);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keymap_file.c - reads a key map.
 *
 *	include = default.map
 *	[device GLOB]     name of a device; bus vendor product phys kind narrow
 *	                  it; grab rejoin_ms releases say how it is treated
 *	[aliases]         OK = ENTER SELECT
 *	[play] [menu] [text] [describe]
 *	KEY[.GESTURE] = ACTION
 *
 * What a map binds takes the place of what its include binds, gesture by
 * gesture; within one file a second line for the same is an error. A map is
 * all right as a whole or is none. */
#include "remote/monitor/keymap_parts.h"

#include "lib/base/ini.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct keymap *map;
	const struct keymap_rules *rules;
	bool trusted;
	bool is_include;
	/* The line in this file that bound it; 0: none did. */
	unsigned lines[KEYMAP_MODE_COUNT][KEYMAP_KEYS][KEYMAP_GESTURE_COUNT];
	struct text *error; /* of an include */
};

/* --- [device] */

static int
begin_device(struct reading *reading, const char *glob, struct text *ret_error)
{
	struct keymap *map = reading->map;
	struct keymap_device *device = NULL;

	glob += strspn(glob, " \t");
	if (*glob == '\0')
		return action_refuse(ret_error, "device", "needs a name, or *");
	if (reading->is_include)
		return 0;
	if (map->device_count == KEYMAP_DEVICES_MAX)
		return action_refuse(ret_error, glob,
				     "is a device too many (32 are "
				     "allowed)");
	device = &map->devices[map->device_count];
	*device = (struct keymap_device){.bus = -1,
					 .vendor = -1,
					 .product = -1,
					 .kind = KEYMAP_KIND_ANY,
					 .rejoin_ms = -1,
					 .has_releases = true,
					 .name = strdup(glob)};
	if (device->name == NULL)
		return -ENOMEM;
	map->device_count++;
	return 0;
}

/* Decimal, or hexadecimal after 0x. */
static int
take_number(const char *value, int max, int *ret_number, struct text *ret_error)
{
	char *end = NULL;
	long number = 0;

	errno = 0;
	number = strtol(value, &end, 0);
	if (*value < '0' || *value > '9' || *end != '\0' || errno != 0 ||
	    number > max)
		return action_refuse(ret_error, value,
				     "is not a number that can stand "
				     "here");
	*ret_number = (int)number;
	return 0;
}

static int
take_word(const char *value, const char *const words[], int count,
	  int *ret_word, struct text *ret_error)
{
	int i = 0;

	for (i = 0; i < count; i++) {
		if (strcmp(words[i], value) == 0) {
			*ret_word = i;
			return 0;
		}
	}
	return action_refuse(ret_error, value,
			     "is not a word that can stand here");
}

static int
take_device_line(struct keymap_device *device, const char *name,
		 const char *value, struct text *ret_error)
{
	static const char *const grabs[] = {"auto", "yes", "no"};
	static const char *const kinds[] = {"remote", "keyboard", "knob"};
	int word = 0, result = 0;

	if (strcmp(name, "bus") == 0)
		return take_number(value, 0xffff, &device->bus, ret_error);
	if (strcmp(name, "vendor") == 0)
		return take_number(value, 0xffff, &device->vendor, ret_error);
	if (strcmp(name, "product") == 0)
		return take_number(value, 0xffff, &device->product, ret_error);
	if (strcmp(name, "rejoin_ms") == 0)
		return take_number(value, 1000, &device->rejoin_ms, ret_error);
	if (strcmp(name, "phys") == 0) {
		free(device->phys);
		device->phys = strdup(value);
		return device->phys != NULL ? 0 : -ENOMEM;
	}
	if (strcmp(name, "grab") == 0) {
		result = take_word(value, grabs, 3, &word, ret_error);
		device->grab =
			result == 0 ? (enum keymap_grab)word : device->grab;
		return result;
	}
	if (strcmp(name, "kind") == 0) {
		result = take_word(value, kinds, 3, &word, ret_error);
		device->kind =
			result == 0 ? (enum keymap_kind)word : device->kind;
		return result;
	}
	if (strcmp(name, "releases") == 0)
		return text_parse_bool(value, &device->has_releases) == 0
			       ? 0
			       : action_refuse(ret_error, value,
					       "is neither yes nor "
					       "no");
	return action_refuse(
		ret_error, name,
		"is none of bus, vendor, product, phys, kind, grab, "
		"rejoin_ms and releases");
}

/* --- keys */

static int
take_key(const char *name, struct key *ret_key, struct text *ret_error)
{
	if (key_parse(name, ret_key) == 0)
		return 0;
	return action_refuse(
		ret_error, name,
		"is no key; rotary-remote --test shows what yours are "
		"called");
}

static int
take_aliases(struct keymap *map, const char *name, const char *value,
	     struct text *ret_error)
{
	char *copy = strdup(value), *save = NULL, *word = NULL;
	struct key key, other;
	int result = take_key(name, &key, ret_error);

	if (copy == NULL)
		return -ENOMEM;
	for (word = strtok_r(copy, " \t,", &save); word != NULL && result == 0;
	     word = strtok_r(NULL, " \t,", &save)) {
		result = take_key(word, &other, ret_error);
		if (result == 0 && other.type != key.type)
			result = action_refuse(
				ret_error, word,
				"is of another kind than what it stands "
				"for");
		if (result == 0)
			map->folds[keymap_index(other)] =
				(uint16_t)(keymap_index(key) + 1);
	}
	free(copy);
	return result;
}

/* What an action may not be, where it stands. */
static int
check_place(const struct reading *reading, struct key key,
	    enum keymap_gesture gesture, const struct action *action,
	    struct text *ret_error)
{
	if (action_has_kind(action, ACTION_EXEC) && !reading->rules->exec)
		return action_refuse(ret_error, "exec",
				     "is not allowed: it needs "
				     "exec = yes in remote.conf");
	if (action_has_kind(action, ACTION_EXEC) && !reading->trusted)
		return action_refuse(
			ret_error, "exec",
			"is only allowed in a file of root or of the "
			"remote's user that nobody else may write");
	if (action_has_own(action, ACTION_OWN_POWER) &&
	    gesture != KEYMAP_HOLD && gesture != KEYMAP_LONG)
		return action_refuse(ret_error, "power",
				     "is only allowed with .hold or "
				     ".long");
	if (action_has_factor(action, ACTION_FACTOR_VALUE) && !key_is_axis(key))
		return action_refuse(ret_error, "*value",
				     "is only known of an axis");
	if (action_has_factor(action, ACTION_FACTOR_GROW) &&
	    gesture != KEYMAP_REPEAT)
		return action_refuse(ret_error, "*grow",
				     "is only known of .repeat");
	return 0;
}

static int
bind(struct reading *reading, enum keymap_mode mode, struct key key,
     enum keymap_gesture gesture, struct action *action)
{
	struct keymap_bound **place =
		&reading->map->bounds[mode][keymap_index(key)];

	if (*place == NULL)
		*place = calloc(1, sizeof(**place));
	if (*place == NULL)
		return -ENOMEM;
	action_destroy((*place)->actions[gesture]);
	(*place)->actions[gesture] = action;
	return 0;
}

/* "NAME" or "NAME.gesture". */
static int
take_name(const char *name, struct key *ret_key,
	  enum keymap_gesture *ret_gesture, struct text *ret_error)
{
	const char *dot = strrchr(name, '.');
	char *bare = NULL;
	int result = 0;

	*ret_gesture = KEYMAP_SHORT;
	if (dot == NULL)
		return take_key(name, ret_key, ret_error);
	if (strcmp(dot, ".short") == 0 ||
	    keymap_gesture_parse(dot + 1, ret_gesture) < 0)
		return action_refuse(
			ret_error, dot,
			"is none of .press, .hold, .long, .repeat, "
			".double and .release");
	bare = strndup(name, (size_t)(dot - name));
	if (bare == NULL)
		return -ENOMEM;
	result = take_key(bare, ret_key, ret_error);
	free(bare);
	if (result == 0 && key_is_axis(*ret_key))
		result = action_refuse(ret_error, name,
				       "is an axis: it can only be "
				       "turned");
	return result;
}

static int
take_binding(struct reading *reading, enum keymap_mode mode,
	     const struct ini_line *line, struct text *ret_error)
{
	enum keymap_gesture gesture;
	struct action *action = NULL;
	struct key key = {0};
	unsigned *seen = NULL;
	int result = take_name(line->name, &key, &gesture, ret_error);

	if (result < 0)
		return result;
	seen = &reading->lines[mode][keymap_index(key)][gesture];
	if (*seen > 0) {
		text_printf(ret_error, "this has been bound in line %u", *seen);
		return -EINVAL;
	}
	result = action_parse(line->value, &action, ret_error);
	if (result < 0)
		return result;
	result = check_place(reading, key, gesture, action, ret_error);
	if (result == 0)
		result = bind(reading, mode, key, gesture, action);
	if (result < 0)
		action_destroy(action);
	else
		*seen = line->number;
	return result;
}

/* --- the file */

static int read_file(struct reading *reading, const char *path);

static int
take_include(struct reading *reading, const char *name, struct text *ret_error)
{
	struct reading *included = NULL;
	struct text path = {0};
	int result = 0;

	if (reading->is_include)
		return action_refuse(ret_error, name,
				     "is included by an included map: "
				     "that is one level too many");
	if (strchr(name, '/') != NULL || name[0] == '.' || name[0] == '\0' ||
	    reading->rules->find(reading->rules->context, name, &path) < 0) {
		text_finish(&path);
		return action_refuse(ret_error, name,
				     "is no map in the folders of key "
				     "maps");
	}
	included = calloc(1, sizeof(*included));
	if (included == NULL) {
		text_finish(&path);
		return -ENOMEM;
	}
	included->map = reading->map;
	included->rules = reading->rules;
	included->is_include = true;
	included->error = ret_error;
	result = read_file(included, text_string(&path));
	free(included);
	text_finish(&path);
	return result;
}

static int
take_preamble(struct reading *reading, const struct ini_line *line,
	      struct text *ret_error)
{
	int i = 0, mode = 0;

	if (strcmp(line->name, "include") != 0)
		return action_refuse(
			ret_error, line->name,
			"stands before the first section, where only "
			"include can");
	for (mode = 0; mode < KEYMAP_MODE_COUNT; mode++)
		for (i = 0; i < KEYMAP_KEYS; i++)
			if (reading->map->bounds[mode][i] != NULL)
				return action_refuse(ret_error, line->value,
						     "is a second include");
	return take_include(reading, line->value, ret_error);
}

static bool
is_device(const char *section)
{
	return strncmp(section, "device", 6) == 0 &&
	       (section[6] == ' ' || section[6] == '\t' || section[6] == '\0');
}

static int
take_line(void *context, const struct ini_line *line, struct text *ret_error)
{
	struct reading *reading = context;
	struct keymap *map = reading->map;
	enum keymap_mode mode;

	if (is_device(line->section)) {
		if (line->name == NULL)
			return begin_device(reading, line->section + 6,
					    ret_error);
		if (reading->is_include)
			return 0;
		return take_device_line(&map->devices[map->device_count - 1],
					line->name, line->value, ret_error);
	}
	if (strcmp(line->section, "aliases") == 0)
		return line->name == NULL
			       ? 0
			       : take_aliases(map, line->name, line->value,
					      ret_error);
	if (line->section[0] == '\0')
		return take_preamble(reading, line, ret_error);
	if (keymap_mode_parse(line->section, &mode) < 0)
		return action_refuse(
			ret_error, line->section,
			"is none of the sections device, aliases, play, "
			"menu, text and describe");
	return line->name == NULL
		       ? 0
		       : take_binding(reading, mode, line, ret_error);
}

static int
read_file(struct reading *reading, const char *path)
{
	struct text bytes = {0}, why = {0};
	int result = ini_read(path, &bytes, &reading->trusted, &why);

	if (result == 0)
		result = ini_parse(path, text_string(&bytes), bytes.length,
				   take_line, reading, &why);
	else if (why.length == 0)
		text_printf(&why, "cannot read %s: %s", path,
			    text_of_error(result));
	if (result < 0) {
		text_clear(reading->error);
		text_add(reading->error, text_string(&why));
	}
	text_finish(&bytes);
	text_finish(&why);
	return result;
}

static struct reading *
begin(const char *path, const struct keymap_rules *rules,
      struct text *ret_error)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	struct keymap *map = calloc(1, sizeof(*map));

	text_clear(ret_error);
	if (map != NULL) {
		map->references = 1;
		map->path = strdup(path);
	}
	if (reading == NULL || map == NULL || map->path == NULL) {
		free(reading);
		keymap_unref(map);
		text_add(ret_error, "out of memory");
		return NULL;
	}
	reading->map = map;
	reading->rules = rules;
	reading->error = ret_error;
	return reading;
}

static int
end(struct reading *reading, int result, struct keymap **ret_map)
{
	struct keymap *map = reading->map;

	if (result == -ENOMEM) {
		text_clear(reading->error);
		text_add(reading->error, "out of memory");
	}
	free(reading);
	if (result < 0)
		keymap_unref(map);
	else
		*ret_map = map;
	return result;
}

int
keymap_load(const char *path, const struct keymap_rules *rules,
	    struct keymap **ret_map, struct text *ret_error)
{
	struct reading *reading = begin(path, rules, ret_error);

	if (reading == NULL)
		return -ENOMEM;
	return end(reading, read_file(reading, path), ret_map);
}

int
keymap_parse(const char *path, const char *bytes, size_t length, bool trusted,
	     const struct keymap_rules *rules, struct keymap **ret_map,
	     struct text *ret_error)
{
	struct reading *reading = begin(path, rules, ret_error);

	if (reading == NULL)
		return -ENOMEM;
	reading->trusted = trusted;
	return end(
		reading,
		ini_parse(path, bytes, length, take_line, reading, ret_error),
		ret_map);
}

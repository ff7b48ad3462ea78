/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keymap.c - a key map that has been read: lookups, and its life.
 *
 * Keys and axes share one row of indices; a mode is a table over it. A lookup
 * asks for the key itself, then for the key that it is an alias of, then, for
 * transport keys, the same two in the mode play: so a map may bind ENTER apart
 * from OK, and volume works in a menu without being named there. */
#include "remote/monitor/keymap_parts.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { REJOIN_MS = 120 };

static const char *const modes[KEYMAP_MODE_COUNT] = {"play", "menu", "text",
						     "describe"};
static const char *const gestures[KEYMAP_GESTURE_COUNT] = {
	"short", "press", "hold", "long", "repeat", "double", "release"};

int
keymap_index(struct key key)
{
	if (!key_is_valid(key))
		return -1;
	if (key.type == EV_REL)
		return KEYMAP_REL_BASE + key.code;
	if (key.type == EV_ABS)
		return KEYMAP_ABS_BASE + key.code;
	return key.code;
}

struct key
keymap_key_at(int index)
{
	if (index >= KEYMAP_ABS_BASE)
		return (struct key){EV_ABS,
				    (uint16_t)(index - KEYMAP_ABS_BASE)};
	if (index >= KEYMAP_REL_BASE)
		return (struct key){EV_REL,
				    (uint16_t)(index - KEYMAP_REL_BASE)};
	return (struct key){EV_KEY, (uint16_t)index};
}

struct keymap *
keymap_ref(struct keymap *map)
{
	map->references++;
	return map;
}

static void
destroy_bound(struct keymap_bound *bound)
{
	int gesture = 0;

	if (bound == NULL)
		return;
	for (gesture = 0; gesture < KEYMAP_GESTURE_COUNT; gesture++)
		action_destroy(bound->actions[gesture]);
	free(bound);
}

void
keymap_unref(struct keymap *map)
{
	int i = 0, mode = 0;

	if (map == NULL || --map->references > 0)
		return;
	for (mode = 0; mode < KEYMAP_MODE_COUNT; mode++)
		for (i = 0; i < KEYMAP_KEYS; i++)
			destroy_bound(map->bounds[mode][i]);
	for (i = 0; i < map->device_count; i++) {
		free(map->devices[i].name);
		free(map->devices[i].phys);
	}
	free(map->path);
	free(map);
}

const char *
keymap_path(const struct keymap *map)
{
	return map->path;
}

static bool
is_number_meant(int wanted, int number)
{
	return wanted < 0 || wanted == number;
}

static bool
is_meant(const struct keymap_device *device,
	 const struct keymap_identity *identity)
{
	return fnmatch(device->name, identity->name, 0) == 0 &&
	       (device->phys == NULL ||
		fnmatch(device->phys, identity->phys, 0) == 0) &&
	       (device->kind == KEYMAP_KIND_ANY ||
		device->kind == identity->kind) &&
	       is_number_meant(device->bus, identity->bus) &&
	       is_number_meant(device->vendor, identity->vendor) &&
	       is_number_meant(device->product, identity->product);
}

void
keymap_preset_settings(const struct keymap_identity *identity,
		       struct keymap_settings *ret_settings)
{
	ret_settings->grab = KEYMAP_GRAB_AUTO;
	ret_settings->rejoin_ms = identity->is_rc ? REJOIN_MS : 0;
	ret_settings->has_releases = true;
}

bool
keymap_claims(const struct keymap *map, const struct keymap_identity *identity,
	      struct keymap_settings *ret_settings)
{
	int i = 0;

	for (i = 0; i < map->device_count; i++) {
		const struct keymap_device *device = &map->devices[i];

		if (!is_meant(device, identity))
			continue;
		keymap_preset_settings(identity, ret_settings);
		ret_settings->grab = device->grab;
		ret_settings->has_releases = device->has_releases;
		if (device->rejoin_ms >= 0)
			ret_settings->rejoin_ms = device->rejoin_ms;
		return true;
	}
	return false;
}

const struct keymap_bound *
keymap_find_in(const struct keymap *map, enum keymap_mode mode, struct key key)
{
	const int index = keymap_index(key);
	const struct keymap_bound *bound = NULL;

	if (index < 0)
		return NULL;
	bound = map->bounds[mode][index];
	if (bound == NULL && map->folds[index] > 0)
		bound = map->bounds[mode][map->folds[index] - 1];
	return bound;
}

const struct keymap_bound *
keymap_find(const struct keymap *map, enum keymap_mode mode, struct key key)
{
	const struct keymap_bound *bound = keymap_find_in(map, mode, key);

	if (bound == NULL &&
	    (key_is_transport(key) || key_is_transport(keymap_fold(map, key))))
		bound = keymap_find_in(map, KEYMAP_MODE_PLAY, key);
	return bound;
}

struct key
keymap_fold(const struct keymap *map, struct key key)
{
	const int index = keymap_index(key);

	if (index < 0 || map->folds[index] == 0)
		return key;
	return keymap_key_at(map->folds[index] - 1);
}

void
keymap_each(const struct keymap *map, keymap_visit *visit, void *context)
{
	int mode = 0, i = 0;

	for (mode = 0; mode < KEYMAP_MODE_COUNT; mode++)
		for (i = 0; i < KEYMAP_KEYS; i++)
			if (map->bounds[mode][i] != NULL)
				visit(context, (enum keymap_mode)mode,
				      keymap_key_at(i), map->bounds[mode][i]);
}

static int
find_name(const char *const names[], int count, const char *name)
{
	int i = 0;

	for (i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -ENOENT;
}

const char *
keymap_mode_name(enum keymap_mode mode)
{
	return modes[mode];
}

int
keymap_mode_parse(const char *name, enum keymap_mode *ret_mode)
{
	const int found = find_name(modes, KEYMAP_MODE_COUNT, name);

	if (found < 0)
		return found;
	*ret_mode = (enum keymap_mode)found;
	return 0;
}

const char *
keymap_gesture_name(enum keymap_gesture gesture)
{
	return gestures[gesture];
}

int
keymap_gesture_parse(const char *name, enum keymap_gesture *ret_gesture)
{
	const int found = find_name(gestures, KEYMAP_GESTURE_COUNT, name);

	if (found < 0)
		return found;
	*ret_gesture = (enum keymap_gesture)found;
	return 0;
}

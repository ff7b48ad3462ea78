/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keymaps.c - finds and keeps the key maps.
 *
 * The installed ones are beside the program in a build tree, else below its
 * prefix. A reload builds a new list and takes over from the old one, by path,
 * what can no longer be read: a mistake in a map leaves its keys working. */
#include "remote/monitor/keymaps.h"

#include "lib/base/log.h"
#include "lib/base/places.h"
#include "lib/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char topic[] = "remote";
static const char default_name[] = "default.map";

struct keymaps {
	char *folders[KEYMAPS_FOLDERS_MAX];
	int folder_count;
	bool exec;
	struct keymap *maps[KEYMAPS_MAX];
	int map_count;
};

static int
add_folder(struct keymaps *maps, const struct text *path)
{
	char *copy = path->failed ? NULL : strdup(text_string(path));

	if (copy == NULL)
		return -ENOMEM;
	maps->folders[maps->folder_count++] = copy;
	return 0;
}

/* Beside the program, or PREFIX/share/rotary/keymaps. */
static void
add_installed(struct text *text)
{
	char self[1024];
	const ssize_t length =
		readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash = NULL;

	if (length > 0) {
		self[length] = '\0';
		slash = strrchr(self, '/');
	}
	if (slash == NULL) {
		text_add(text, "/usr/share/rotary/keymaps");
		return;
	}
	*slash = '\0';
	text_printf(text, "%s/keymaps", self);
	if (access(text_string(text), R_OK) == 0)
		return;
	text_clear(text);
	text_printf(text, "%s/../share/rotary/keymaps", self);
}

int
keymaps_create(const char *extra, bool exec, struct keymaps **ret_maps)
{
	struct keymaps *maps = calloc(1, sizeof(*maps));
	struct text path = {0};
	int result = 0;

	if (maps == NULL)
		return -ENOMEM;
	maps->exec = exec;
	text_add(&path, extra);
	if (extra[0] != '\0')
		result = add_folder(maps, &path);
	text_clear(&path);
	places_add_state(&path);
	text_add(&path, "/keymaps");
	if (result == 0)
		result = add_folder(maps, &path);
	text_clear(&path);
	text_add(&path, "/etc/rotary/keymaps");
	if (result == 0)
		result = add_folder(maps, &path);
	text_clear(&path);
	add_installed(&path);
	if (result == 0)
		result = add_folder(maps, &path);
	text_finish(&path);
	if (result < 0) {
		keymaps_destroy(maps);
		return result;
	}
	*ret_maps = maps;
	return 0;
}

void
keymaps_destroy(struct keymaps *maps)
{
	int i = 0;

	if (maps == NULL)
		return;
	for (i = 0; i < maps->folder_count; i++)
		free(maps->folders[i]);
	for (i = 0; i < maps->map_count; i++)
		keymap_unref(maps->maps[i]);
	free(maps);
}

/* --- reading */

static const char *
name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int
find_map(void *context, const char *name, struct text *ret_path)
{
	const struct keymaps *maps = context;
	int i = 0;

	for (i = 0; i < maps->folder_count; i++) {
		text_clear(ret_path);
		text_printf(ret_path, "%s/%s", maps->folders[i], name);
		if (access(text_string(ret_path), F_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

static bool
is_hidden(struct keymap *const list[], int count, const char *name)
{
	int i = 0;

	for (i = 0; i < count; i++)
		if (strcmp(name_of(keymap_path(list[i])), name) == 0)
			return true;
	return false;
}

static struct keymap *
find_old(const struct keymaps *maps, const char *path)
{
	int i = 0;

	for (i = 0; i < maps->map_count; i++)
		if (strcmp(keymap_path(maps->maps[i]), path) == 0)
			return maps->maps[i];
	return NULL;
}

/* The map at path into list. 1 when something is wrong with it. */
static int
read_one(struct keymaps *maps, const char *path, struct keymap *list[],
	 int *count)
{
	const struct keymap_rules rules = {
		.find = find_map, .context = maps, .exec = maps->exec};
	struct keymap *map = NULL, *old = find_old(maps, path);
	struct text error = {0};
	const int result = keymap_load(path, &rules, &map, &error);

	if (result == 0) {
		list[(*count)++] = map;
	} else if (old != NULL) {
		log_err(topic, "%s; this map stays as it was",
			text_string(&error));
		list[(*count)++] = keymap_ref(old);
	} else {
		log_err(topic, "%s; this map is left out", text_string(&error));
	}
	text_finish(&error);
	return result < 0;
}

static int
is_map(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name);

	return length > 4 && entry->d_name[0] != '.' &&
	       strcmp(entry->d_name + length - 4, ".map") == 0;
}

static int
read_folder(struct keymaps *maps, const char *folder, struct keymap *list[],
	    int *count)
{
	struct dirent **entries = NULL;
	const int found = scandir(folder, &entries, is_map, alphasort);
	int i = 0, wrong = 0, hidden_by = *count;

	for (i = 0; i < found; i++) {
		const char *name = entries[i]->d_name;
		struct text path = {0};

		text_printf(&path, "%s/%s", folder, name);
		if (*count == KEYMAPS_MAX)
			log_err(topic, "%s is one key map too many (%d)",
				text_string(&path), KEYMAPS_MAX);
		else if (!is_hidden(list, hidden_by, name))
			wrong +=
				read_one(maps, text_string(&path), list, count);
		text_finish(&path);
		free(entries[i]);
	}
	free(entries);
	return wrong;
}

int
keymaps_read(struct keymaps *maps)
{
	struct keymap *list[KEYMAPS_MAX] = {0};
	int i = 0, count = 0, wrong = 0;

	for (i = 0; i < maps->folder_count; i++)
		wrong += read_folder(maps, maps->folders[i], list, &count);
	for (i = 0; i < maps->map_count; i++)
		keymap_unref(maps->maps[i]);
	memcpy(maps->maps, list, sizeof(list[0]) * (size_t)count);
	maps->map_count = count;
	return wrong;
}

/* --- choosing */

struct keymap *
keymaps_default(const struct keymaps *maps)
{
	int i = 0;

	for (i = 0; i < maps->map_count; i++)
		if (strcmp(name_of(keymap_path(maps->maps[i])), default_name) ==
		    0)
			return maps->maps[i];
	return NULL;
}

struct keymap *
keymaps_choose(const struct keymaps *maps,
	       const struct keymap_identity *identity,
	       struct keymap_settings *ret_settings)
{
	struct keymap *last = keymaps_default(maps), *chosen = NULL;
	struct keymap_settings ignored;
	int i = 0;

	for (i = 0; i < maps->map_count; i++) {
		struct keymap *map = maps->maps[i];

		if (map == last)
			continue;
		if (chosen == NULL) {
			if (keymap_claims(map, identity, ret_settings))
				chosen = map;
		} else if (keymap_claims(map, identity, &ignored)) {
			log_warn(topic,
				 "%s is claimed by %s and %s: the first one "
				 "has it",
				 identity->name, keymap_path(chosen),
				 keymap_path(map));
			break;
		}
	}
	if (chosen == NULL && last != NULL &&
	    keymap_claims(last, identity, ret_settings))
		chosen = last;
	return chosen;
}

const char *
keymaps_folder(const struct keymaps *maps, int index)
{
	return index < maps->folder_count ? maps->folders[index] : NULL;
}

const struct keymap *
keymaps_at(const struct keymaps *maps, int index)
{
	return index < maps->map_count ? maps->maps[index] : NULL;
}

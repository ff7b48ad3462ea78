/* SPDX-License-Identifier: GPL-3.0-or-later */
/* places.c - the XDG base directories, the system's, and which of them apply.
 *
 * The XDG rules say that a relative path in one of their variables is to be
 * ignored; so is one in ours. systemd may name several folders with colons
 * between them: the first is ours. */
#include "lib/base/places.h"

#include "lib/base/text.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PASSWD_BYTES = 2048 };

/* The value of a variable that holds an absolute path, or NULL. */
static const char *
absolute_variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] == '/' ? value : NULL;
}

/* value up to the first colon, without trailing slashes. */
static void
add_folder(struct text *text, const char *value)
{
	size_t length = strcspn(value, ":");

	while (length > 1 && value[length - 1] == '/')
		length--;
	text_add_bytes(text, value, length);
}

/* True when folder is below the folder that the variable names. */
static bool
is_below(const char *folder, const char *variable)
{
	const char *parent = absolute_variable(variable);
	const size_t length = parent != NULL ? strlen(parent) : 0;

	return length > 0 && strncmp(folder, parent, length) == 0 &&
	       (folder[length] == '/' || parent[length - 1] == '/');
}

bool
places_are_system(void)
{
	const char *runtime = absolute_variable("RUNTIME_DIRECTORY");
	const char *state = absolute_variable("STATE_DIRECTORY");

	if (getuid() == 0)
		return true;
	if (runtime != NULL)
		return !is_below(runtime, "XDG_RUNTIME_DIR");
	if (state == NULL)
		return false;
	return !is_below(state, "HOME") && !is_below(state, "XDG_STATE_HOME") &&
	       !is_below(state, "XDG_CONFIG_HOME");
}

void
places_add_home(struct text *text)
{
	const char *home = absolute_variable("HOME");
	struct passwd entry, *found = NULL;
	char buffer[PASSWD_BYTES];

	if (home == NULL &&
	    getpwuid_r(getuid(), &entry, buffer, sizeof(buffer), &found) == 0 &&
	    found != NULL && found->pw_dir[0] == '/')
		home = found->pw_dir;
	add_folder(text, home != NULL ? home : "/");
}

void
places_add_config_home(struct text *text)
{
	const char *config = absolute_variable("XDG_CONFIG_HOME");

	if (config != NULL) {
		add_folder(text, config);
		return;
	}
	places_add_home(text);
	text_add(text, "/.config");
}

void
places_add_user_runtime(struct text *text)
{
	const char *runtime = absolute_variable("XDG_RUNTIME_DIR");

	if (runtime == NULL) {
		text_printf(text, "/tmp/rotary-%u", (unsigned)getuid());
		return;
	}
	add_folder(text, runtime);
	text_add(text, "/rotary");
}

void
places_add_system_runtime(struct text *text)
{
	text_add(text, "/run/rotary");
}

void
places_add_runtime(struct text *text)
{
	const char *runtime = absolute_variable("RUNTIME_DIRECTORY");

	if (runtime != NULL)
		add_folder(text, runtime);
	else if (places_are_system())
		places_add_system_runtime(text);
	else
		places_add_user_runtime(text);
}

void
places_add_state(struct text *text)
{
	const char *state = absolute_variable("STATE_DIRECTORY");
	const char *home = absolute_variable("XDG_STATE_HOME");

	if (state != NULL) {
		add_folder(text, state);
	} else if (places_are_system()) {
		text_add(text, "/var/lib/rotary");
	} else if (home != NULL) {
		add_folder(text, home);
		text_add(text, "/rotary");
	} else {
		places_add_home(text);
		text_add(text, "/.local/state/rotary");
	}
}

/* A line of user-dirs.dirs: XDG_MUSIC_DIR="$HOME/Music" or "/Music", in a
 * shell's double quotes. False when it is any other line. */
static bool
add_music_line(struct text *text, const char *line)
{
	static const char name[] = "XDG_MUSIC_DIR=\"";
	const size_t start = text->length;
	bool in_home = 0;

	line += strspn(line, " \t");
	if (strncmp(line, name, sizeof(name) - 1) != 0)
		return false;
	line += sizeof(name) - 1;
	in_home = strncmp(line, "$HOME", 5) == 0;
	line += in_home ? 5 : 0;
	/* The home folder itself means that there is none. */
	if (*line != '/' || line[1] == '"')
		return false;
	if (in_home)
		places_add_home(text);
	for (; *line != '"' && *line != '\0' && *line != '\n'; line++) {
		if (*line == '\\' && line[1] != '\0')
			line++;
		text_add_char(text, *line);
	}
	while (text->length > start + 1 && text->bytes[text->length - 1] == '/')
		text->bytes[--text->length] = '\0';
	return true;
}

static bool
add_user_dirs_music(struct text *text)
{
	struct text path = {0};
	char *line = NULL;
	size_t size = 0;
	bool found = false;
	FILE *file = NULL;

	places_add_config_home(&path);
	text_add(&path, "/user-dirs.dirs");
	file = path.failed ? NULL : fopen(text_string(&path), "re");
	text_finish(&path);
	if (file == NULL)
		return false;
	while (!found && getline(&line, &size, file) >= 0)
		found = add_music_line(text, line);
	free(line);
	fclose(file);
	return found;
}

void
places_add_music(struct text *text)
{
	if (places_are_system()) {
		text_add(text, "/srv/music");
		return;
	}
	if (add_user_dirs_music(text))
		return;
	places_add_home(text);
	text_add(text, "/Music");
}

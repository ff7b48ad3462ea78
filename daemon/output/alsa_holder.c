/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alsa_holder.c - what the kernel tells about its sound cards in /proc/asound:
 * who plays (cardN/pcmNp/subN/status, "owner_pid") and what there is (pcm).
 * No device is opened for it. */
#include "daemon/output/alsa_setup.h"

#include "lib/base/text.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 256 };

/* The number after `name` and a colon, or 0. */
static long
read_number(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	char line[LINE_BYTES];
	long number = 0;

	if (file == NULL)
		return 0;
	while (number == 0 && fgets(line, sizeof(line), file) != NULL) {
		const char *colon = strchr(line, ':');

		if (colon != NULL && strncmp(line, name, strlen(name)) == 0)
			number = strtol(colon + 1, NULL, 10);
	}
	fclose(file);
	return number;
}

/* The owner is a thread; people know its program. */
static void
add_program(const char *proc, long thread, struct text *text)
{
	char path[LINE_BYTES], name[LINE_BYTES] = "";
	FILE *file = NULL;
	long process = 0;

	snprintf(path, sizeof(path), "%s/%ld/status", proc, thread);
	process = read_number(path, "Tgid");
	if (process == 0)
		process = thread;
	snprintf(path, sizeof(path), "%s/%ld/comm", proc, process);
	file = fopen(path, "re");
	if (file != NULL) {
		if (fgets(name, sizeof(name), file) == NULL)
			name[0] = '\0';
		fclose(file);
	}
	name[strcspn(name, "\n")] = '\0';
	if (text->length > 0)
		text_add(text, ", ");
	if (name[0] != '\0')
		text_add_clean(text, name, strlen(name), sizeof(name));
	text_printf(text, "%sprocess %ld", name[0] != '\0' ? " (" : "",
		    process);
	if (name[0] != '\0')
		text_add(text, ")");
}

bool
alsa_holder_add(const char *proc, struct text *text)
{
	char pattern[LINE_BYTES];
	glob_t found;
	bool any = false;

	snprintf(pattern, sizeof(pattern), "%s/asound/card*/pcm*p/sub*/status",
		 proc);
	if (glob(pattern, 0, NULL, &found) != 0)
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const long owner = read_number(found.gl_pathv[i], "owner_pid");

		if (owner == 0)
			continue;
		add_program(proc, owner, text);
		any = true;
	}
	globfree(&found);
	return any;
}

bool
alsa_listed(const char *proc)
{
	char path[LINE_BYTES], line[LINE_BYTES];
	bool found = false;
	FILE *file = NULL;

	snprintf(path, sizeof(path), "%s/asound/pcm", proc);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), file) != NULL)
		found = strstr(line, "playback") != NULL;
	fclose(file);
	return found;
}

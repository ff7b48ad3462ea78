/* SPDX-License-Identifier: GPL-3.0-or-later */
/* doctor_card.c - which sound cards there are, and who plays on them.
 *
 * /proc/asound/cards lists them, two lines each:
 *    0 [PCH            ]: HDA-Intel - HDA Intel PCH
 *                         HDA Intel PCH at 0xf7f30000 irq 31
 * /proc/asound/cardN/pcmMp/subS/status is "closed", or has a line
 * "owner_pid   : 1234" with the thread that opened it. */
#include "lib/base/text.h"
#include "remote/cli/doctor.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 128, PATH_BYTES = 512, PROGRAM_BYTES = 64 };

struct card {
	unsigned number;
	char id[NAME_BYTES];
	char name[NAME_BYTES];
};

/* False: the line is another one. */
static bool
parse_card(const char *line, struct card *card)
{
	if (sscanf(line, " %u [%127[^]]]: %127[^\n]", &card->number, card->id,
		   card->name) != 3)
		return false;
	card->id[strcspn(card->id, " ")] = '\0';
	return true;
}

/* The value of a "name : value" line of a file, or false. */
static bool
find_line(const char *path, const char *name, char *value, size_t room)
{
	FILE *file = fopen(path, "re");
	char line[256];
	bool found = false;
	const char *colon = NULL;

	if (file == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), file) != NULL) {
		colon = strchr(line, ':');
		if (colon == NULL || strncmp(line, name, strlen(name)) != 0)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		snprintf(value, room, "%.*s", (int)strcspn(colon, "\n"), colon);
		found = true;
	}
	fclose(file);
	return found;
}

/* The program that thread belongs to, and its process. */
static void
name_owner(const struct doctor *doctor, const char *thread, char *program,
	   char *process, size_t room)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s/status", doctor->proc, thread);
	if (!find_line(path, "Tgid", process, room))
		snprintf(process, room, "%s", thread);
	snprintf(path, sizeof(path), "%s/%s/status", doctor->proc, process);
	if (!find_line(path, "Name", program, room))
		snprintf(program, room, "a process of another user");
}

static void
say_held(struct doctor *doctor, const struct card *card, const char *thread)
{
	char program[PROGRAM_BYTES], process[PROGRAM_BYTES];

	name_owner(doctor, thread, program, process, PROGRAM_BYTES);
	if (strcmp(program, "rotaryd") == 0)
		doctor_say(doctor, DOCTOR_OK, "card", NULL,
			   "%u %s (%s): played on by rotaryd, process %s",
			   card->number, card->id, card->name, process);
	else
		doctor_say(doctor, DOCTOR_WARN, "card",
			   "end that program; or play through it: device = "
			   "default under [output]",
			   "%u %s (%s): held by %s, process %s", card->number,
			   card->id, card->name, program, process);
}

/* Looks at each way to play on pcm, a "pcmMp" of the card. True: said. */
static bool
check_pcm(struct doctor *doctor, const struct card *card, const char *pcm)
{
	char path[PATH_BYTES], thread[PROGRAM_BYTES];
	int sub = 0;

	for (sub = 0; sub < 64; sub++) {
		snprintf(path, sizeof(path), "%s/asound/card%u/%s/sub%d/status",
			 doctor->proc, card->number, pcm, sub);
		if (access(path, F_OK) < 0)
			return false;
		if (find_line(path, "owner_pid", thread, sizeof(thread))) {
			say_held(doctor, card, thread);
			return true;
		}
	}
	return false;
}

static bool
may_open(const struct doctor *doctor, const struct card *card, const char *pcm)
{
	char path[PATH_BYTES];
	unsigned device = 0;

	if (sscanf(pcm, "pcm%up", &device) != 1)
		return true;
	snprintf(path, sizeof(path), "%s/snd/pcmC%uD%up", doctor->dev,
		 card->number, device);
	return access(path, R_OK | W_OK) == 0;
}

static void
say_free(struct doctor *doctor, const struct card *card, bool allowed)
{
	if (allowed)
		doctor_say(doctor, DOCTOR_OK, "card", NULL, "%u %s (%s): free",
			   card->number, card->id, card->name);
	else
		doctor_say(doctor, DOCTOR_WARN, "card",
			   "if rotaryd runs as this user: \"sudo adduser $USER "
			   "audio\" and log in again",
			   "%u %s (%s): this user may not open it",
			   card->number, card->id, card->name);
}

static bool
is_playback(const char *name)
{
	const size_t length = strlen(name);

	return strncmp(name, "pcm", 3) == 0 && name[length - 1] == 'p';
}

static void
check_card(struct doctor *doctor, const struct card *card)
{
	char path[PATH_BYTES];
	const struct dirent *entry = NULL;
	unsigned playbacks = 0;
	bool allowed = true, said = false;
	DIR *folder = NULL;

	snprintf(path, sizeof(path), "%s/asound/card%u", doctor->proc,
		 card->number);
	folder = opendir(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (!is_playback(entry->d_name))
			continue;
		playbacks++;
		allowed = allowed && may_open(doctor, card, entry->d_name);
		said = check_pcm(doctor, card, entry->d_name) || said;
	}
	if (folder != NULL)
		closedir(folder);
	if (playbacks == 0)
		doctor_say(doctor, DOCTOR_OK, "card", NULL,
			   "%u %s (%s): does not play, only records",
			   card->number, card->id, card->name);
	else if (!said)
		say_free(doctor, card, allowed);
}

void
doctor_check_cards(struct doctor *doctor)
{
	char path[PATH_BYTES], line[256];
	struct card card;
	unsigned count = 0;
	FILE *file = NULL;

	snprintf(path, sizeof(path), "%s/asound/cards", doctor->proc);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (!parse_card(line, &card))
			continue;
		count++;
		check_card(doctor, &card);
	}
	if (file != NULL)
		fclose(file);
	if (count == 0)
		doctor_say(doctor, DOCTOR_WARN, "card",
			   "plug one in, or load its driver; until then "
			   "rotaryd plays, at the right pace, to nobody",
			   "there is no sound card");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* verbs.c - the verbs, and their help. A new verb is one line here, one
 * function, and its paragraph in docs/man/rotary.1. */
#include "remote/cli/verbs.h"

#include "remote/cli/cli.h"

#include <string.h>

static const struct verb verbs[] = {
	{"play", "[POSITION]", 0, 1, true, "play, or go on playing",
	 "POSITION is a song's number in the queue, from 1.", play_run},
	{"pause", "", 0, 0, true, "pause", NULL, pause_run},
	{"toggle", "[OUTPUT...]", 0, -1, true, "pause, or go on",
	 "With the name or number of outputs it switches those on or off.",
	 toggle_run},
	{"stop", "", 0, 0, true, "stop", NULL, stop_run},
	{"next", "", 0, 0, true, "play the next song", NULL, next_run},
	{"prev", "", 0, 0, true, "play the song before", NULL, prev_run},
	{"seek", "TIME", 1, 1, true, "go to a place in the song",
	 "TIME is seconds (90), or minutes and seconds (1:30), from the start\n"
	 "of the song; with + or - in front, from where it is (+10, -1:00).",
	 seek_run},
	{"vol", "[VOLUME]", 0, 1, true, "show or set the volume",
	 "VOLUME is 0 to 100; with + or - in front, a change (+5, -5).",
	 vol_run},
	{"crossfade", "[SECONDS]", 0, 1, true,
	 "show or set how long songs overlap",
	 "The end of a song is heard together with the beginning of the next for\n"
	 "that long; 0 is not at all. Songs that follow each other on an album are\n"
	 "never mixed. It is remembered.",
	 crossfade_run},
	{"add", "URI...", 1, -1, true, "add songs and folders to the queue",
	 "URI is a song or folder of the library, as \"rotary raw lsinfo\"\n"
	 "lists them, or a file on this machine.",
	 add_run},
	{"clear", "", 0, 0, true, "empty the queue", NULL, clear_run},
	{"queue", "", 0, 0, true, "list the queue",
	 "The current song is marked with >.", queue_run},
	{"status", "", 0, 0, true, "what plays, and how", NULL, status_run},
	{"watch", "", 0, 0, true, "follow what plays, until interrupted",
	 "On a terminal one line with a progress bar; else, and with --json,\n"
	 "a line for each change.",
	 watch_run},
	{"outputs", "", 0, 0, true, "list the outputs",
	 "Each with its number, whether it is on, its name, driver and device,\n"
	 "and what it does.",
	 outputs_run},
	{"enable", "OUTPUT...", 1, -1, true, "switch outputs on",
	 "OUTPUT is a name, or a number from 1, as \"rotary outputs\" lists\n"
	 "them. It is remembered.",
	 enable_run},
	{"disable", "OUTPUT...", 1, -1, true, "switch outputs off",
	 "Its card is free for other programs then. When none is on, the music\n"
	 "stands still, and goes on when one is again. It is remembered.",
	 disable_run},
	{"key", "NAME [GESTURE]", 1, 2, true, "press a key of the remote",
	 "NAME is what \"rotary-remote --test\" calls it: OK, VOLUMEUP, 1.\n"
	 "GESTURE is short (the default), press, hold, long, repeat, double or\n"
	 "release. rotary-remote has to run.",
	 key_run},
	{"raw", "COMMAND [ARGUMENT]...", 1, -1, true,
	 "send a command of the protocol and print its answer",
	 "A single word is sent as it is, so it may be a whole line:\n"
	 "rotary raw 'lsinfo \"Miles Davis\"'. Several are quoted one by one.",
	 raw_run},
	{"stats", "", 0, 0, true, "figures of the library and of real time",
	 NULL, stats_run},
	{"doctor", "", 0, 0, false, "find what keeps the sound from being good",
	 "Looks at the sound cards and who holds them, the permission for real\n"
	 "time, locked memory, the configuration, the socket, the music folder\n"
	 "and the files that made the player crash, and says what to do. Works\n"
	 "without a daemon. Ends with 1 when something fails.",
	 doctor_run},
	{"reset", "skips [FILE]...", 1, -1, true,
	 "try files again that made the player crash",
	 "A file that made the player crash twice is passed over until it is\n"
	 "changed. This has all such files tried again, or only those that are\n"
	 "named as \"rotary doctor\" lists them.",
	 reset_run},
	{"help", "[VERB]", 0, 1, false, "show this, or more about a verb", NULL,
	 help_run},
};
enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

const struct verb *
verbs_find(const char *name)
{
	int i = 0;

	for (i = 0; i < (int)VERB_COUNT; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

const struct verb *
verbs_at(int index)
{
	return index < (int)VERB_COUNT ? &verbs[index] : NULL;
}

void
verbs_print_usage(FILE *out)
{
	fputs("Usage: rotary [--socket PATH|HOST[:PORT]] [--json] "
	      "VERB [ARGUMENT]...\n"
	      "\"rotary help\" lists the verbs.\n",
	      out);
}

void
verbs_print_help(FILE *out)
{
	char left[64];
	int i = 0;

	fputs("Usage: rotary [OPTION]... VERB [ARGUMENT]...\n"
	      "Commands a rotaryd, or asks it.\n\n",
	      out);
	for (i = 0; i < (int)VERB_COUNT; i++) {
		snprintf(left, sizeof(left), "%s %s", verbs[i].name,
			 verbs[i].arguments);
		fprintf(out, "  %-26s %s\n", left, verbs[i].summary);
	}
	fputs("\nOptions:\n"
	      "  --socket PATH|HOST[:PORT]  the daemon; else $ROTARY_HOST, else "
	      "the user's\n"
	      "                             socket, else the system's\n"
	      "  --json                     print JSON, for programs\n"
	      "  --help                     show this, or the help of the verb\n"
	      "  --version                  show the version\n"
	      "\nEnds with 0; 1 when the daemon refused; 2 when the command "
	      "line is wrong;\n3 when there is no daemon.\n",
	      out);
}

void
verbs_print_verb(FILE *out, const struct verb *verb)
{
	fprintf(out, "Usage: rotary %s%s%s\n%c%s.\n", verb->name,
		verb->arguments[0] != '\0' ? " " : "", verb->arguments,
		verb->summary[0] - 'a' + 'A', verb->summary + 1);
	if (verb->details != NULL)
		fprintf(out, "%s\n", verb->details);
}

int
help_run(struct cli *cli, int argc, char *const argv[])
{
	const struct verb *verb = NULL;

	if (argc == 0) {
		verbs_print_help(cli->out);
		return CLI_OK;
	}
	verb = verbs_find(argv[0]);
	if (verb == NULL)
		return cli_fail(cli, CLI_USAGE,
				"there is no verb \"%s\"; \"rotary help\" "
				"lists them",
				argv[0]);
	verbs_print_verb(cli->out, verb);
	return CLI_OK;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skips.c - files that the daemon passes over because they made it crash: the
 * doctor's look at them, and the verb reset. */
#include "lib/client/client.h"
#include "remote/cli/cli.h"
#include "remote/cli/doctor.h"
#include "remote/cli/verbs.h"

#include <errno.h>
#include <string.h>

enum { SHOWN_MAX = 20 };

/* The file whose pairs begin at first. */
static void
say_file(struct doctor *doctor, const struct pairs *skips, size_t first)
{
	const char *file = pairs_value(skips, first);
	const char *crashes = pairs_find(skips, first, "crashes");
	const char *skipped = pairs_find(skips, first, "skipped");

	if (skipped != NULL && strcmp(skipped, "1") == 0)
		doctor_say(doctor, DOCTOR_WARN, "crashes",
			   "repair or replace it; \"rotary reset skips\" has "
			   "it tried again as it is",
			   "passed over after %s crashes: %s",
			   crashes != NULL ? crashes : "two", file);
	else
		doctor_say(doctor, DOCTOR_WARN, "crashes", NULL,
			   "made the player crash, and is passed over if it "
			   "does so again: %s",
			   file);
}

void
doctor_check_skips(struct doctor *doctor)
{
	struct pairs skips = {0};
	unsigned files = 0;
	size_t i = 0;

	/* Another daemon of the protocol knows no such command. */
	if (doctor->cli->client == NULL ||
	    cli_ask(doctor->cli, &skips, "skips") < 0) {
		pairs_finish(&skips);
		return;
	}
	for (i = 0; i < skips.count; i++) {
		if (strcmp(pairs_name(&skips, i), "file") != 0)
			continue;
		if (files < SHOWN_MAX)
			say_file(doctor, &skips, i);
		files++;
	}
	if (files > SHOWN_MAX)
		doctor_say(doctor, DOCTOR_WARN, "crashes",
			   "\"rotary raw skips\" lists them all",
			   "and %u more files", files - SHOWN_MAX);
	if (files == 0)
		doctor_say(doctor, DOCTOR_OK, "crashes", NULL,
			   "no file made the player crash");
	pairs_finish(&skips);
}

int
reset_run(struct cli *cli, int argc, char *const argv[])
{
	const char *words[2] = {"resetskips"};
	int code = CLI_OK;
	int i = 0;

	if (strcmp(argv[0], "skips") != 0)
		return cli_fail(cli, CLI_USAGE,
				"there is no \"%s\" to reset, only \"skips\"",
				argv[0]);
	if (argc == 1)
		return cli_explain(cli, cli_ask_words(cli, NULL, words, 1));
	for (i = 1; i < argc && code == CLI_OK; i++) {
		words[1] = argv[i];
		code = cli_explain(cli, cli_ask_words(cli, NULL, words, 2));
	}
	return code;
}

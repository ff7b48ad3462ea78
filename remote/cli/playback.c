/* SPDX-License-Identifier: GPL-3.0-or-later */
/* playback.c - the verbs that command the player. They print nothing when all
 * is well, as the sound tells. */
#include "lib/base/clock.h"
#include "remote/cli/cli.h"
#include "remote/cli/verbs.h"

#include <inttypes.h>
#include <string.h>

static int
command(struct cli *cli, const char *line)
{
	return cli_explain(cli, cli_ask(cli, NULL, line));
}

/* Playing an empty queue is no error for the daemon, but silence. */
static int
check_queue(struct cli *cli)
{
	struct pairs status = {0};
	int code = cli_explain(cli, cli_ask(cli, &status, "status"));

	if (code == CLI_OK &&
	    strcmp(pairs_get(&status, "playlistlength"), "0") == 0)
		code = cli_fail(cli, CLI_REFUSED,
				"the queue is empty: fill it with \"rotary add "
				"URI\" (/ is the whole library)");
	pairs_finish(&status);
	return code;
}

int
play_run(struct cli *cli, int argc, char *const argv[])
{
	char line[64];
	int64_t position = 0;
	int code = 0;

	if (argc == 0) {
		code = command(cli, "play");
		return code != CLI_OK ? code : check_queue(cli);
	}
	if (text_parse_int(argv[0], 1, INT32_MAX, &position) < 0)
		return cli_fail(cli, CLI_USAGE,
				"POSITION is a number from 1, as \"rotary "
				"queue\" shows, not \"%s\"",
				argv[0]);
	snprintf(line, sizeof(line), "play %" PRId64, position - 1);
	return command(cli, line);
}

int
pause_run(struct cli *cli, int argc, char *const argv[])
{
	(void)argc;
	(void)argv;
	return command(cli, "pause 1");
}

/* A stopped player cannot be un-paused. */
int
toggle_run(struct cli *cli, int argc, char *const argv[])
{
	struct pairs status = {0};
	const char *state = NULL;
	int code = CLI_OK;

	if (argc > 0)
		return outputs_toggle(cli, argc, argv);
	code = cli_explain(cli, cli_ask(cli, &status, "status"));
	if (code == CLI_OK) {
		state = pairs_get(&status, "state");
		if (strcmp(state, "play") == 0)
			code = command(cli, "pause 1");
		else
			code = play_run(cli, 0, argv);
	}
	pairs_finish(&status);
	return code;
}

int
stop_run(struct cli *cli, int argc, char *const argv[])
{
	(void)argc;
	(void)argv;
	return command(cli, "stop");
}

int
next_run(struct cli *cli, int argc, char *const argv[])
{
	(void)argc;
	(void)argv;
	return command(cli, "next");
}

int
prev_run(struct cli *cli, int argc, char *const argv[])
{
	(void)argc;
	(void)argv;
	return command(cli, "previous");
}

int
seek_run(struct cli *cli, int argc, char *const argv[])
{
	const char *time = argv[0];
	const bool change = time[0] == '+' || time[0] == '-';
	char line[64];
	int64_t ns = 0;

	(void)argc;
	if (text_parse_time(change ? time + 1 : time, &ns) < 0)
		return cli_fail(cli, CLI_USAGE,
				"TIME is 90, 1:30, +10 or -10, not \"%s\"",
				time);
	snprintf(line, sizeof(line), "seekcur %.*s%" PRId64 ".%03" PRId64,
		 change ? 1 : 0, time, ns / NS_PER_S,
		 ns % NS_PER_S / NS_PER_MS);
	return command(cli, line);
}

static void
show_value(const struct cli *cli, const char *name, const char *value)
{
	if (cli->json)
		fprintf(cli->out, "{\"%s\":", name);
	cli_put(cli->out, value);
	fputs(cli->json ? "}\n" : "\n", cli->out);
}

static int
show_volume(struct cli *cli)
{
	struct pairs status = {0};
	const char *volume = NULL;
	int code = cli_explain(cli, cli_ask(cli, &status, "status"));

	if (code == CLI_OK) {
		volume = pairs_get(&status, "volume");
		if (volume[0] == '\0' || strcmp(volume, "-1") == 0)
			volume = cli->json ? "null" : "not adjustable";
		show_value(cli, "volume", volume);
	}
	pairs_finish(&status);
	return code;
}

/* The daemon says nothing of it when there is none. */
static int
show_crossfade(struct cli *cli)
{
	struct pairs status = {0};
	const char *seconds = NULL;
	int code = cli_explain(cli, cli_ask(cli, &status, "status"));

	if (code == CLI_OK) {
		seconds = pairs_get(&status, "xfade");
		show_value(cli, "xfade", seconds[0] == '\0' ? "0" : seconds);
	}
	pairs_finish(&status);
	return code;
}

int
crossfade_run(struct cli *cli, int argc, char *const argv[])
{
	char line[64];
	int64_t seconds = 0;

	if (argc == 0)
		return show_crossfade(cli);
	if (text_parse_int(argv[0], 0, UINT32_MAX, &seconds) < 0)
		return cli_fail(cli, CLI_USAGE,
				"SECONDS is a whole number, not \"%s\"",
				argv[0]);
	snprintf(line, sizeof(line), "crossfade %" PRId64, seconds);
	return command(cli, line);
}

int
vol_run(struct cli *cli, int argc, char *const argv[])
{
	char line[64];
	int64_t volume = 0;
	bool change = 0;

	if (argc == 0)
		return show_volume(cli);
	change = argv[0][0] == '+' || argv[0][0] == '-';
	if (text_parse_int(argv[0], change ? -100 : 0, 100, &volume) < 0)
		return cli_fail(cli, CLI_USAGE,
				"VOLUME is 0 to 100, or a change as +5 or -5, "
				"not \"%s\"",
				argv[0]);
	snprintf(line, sizeof(line), "%s %" PRId64,
		 change ? "volume" : "setvol", volume);
	return command(cli, line);
}

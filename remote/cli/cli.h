/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cli.h - what the verbs of rotary share: the connection, where to print, and
 * how failures are told.
 *
 * A verb returns an exit code. Everything that came from elsewhere is printed
 * without control characters, since a terminal obeys them.
 * Threads: one. */
#ifndef ROTARY_CLI_CLI_H
#define ROTARY_CLI_CLI_H

#include "lib/base/attr.h"
#include "remote/cli/pairs.h"

#include <stdbool.h>
#include <stdio.h>

struct client;

enum cli_exit {
	CLI_OK = 0,
	CLI_REFUSED = 1,   /* the daemon, or the doctor, says no */
	CLI_USAGE = 2,     /* the command line is wrong */
	CLI_NO_DAEMON = 3, /* there is none, or it went away */
};

struct cli {
	const char *where;     /* --socket, or NULL */
	bool json;             /* --json */
	struct client *client; /* for verbs that need one */
	FILE *out;
	FILE *err;
};

/* Runs a whole command line, program name at 0. */
int cli_main(int argc, char *const argv[], FILE *out, FILE *err);

/* "rotary: ..." on err; returns code. */
int cli_fail(const struct cli *cli, int code, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* The same for what the client said about result, -errno; CLI_OK for 0. */
int cli_explain(const struct cli *cli, int result);

/* Sends a request and reads the whole answer, into pairs when there is one. 0
 * or -errno as the client gives it. */
NODISCARD int cli_ask(struct cli *cli, struct pairs *pairs, const char *line);
NODISCARD int cli_ask_words(struct cli *cli, struct pairs *pairs,
			    const char *const words[], size_t count);

/* string without control characters, as valid UTF-8. */
void cli_put(FILE *out, const char *string);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cli.c - the command line of rotary, up to its verb, and what verbs share. */
#include "remote/cli/cli.h"

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/client/client.h"
#include "remote/cli/verbs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const int64_t patience_ns = 10 * NS_PER_S;

void
cli_put(FILE *out, const char *string)
{
	struct text clean = {0};

	text_add_clean(&clean, string, strlen(string), SIZE_MAX);
	fputs(text_string(&clean), out);
	text_finish(&clean);
}

int
cli_fail(const struct cli *cli, int code, const char *format, ...)
{
	char message[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	fflush(cli->out);
	fputs("rotary: ", cli->err);
	cli_put(cli->err, message);
	fputc('\n', cli->err);
	return code;
}

int
cli_explain(const struct cli *cli, int result)
{
	if (result == 0)
		return CLI_OK;
	if (result == -EPROTO)
		return cli_fail(cli, CLI_REFUSED, "the daemon refuses: %s",
				client_error(cli->client));
	if (result == -ENOMEM)
		return cli_fail(cli, CLI_REFUSED, "out of memory");
	return cli_fail(cli, result == -EINVAL ? CLI_USAGE : CLI_NO_DAEMON,
			"%s", client_error(cli->client));
}

static int
read_answer(struct cli *cli, struct pairs *pairs)
{
	if (pairs == NULL)
		return client_finish(cli->client);
	return pairs_read(pairs, cli->client);
}

int
cli_ask(struct cli *cli, struct pairs *pairs, const char *line)
{
	const int result = client_send_line(cli->client, line);

	return result < 0 ? result : read_answer(cli, pairs);
}

int
cli_ask_words(struct cli *cli, struct pairs *pairs, const char *const words[],
	      size_t count)
{
	const int result = client_send(cli->client, words, count);

	return result < 0 ? result : read_answer(cli, pairs);
}

struct line {
	const char *verb;
	bool help;
	bool version;
	bool verbatim; /* after "--" */
	char **arguments;
	int count;
};

/* One argument that begins with "--", or "-h". Returns how many were used, 0:
 * it is none of ours, or -CLI_USAGE. */
static int
take_option(struct cli *cli, struct line *line, const char *option,
	    const char *next)
{
	if (strcmp(option, "--json") == 0) {
		cli->json = true;
	} else if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
		line->help = true;
	} else if (strcmp(option, "--version") == 0) {
		line->version = true;
	} else if (strcmp(option, "--") == 0) {
		line->verbatim = true;
	} else if (strncmp(option, "--socket=", 9) == 0) {
		cli->where = option + 9;
	} else if (strcmp(option, "--socket") == 0) {
		if (next == NULL)
			return -cli_fail(
				cli, CLI_USAGE,
				"--socket needs a PATH or HOST[:PORT]");
		cli->where = next;
		return 2;
	} else {
		return 0;
	}
	return 1;
}

/* Options stand before or after the verb, until "--". A single dash is no
 * option, but a change: seek -10. */
static int
parse_line(struct cli *cli, int argc, char *const argv[], struct line *line)
{
	int i = 1, used = 0;

	while (i < argc) {
		used = 0;
		if (!line->verbatim)
			used = take_option(cli, line, argv[i],
					   i + 1 < argc ? argv[i + 1] : NULL);
		if (used < 0)
			return -used;
		if (used == 0 && !line->verbatim &&
		    strncmp(argv[i], "--", 2) == 0)
			return cli_fail(cli, CLI_USAGE,
					"%s is no option; \"rotary help\" "
					"lists them",
					argv[i]);
		if (used == 0 && line->verb == NULL)
			line->verb = argv[i];
		else if (used == 0)
			line->arguments[line->count++] = argv[i];
		i += used > 0 ? used : 1;
	}
	return CLI_OK;
}

static int
run_verb(struct cli *cli, const struct verb *verb, const struct line *line)
{
	struct text error = {0};
	int code = 0;

	if (line->count < verb->min_arguments ||
	    (verb->max_arguments >= 0 && line->count > verb->max_arguments))
		return cli_fail(cli, CLI_USAGE,
				"usage: rotary %s %s; \"rotary help %s\" tells "
				"more",
				verb->name, verb->arguments, verb->name);
	if (verb->needs_daemon &&
	    client_connect(cli->where, patience_ns, &cli->client, &error) < 0) {
		cli_fail(cli, CLI_NO_DAEMON, "%s", text_string(&error));
		text_finish(&error);
		return CLI_NO_DAEMON;
	}
	code = verb->run(cli, line->count, line->arguments);
	client_close(cli->client);
	cli->client = NULL;
	text_finish(&error);
	return code;
}

static int
run_line(struct cli *cli, const struct line *line)
{
	const struct verb *verb =
		line->verb != NULL ? verbs_find(line->verb) : NULL;

	if (line->version) {
		fprintf(cli->out, "rotary %s\n", ROTARY_VERSION);
		return CLI_OK;
	}
	if (line->help && verb == NULL && line->verb == NULL) {
		verbs_print_help(cli->out);
		return CLI_OK;
	}
	if (line->verb == NULL) {
		verbs_print_usage(cli->err);
		return CLI_USAGE;
	}
	if (verb == NULL)
		return cli_fail(cli, CLI_USAGE,
				"there is no verb \"%s\"; \"rotary help\" "
				"lists them",
				line->verb);
	if (line->help) {
		verbs_print_verb(cli->out, verb);
		return CLI_OK;
	}
	return run_verb(cli, verb, line);
}

int
cli_main(int argc, char *const argv[], FILE *out, FILE *err)
{
	struct cli cli = {.out = out, .err = err};
	struct line line = {0};
	int code = 0;

	line.arguments = calloc((size_t)argc + 1, sizeof(*line.arguments));
	if (line.arguments == NULL)
		return cli_fail(&cli, CLI_REFUSED, "out of memory");
	code = parse_line(&cli, argc, argv, &line);
	if (code == CLI_OK)
		code = run_line(&cli, &line);
	free(line.arguments);
	if (fflush(out) != 0 && code == CLI_OK)
		code = cli_fail(&cli, CLI_REFUSED, "cannot write: %s",
				text_of_error(errno));
	return code;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queue.c - the verbs that fill, empty and list the queue. */
#include "lib/base/clock.h"
#include "lib/client/client.h"
#include "remote/cli/cli.h"
#include "remote/cli/song.h"
#include "remote/cli/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ACK_NO_EXIST = 50 };

static int
send_add(struct cli *cli, const char *uri)
{
	const char *const words[] = {"add", uri};

	return cli_ask_words(cli, NULL, words, 2);
}

static int
refuse(struct cli *cli, const char *uri)
{
	return cli_fail(cli, CLI_REFUSED, "the daemon refuses \"%s\": %s", uri,
			client_error(cli->client));
}

/* A name that the library does not know may be a file here, which the daemon
 * takes by its absolute path from a local client. */
static int
add_one(struct cli *cli, const char *uri)
{
	int result = send_add(cli, uri);
	char *path = NULL;

	if (result != -EPROTO)
		return cli_explain(cli, result);
	if (client_ack_code(cli->client) != ACK_NO_EXIST)
		return refuse(cli, uri);
	path = uri[0] != '/' && strstr(uri, "://") == NULL ? realpath(uri, NULL)
							   : NULL;
	if (path == NULL)
		return cli_fail(cli, CLI_REFUSED,
				"\"%s\" is neither in the library nor a file "
				"here; \"rotary raw lsinfo\" lists the library",
				uri);
	result = send_add(cli, path);
	free(path);
	return result == -EPROTO ? refuse(cli, uri) : cli_explain(cli, result);
}

/* Each is tried; the first failure is the exit code. */
int
add_run(struct cli *cli, int argc, char *const argv[])
{
	int i = 0, code = 0, first = CLI_OK;

	for (i = 0; i < argc; i++) {
		code = add_one(cli, argv[i]);
		if (code == CLI_NO_DAEMON)
			return code;
		if (first == CLI_OK)
			first = code;
	}
	return first;
}

int
clear_run(struct cli *cli, int argc, char *const argv[])
{
	(void)argc;
	(void)argv;
	return cli_explain(cli, cli_ask(cli, NULL, "clear"));
}

static void
print_json(struct cli *cli, const struct pairs *songs)
{
	struct text text = {0};
	size_t from = 0, end = 0;

	fputc('[', cli->out);
	for (from = 0; from < songs->count; from = end) {
		end = pairs_next(songs, from, "file");
		text_clear(&text);
		pairs_add_json(songs, from, end, &text);
		fprintf(cli->out, "%s%s", from > 0 ? ",\n" : "",
			text_string(&text));
	}
	fputs("]\n", cli->out);
	text_finish(&text);
}

static void
add_duration(const struct pairs *songs, size_t from, size_t end,
	     struct text *text)
{
	double seconds = 0;
	size_t i = 0;

	for (i = from; i < end; i++) {
		if (strcmp(pairs_name(songs, i), "duration") != 0 ||
		    text_parse_double(pairs_value(songs, i), &seconds) < 0)
			continue;
		text_add(text, "  ");
		text_add_time(text, (int64_t)(seconds * (double)NS_PER_S));
		return;
	}
}

/* current: the number of the song that is played, or -1. */
static void
print_lines(struct cli *cli, const struct pairs *songs, int64_t current)
{
	struct text text = {0};
	int64_t number = 0;
	size_t from = 0, end = 0;

	for (from = 0; from < songs->count; from = end) {
		end = pairs_next(songs, from, "file");
		text_clear(&text);
		text_printf(&text, "%s%5lld  ", number == current ? ">" : " ",
			    (long long)number + 1);
		song_add_title(songs, from, end, &text);
		add_duration(songs, from, end, &text);
		fprintf(cli->out, "%s\n", text_string(&text));
		number++;
	}
	text_finish(&text);
	if (number == 0)
		fputs("the queue is empty: fill it with \"rotary add URI\"\n",
		      cli->err);
}

int
queue_run(struct cli *cli, int argc, char *const argv[])
{
	struct pairs status = {0}, songs = {0};
	int64_t current = -1;
	int result = cli_ask(cli, &status, "status");

	(void)argc;
	(void)argv;
	if (result == 0)
		result = cli_ask(cli, &songs, "playlistinfo");
	if (result == 0 && text_parse_int(pairs_get(&status, "song"), 0,
					  INT32_MAX, &current) < 0)
		current = -1;
	if (result == 0 && cli->json)
		print_json(cli, &songs);
	else if (result == 0)
		print_lines(cli, &songs, current);
	pairs_finish(&songs);
	pairs_finish(&status);
	return cli_explain(cli, result);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* raw.c - the verbs raw and stats: the protocol as it is, and figures. */
#include "lib/client/client.h"
#include "remote/cli/cli.h"
#include "remote/cli/verbs.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

/* For a command that waits, such as idle: as long as it likes. */
static void
wait_for_answer(struct cli *cli)
{
	struct pollfd ready = {.fd = client_fd(cli->client), .events = POLLIN};

	while (poll(&ready, 1, -1) < 0 && errno == EINTR)
		;
}

static void
print_pair(struct cli *cli, const char *name, const char *value)
{
	cli_put(cli->out, name);
	fputs(": ", cli->out);
	cli_put(cli->out, value);
	fputc('\n', cli->out);
}

static int
print_answer(struct cli *cli)
{
	const char *name = NULL, *value = NULL;
	int result = 0;

	while ((result = client_read_pair(cli->client, &name, &value)) > 0) {
		print_pair(cli, name, value);
		if (strcmp(name, "binary") == 0 && strcmp(value, "0") != 0)
			return cli_fail(cli, CLI_USAGE,
					"the answer is no text and is not "
					"shown");
	}
	return cli_explain(cli, result);
}

/* [["name","value"],...]: what belongs together, only the command knows. */
static void
print_pairs_json(struct cli *cli, const struct pairs *pairs)
{
	struct text text = {0};
	size_t i = 0;

	text_add_char(&text, '[');
	for (i = 0; i < pairs->count; i++) {
		text_add(&text, i > 0 ? ",[" : "[");
		text_add_json(&text, pairs_name(pairs, i));
		text_add_char(&text, ',');
		text_add_json(&text, pairs_value(pairs, i));
		text_add_char(&text, ']');
	}
	fprintf(cli->out, "%s]\n", text_string(&text));
	text_finish(&text);
}

int
raw_run(struct cli *cli, int argc, char *const argv[])
{
	struct pairs pairs = {0};
	int result = 0;

	if (argc == 1)
		result = client_send_line(cli->client, argv[0]);
	else
		result = client_send(cli->client, (const char *const *)argv,
				     (size_t)argc);
	if (result < 0)
		return cli_explain(cli, result);
	wait_for_answer(cli);
	if (!cli->json)
		return print_answer(cli);
	result = pairs_read(&pairs, cli->client);
	if (result == 0)
		print_pairs_json(cli, &pairs);
	pairs_finish(&pairs);
	return cli_explain(cli, result);
}

/* What stands before the first thread belongs to all; then one object for
 * each thread. */
static void
print_stats_json(struct cli *cli, const struct pairs *library,
		 const struct pairs *realtime)
{
	struct text text = {0};
	const char *comma = "";
	size_t from = 0, end = 0;

	text_add(&text, "{\"library\":");
	pairs_add_json(library, 0, library->count, &text);
	if (realtime->count > 0 &&
	    strcmp(pairs_name(realtime, 0), "thread") != 0)
		from = pairs_next(realtime, 0, "thread");
	text_add(&text, ",\"realtime\":");
	pairs_add_json(realtime, 0, from, &text);
	text_add(&text, ",\"threads\":[");
	for (; from < realtime->count; from = end) {
		end = pairs_next(realtime, from, "thread");
		text_add(&text, comma);
		pairs_add_json(realtime, from, end, &text);
		comma = ",";
	}
	fprintf(cli->out, "%s]}\n", text_string(&text));
	text_finish(&text);
}

static void
print_stats(struct cli *cli, const struct pairs *library,
	    const struct pairs *realtime)
{
	size_t i = 0;

	for (i = 0; i < library->count; i++)
		print_pair(cli, pairs_name(library, i),
			   pairs_value(library, i));
	for (i = 0; i < realtime->count; i++) {
		if (strcmp(pairs_name(realtime, i), "thread") == 0)
			fputc('\n', cli->out);
		print_pair(cli, pairs_name(realtime, i),
			   pairs_value(realtime, i));
	}
}

int
stats_run(struct cli *cli, int argc, char *const argv[])
{
	enum { ACK_UNKNOWN = 5 };
	struct pairs library = {0}, realtime = {0};
	int result = cli_ask(cli, &library, "stats");

	(void)argc;
	(void)argv;
	if (result == 0)
		result = cli_ask(cli, &realtime, "rtstats");
	/* Another server of this protocol has no such figures. */
	if (result == -EPROTO && client_ack_code(cli->client) == ACK_UNKNOWN)
		result = 0;
	if (result == 0 && cli->json)
		print_stats_json(cli, &library, &realtime);
	else if (result == 0)
		print_stats(cli, &library, &realtime);
	pairs_finish(&realtime);
	pairs_finish(&library);
	return cli_explain(cli, result);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* key.c - the verb key: a key of the remote, pressed from the shell. It goes
 * through the daemon's channel "remote", to which rotary-remote listens. */
#include "lib/client/client.h"
#include "remote/cli/cli.h"
#include "remote/cli/verbs.h"

#include <errno.h>
#include <string.h>

static bool
is_word(const char *word)
{
	return word[0] != '\0' &&
	       word[strspn(word, "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] ==
		       '\0';
}

int
key_run(struct cli *cli, int argc, char *const argv[])
{
	enum { ACK_NO_EXIST = 50 };
	const char *words[3] = {"sendmessage", "remote", NULL};
	struct text message = {0};
	int i = 0, result = 0;

	text_add(&message, "key");
	for (i = 0; i < argc; i++) {
		if (!is_word(argv[i])) {
			text_finish(&message);
			return cli_fail(cli, CLI_USAGE, "%s is no name",
					argv[i]);
		}
		text_printf(&message, " %s", argv[i]);
	}
	words[2] = text_string(&message);
	result = cli_ask_words(cli, NULL, words, 3);
	text_finish(&message);
	if (result == -EPROTO && client_ack_code(cli->client) == ACK_NO_EXIST)
		return cli_fail(cli, CLI_REFUSED,
				"no rotary-remote is connected to the daemon: "
				"start it");
	return cli_explain(cli, result);
}

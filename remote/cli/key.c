/* SPDX-License-Identifier: GPL-3.0-or-later */
/* key.c - the verb key: a key of the remote, pressed from the shell. It goes
 * through the daemon's channel "remote", to which rotary-remote listens. */
#include "lib/client/client.h"
#include "remote/cli/cli.h"
#include "remote/cli/key_names.h"
#include "remote/cli/verbs.h"

#include <errno.h>
#include <string.h>

static const char gestures[] =
	"short, press, hold, long, repeat, double or release";

static bool
is_gesture(const char *word)
{
	const size_t length = strlen(word);
	const char *found = strstr(gestures, word);

	return length > 2 && found != NULL &&
	       (found == gestures || found[-1] == ' ') &&
	       (found[length] == ',' || found[length] == ' ' ||
		found[length] == '\0') &&
	       strcmp(word, "or") != 0;
}

static int
refuse_name(struct cli *cli, const char *name)
{
	const char *nearest = key_names_nearest(name);

	if (nearest != NULL)
		return cli_fail(cli, CLI_USAGE, "there is no key %s; is it %s?",
				name, nearest);
	return cli_fail(cli, CLI_USAGE,
			"there is no key %s: press it while rotary-remote "
			"--test runs to see its name",
			name);
}

int
key_run(struct cli *cli, int argc, char *const argv[])
{
	enum { ACK_NO_EXIST = 50 };
	const char *words[3] = {"sendmessage", "remote", NULL};
	struct text message = {0};
	int i = 0, result = 0;

	if (!key_names_has(argv[0]))
		return refuse_name(cli, argv[0]);
	if (argc > 1 && !is_gesture(argv[1]))
		return cli_fail(cli, CLI_USAGE, "%s is not %s", argv[1],
				gestures);
	text_add(&message, "key");
	for (i = 0; i < argc; i++)
		text_printf(&message, " %s", argv[i]);
	words[2] = text_string(&message);
	result = cli_ask_words(cli, NULL, words, 3);
	text_finish(&message);
	if (result == -EPROTO && client_ack_code(cli->client) == ACK_NO_EXIST)
		return cli_fail(cli, CLI_REFUSED,
				"no rotary-remote is connected to the daemon: "
				"start it");
	return cli_explain(cli, result);
}

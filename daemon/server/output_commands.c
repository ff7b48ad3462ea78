/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_commands.c - the outputs, and what the real-time side says of itself.
 *
 * There is one output, number 0, and it is always on: to be silent is what stop
 * and pause are for. So enabling it is done, and disabling it is refused. */
#include "daemon/server/groups.h"

#include "daemon/engine/engine.h"
#include "daemon/server/args.h"
#include "daemon/server/reply.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"

#include <string.h>

static bool
arg_output(struct session *session, const struct request *request)
{
	uint32_t id = 0;

	if (!arg_unsigned(session, request->args[0], INT32_MAX, &id))
		return false;
	if (id > 0 || session->server->links.engine == NULL) {
		session_ack(session, ACK_NO_EXIST, "No such audio output");
		return false;
	}
	return true;
}

enum command_result
output_enable(struct session *session, const struct request *request)
{
	return arg_output(session, request) ? COMMAND_OK : COMMAND_ERROR;
}

enum command_result
output_disable(struct session *session, const struct request *request)
{
	if (!arg_output(session, request))
		return COMMAND_ERROR;
	return session_ack(session, ACK_PERMISSION,
			   "The only output cannot be disabled");
}

enum command_result
output_toggle(struct session *session, const struct request *request)
{
	return output_disable(session, request);
}

enum command_result
output_outputs(struct session *session, const struct request *request)
{
	const struct engine *engine = session->server->links.engine;
	struct text *out = &session->out;
	struct engine_output output;

	(void)request;
	if (engine == NULL)
		return COMMAND_OK;
	engine_output(engine, &output);
	reply_int(out, "outputid", 0);
	/* One name, whether a card is open or not: clients remember it. */
	reply_add(out, "outputname", output.driver);
	reply_add(out, "plugin", output.driver);
	reply_int(out, "outputenabled", 1);
	return COMMAND_OK;
}

/* Line by line: a card's name is not ours. */
static void
add_clean_lines(struct text *out, const char *lines)
{
	while (*lines != '\0') {
		const size_t length = strcspn(lines, "\n");

		text_add_clean(out, lines, length, REPLY_LINE_MAX - 1);
		text_add_char(out, '\n');
		lines += length + (lines[length] == '\n');
	}
}

enum command_result
output_rtstats(struct session *session, const struct request *request)
{
	struct text lines = {0};
	bool failed = false;

	(void)request;
	if (session->server->links.engine == NULL)
		return COMMAND_OK;
	engine_add_rtstats(session->server->links.engine, &lines);
	failed = lines.failed;
	if (!failed)
		add_clean_lines(&session->out, text_string(&lines));
	text_finish(&lines);
	return failed ? session_no_memory(session) : COMMAND_OK;
}

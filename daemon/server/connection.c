/* SPDX-License-Identifier: GPL-3.0-or-later */
/* connection.c - commands about the connection and about what this server can
 * do. */
#include "daemon/server/groups.h"

#include "daemon/decode/decoder.h"
#include "daemon/server/args.h"
#include "daemon/server/reply.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"
#include "lib/base/log.h"

#include <string.h>
#include <systemd/sd-event.h>

enum { BINARY_LIMIT_MIN = 64, BINARY_LIMIT_MAX = 1024 * 1024 };

enum command_result
connection_ping(struct session *session, const struct request *request)
{
	(void)session;
	(void)request;
	return COMMAND_OK;
}

enum command_result
connection_close(struct session *session, const struct request *request)
{
	(void)session;
	(void)request;
	return COMMAND_CLOSE;
}

enum command_result
connection_kill(struct session *session, const struct request *request)
{
	(void)request;
	log_info("server", "a client asked for the end");
	if (sd_event_exit(session->server->links.loop, 0) < 0)
		return session_ack(session, ACK_SYSTEM, "cannot end");
	return COMMAND_CLOSE;
}

static void
list_commands(struct session *session, bool allowed)
{
	const struct command_table *table = session->server->table;
	size_t i = 0;

	for (i = 0; i < table->count; i++) {
		const struct command *command = &table->commands[i];
		const bool may =
			(command->permission & ~session->permission) == 0;

		if (may == allowed)
			reply_add(&session->out, "command", command->name);
	}
}

enum command_result
connection_commands(struct session *session, const struct request *request)
{
	(void)request;
	list_commands(session, true);
	return COMMAND_OK;
}

enum command_result
connection_notcommands(struct session *session, const struct request *request)
{
	(void)request;
	list_commands(session, false);
	return COMMAND_OK;
}

enum command_result
connection_urlhandlers(struct session *session, const struct request *request)
{
	(void)request;
	if (session_is_local(session))
		reply_add(&session->out, "handler", "file://");
	return COMMAND_OK;
}

enum command_result
connection_decoders(struct session *session, const struct request *request)
{
	const struct decoder_ops *const *decoder = NULL;
	const char *const *word = NULL;
	struct text *out = &session->out;

	(void)request;
	for (decoder = decoder_registry; *decoder != NULL; decoder++) {
		reply_add(out, "plugin", (*decoder)->name);
		for (word = (*decoder)->suffixes; *word != NULL; word++)
			reply_add(out, "suffix", *word);
		for (word = (*decoder)->mime_types; *word != NULL; word++)
			reply_add(out, "mime_type", *word);
	}
	return COMMAND_OK;
}

enum command_result
connection_config(struct session *session, const struct request *request)
{
	(void)request;
	reply_add(&session->out, "music_directory",
		  session->server->music.folder);
	return COMMAND_OK;
}

enum command_result
connection_binarylimit(struct session *session, const struct request *request)
{
	uint32_t limit = 0;

	if (!arg_unsigned(session, request->args[0], INT32_MAX, &limit))
		return COMMAND_ERROR;
	if (limit < BINARY_LIMIT_MIN)
		return session_ack(session, ACK_ARGUMENT, "Value too small");
	if (limit > BINARY_LIMIT_MAX)
		limit = BINARY_LIMIT_MAX;
	session->binary_limit = limit;
	return COMMAND_OK;
}

enum command_result
connection_listpartitions(struct session *session,
			  const struct request *request)
{
	(void)request;
	reply_add(&session->out, "partition", "default");
	return COMMAND_OK;
}

enum command_result
connection_partition(struct session *session, const struct request *request)
{
	if (strcmp(request->args[0], "default") != 0)
		return session_ack(session, ACK_NO_EXIST,
				   "partition does not exist");
	return COMMAND_OK;
}

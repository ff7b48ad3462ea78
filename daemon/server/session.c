/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.c - what a connection does with its lines: commands, lists, idle.
 *
 * At any time a session does one of these, tried in this order by a step: its
 * task, the next command of its running list, a report to its idling client,
 * the next line of its input. So answers come in the order of the requests,
 * whatever has to wait for a worker.
 *
 * A list is only collected until its end has come; then its commands run one a
 * step. The first ACK ends it; what was done before stays done.
 * Invariants: list_running implies list_mode != LIST_NONE and no input line is
 * taken; task != NULL implies that command names it; idling implies neither. */
#include "daemon/server/session.h"

#include "daemon/server/reply.h"
#include "daemon/server/server_core.h"
#include "lib/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ACK_TEXT_MAX = 1024 };

/* Whether the line's first word is word. */
static bool
begins_with_word(const char *bytes, const char *word)
{
	const size_t length = strlen(word);

	return strncmp(bytes, word, length) == 0 &&
	       (bytes[length] == '\0' ||
		(bytes[length] > 0 && bytes[length] <= ' '));
}

static void
write_ack(struct session *session, enum ack code, const char *format,
	  va_list arguments)
{
	struct text *out = &session->out;
	char message[ACK_TEXT_MAX];

	vsnprintf(message, sizeof(message), format, arguments);
	text_printf(out, "ACK [%d@%u] {%s} ", (int)code, session->list_index,
		    session->command);
	text_add_clean(out, message, strlen(message), ACK_TEXT_MAX);
	text_add_char(out, '\n');
}

enum command_result
session_ack(struct session *session, enum ack code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_ack(session, code, format, arguments);
	va_end(arguments);
	return COMMAND_ERROR;
}

enum task_result
session_task_ack(struct session *session, enum ack code, const char *format,
		 ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_ack(session, code, format, arguments);
	va_end(arguments);
	return TASK_ERROR;
}

enum command_result
session_no_memory(struct session *session)
{
	return session_ack(session, ACK_SYSTEM, "Out of memory");
}

enum command_result
session_start(struct session *session, struct task *task)
{
	if (task == NULL)
		return session_no_memory(session);
	session->task = task;
	session->task_ready = true;
	return COMMAND_TASK;
}

bool
session_step_full(const struct session *session, size_t before)
{
	return session->out.length - before >= TASK_STEP_BYTES;
}

bool
session_is_local(const struct session *session)
{
	return (session->permission & PERMISSION_LOCAL) != 0;
}

void
session_end_list(struct session *session)
{
	session->server->list_bytes -= session->list.length;
	text_finish(&session->list);
	session->list = (struct text){0};
	session->list_mode = LIST_NONE;
	session->list_running = false;
	session->list_at = 0;
	session->list_index = 0;
}

static void
finish_list_command(struct session *session)
{
	if (session->list_mode == LIST_OK)
		text_add(&session->out, "list_OK\n");
	session->list_index++;
	if (session->list_at < session->list.length)
		return;
	text_add(&session->out, "OK\n");
	session_end_list(session);
}

void
session_finish_command(struct session *session, enum command_result result)
{
	if (result == COMMAND_TASK)
		return;
	session->command = "";
	switch (result) {
	case COMMAND_OK:
		if (session->list_running)
			finish_list_command(session);
		else
			text_add(&session->out, "OK\n");
		break;
	case COMMAND_ERROR:
		if (session->list_running)
			session_end_list(session);
		break;
	case COMMAND_CLOSE:
		session->closing = true;
		break;
	case COMMAND_IDLE:
	case COMMAND_TASK:
		break;
	}
}

/* The command of a line, when this client may call it so; NULL: ACK written. */
static const struct command *
check_line(struct session *session, const struct line *line)
{
	const struct command *command =
		command_find(session->server->table, line->word);
	const int count = (int)line->arg_count;

	if (command == NULL) {
		session_ack(session, ACK_UNKNOWN, "unknown command \"%s\"",
			    line->word);
		return NULL;
	}
	session->command = command->name;
	if ((command->permission & ~session->permission) != 0)
		session_ack(session, ACK_PERMISSION,
			    "you don't have permission for \"%s\"",
			    command->name);
	else if (command->min == command->max && count != command->min)
		session_ack(session, ACK_ARGUMENT,
			    "wrong number of arguments for \"%s\"",
			    command->name);
	else if (count < command->min)
		session_ack(session, ACK_ARGUMENT,
			    "too few arguments for \"%s\"", command->name);
	else if (command->max >= 0 && count > command->max)
		session_ack(session, ACK_ARGUMENT,
			    "too many arguments for \"%s\"", command->name);
	else
		return command;
	return NULL;
}

void
session_execute(struct session *session, char *bytes)
{
	enum command_result result = COMMAND_ERROR;
	const struct command *command = NULL;
	struct line line;
	const char *error = "";

	session->command = "";
	switch (line_split(bytes, &line, &error)) {
	case LINE_OK:
		command = check_line(session, &line);
		if (command != NULL) {
			const struct request request = {line.arg_count,
							line.args};

			result = command->handle(session, &request);
		}
		break;
	case LINE_NOT_OURS:
		session_ack(session, ACK_UNKNOWN, "%s", error);
		result = COMMAND_CLOSE;
		break;
	case LINE_BAD:
		session_ack(session, ACK_UNKNOWN, "%s", error);
		break;
	case LINE_TOO_MANY:
		session_ack(session, ACK_ARGUMENT, "%s", error);
		break;
	}
	session_finish_command(session, result);
}

static void
begin_list(struct session *session, enum list_mode mode)
{
	session->list_mode = mode;
	session->list_running = false;
	session->list_at = 0;
	session->list_index = 0;
}

static void
collect_line(struct session *session, const char *bytes)
{
	struct server *server = session->server;
	const size_t length = strlen(bytes) + 1;

	if (strcmp(bytes, "command_list_end") == 0) {
		session->list_running = true;
		if (session->list.length == 0) {
			text_add(&session->out, "OK\n");
			session_end_list(session);
		}
		return;
	}
	if (begins_with_word(bytes, "idle") ||
	    begins_with_word(bytes, "noidle")) {
		session->closing = true;
		return;
	}
	if (session->list.length + length > SESSION_LIST_MAX ||
	    server->list_bytes + length > SESSION_LISTS_MAX) {
		log_warn("server", "a client's command list is too long: "
				   "its connection is closed");
		session->closing = true;
		return;
	}
	text_add_bytes(&session->list, bytes, length);
	if (session->list.failed)
		session->dead = true;
	else
		server->list_bytes += length;
}

void
session_take_line(struct session *session, char *bytes)
{
	line_strip(bytes);
	if (*bytes < 'a' || *bytes > 'z') {
		session->closing = true;
	} else if (session->list_mode != LIST_NONE) {
		collect_line(session, bytes);
	} else if (strcmp(bytes, "noidle") == 0) {
		if (session->idling)
			text_add(&session->out, "OK\n");
		session->idling = false;
	} else if (session->idling) {
		session->closing = true;
	} else if (strcmp(bytes, "command_list_begin") == 0) {
		begin_list(session, LIST_PLAIN);
	} else if (strcmp(bytes, "command_list_ok_begin") == 0) {
		begin_list(session, LIST_OK);
	} else {
		session_execute(session, bytes);
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_session.c - a whole connection with a table of its own: whatever a
 * client sends, in whatever pieces, the answer is made of clean lines of the
 * protocol, and nothing of the client is left when it has gone. */
#include "daemon/server/idle.h"
#include "daemon/server/reply.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"
#include "tests/unit/server/paper_engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(int condition)
{
	if (!condition)
		abort();
}

static enum command_result
do_ok(struct session *session, const struct request *request)
{
	size_t i;

	for (i = 0; i < request->count; i++)
		reply_add(&session->out, "argument", request->args[i]);
	return COMMAND_OK;
}

static enum command_result
do_error(struct session *session, const struct request *request)
{
	return session_ack(session, ACK_ARGUMENT, "no: %s", request->args[0]);
}

static enum command_result
do_close(struct session *session, const struct request *request)
{
	(void)session;
	(void)request;
	return COMMAND_CLOSE;
}

static enum command_result
do_event(struct session *session, const struct request *request)
{
	(void)request;
	server_idle(session->server, IDLE_MIXER);
	return COMMAND_OK;
}

/* An answer of many pieces that now and then has to wait. */
struct long_task {
	struct task base;
	unsigned left;
};

static enum task_result
long_step(struct task *base, struct session *session)
{
	struct long_task *task = (struct long_task *)base;

	if (task->left == 0)
		return TASK_DONE;
	if (--task->left == 13)
		return session_task_ack(session, ACK_SYSTEM, "thirteen");
	reply_add(&session->out, "piece", "................................");
	if (task->left % 3 != 0)
		return TASK_MORE;
	session_wake(session);
	return TASK_WAIT;
}

static void
long_destroy(struct task *base)
{
	free(base);
}

static const struct task_ops long_ops = {long_step, long_destroy};

static enum command_result
do_long(struct session *session, const struct request *request)
{
	struct long_task *task = calloc(1, sizeof(*task));

	check(task != NULL);
	task->base.ops = &long_ops;
	task->left = request->count > 0 ? 1600 : 12;
	return session_start(session, &task->base);
}

static const struct command commands[] = {
	{"a", PERMISSION_NONE, 0, -1, do_ok},
	{"c", PERMISSION_NONE, 0, 0, do_close},
	{"e", PERMISSION_READ, 1, 2, do_error},
	{"idle", PERMISSION_READ, 0, -1, idle_handle},
	{"l", PERMISSION_NONE, 0, 1, do_long},
	{"m", PERMISSION_NONE, 0, 0, do_event},
};
static const struct command_table table = {
	commands, sizeof(commands) / sizeof(commands[0])};

static struct sd_event *loop;
static struct server *server;

static void
set_up(void)
{
	const struct server_config config = {
		.max_clients = 4,
		.music = {"/nowhere", true},
	};
	struct server_links links = {.loop = NULL};

	check(sd_event_new(&loop) >= 0);
	links.loop = loop;
	check(server_create_deaf(&config, &links, &server) == 0);
	server->table = &table;
}

static void
settle(void)
{
	while (sd_event_run(loop, 0) > 0)
		;
}

/* Reads what has come into answer; true while the connection stands. */
static bool
receive(int fd, struct text *answer)
{
	char bytes[2048];
	ssize_t got;

	while ((got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		text_add_bytes(answer, bytes, (size_t)got);
	return got < 0 && errno == EAGAIN;
}

static void
check_answer(const struct text *answer)
{
	static const char *const beginnings[] = {
		"OK\n",    "OK MPD ",    "list_OK\n",        "ACK [",
		"piece: ", "argument: ", "changed: mixer\n",
	};
	const char *line = text_string(answer);
	const char *end;
	size_t i;

	for (; *line != '\0'; line = end + 1) {
		end = strchr(line, '\n');
		check(end != NULL);
		check(end - line < 4096);
		check(utf8_valid(line, (size_t)(end - line)));
		for (i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
			if (strncmp(line, beginnings[i],
				    strlen(beginnings[i])) == 0)
				break;
		check(i < sizeof(beginnings) / sizeof(beginnings[0]));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t piece = size > 0 ? (size_t)data[0] * 16 + 1 : 1;
	const bool reads = size > 0 && (data[0] & 1) != 0;
	struct text answer = {0};
	bool standing = true;
	int pair[2];

	if (server == NULL)
		set_up();
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
			 pair) == 0);
	server_welcome(server, pair[1], 0, true);
	while (size > 0 && standing) {
		const size_t length = size < piece ? size : piece;
		const ssize_t sent = send(pair[0], data, length, MSG_NOSIGNAL);

		if (sent < 0 && errno != EAGAIN)
			break;
		data += sent > 0 ? sent : 0;
		size -= sent > 0 ? (size_t)sent : 0;
		settle();
		if (reads || sent < 0)
			standing = receive(pair[0], &answer);
	}
	for (standing = true; standing;) {
		const size_t before = answer.length;

		settle();
		standing = receive(pair[0], &answer);
		if (answer.length == before)
			break;
	}
	check_answer(&answer);
	close(pair[0]);
	settle();
	check(server->session_count == 0);
	check(server->list_bytes == 0);
	text_finish(&answer);
	return 0;
}

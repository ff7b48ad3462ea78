/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.h - one client's connection, from its greeting to its end.
 *
 *   READING -> line -> LIST (collecting) -> LIST (running) -> READING
 *      ^  \--> command: answered at once, or by a TASK, or IDLE until an event
 *      +------------------------------------------------------+
 *
 * A session makes its answer while the client reads it: as long as
 * SESSION_OUT_HIGH bytes wait for the client, no step of a task and no further
 * command runs. Nothing here ever blocks.
 * Threads: control. */
#ifndef ROTARY_SERVER_SESSION_H
#define ROTARY_SERVER_SESSION_H

#include "daemon/library/tag.h"
#include "daemon/server/command.h"
#include "daemon/server/line.h"
#include "daemon/server/server.h"
#include "lib/base/attr.h"
#include "lib/base/list.h"
#include "lib/base/text.h"

#include <stdbool.h>
#include <sys/types.h>

struct sd_event_source;
struct server;
struct session;
struct task;

enum {
	SESSION_OUT_HIGH = 48 * 1024,         /* no more is made above */
	SESSION_OUT_MAX = 64 * 1024,          /* kept as memory */
	SESSION_LIST_MAX = 2 * 1024 * 1024,   /* one list */
	SESSION_LISTS_MAX = 32 * 1024 * 1024, /* all clients' */
	SESSION_CHANNELS_MAX = 16,
	SESSION_MESSAGES_MAX = 64,
	TASK_STEP_BYTES = 8 * 1024, /* an answer's piece: about that much */
};

enum task_result {
	TASK_MORE, /* call step again when there is room */
	TASK_WAIT, /* not before session_wake() */
	TASK_DONE,
	TASK_ERROR, /* the ACK was written */
};

/* What answers a command in pieces. Begins the task's own structure. */
struct task_ops {
	/* Adds about TASK_STEP_BYTES to the answer. */
	enum task_result (*step)(struct task *task, struct session *session);
	/* Also before its end, when the client has gone. */
	void (*destroy)(struct task *task);
};
struct task {
	const struct task_ops *ops;
};

enum list_mode { LIST_NONE, LIST_PLAIN, LIST_OK };

struct session {
	struct server *server;
	struct list link;       /* of server->sessions */
	struct list ready_link; /* of server->ready, or alone */
	struct sd_event_source *io;
	struct sd_event_source *timer; /* while the client does not read */
	int fd;
	uid_t uid;
	unsigned permission;

	char in[LINE_BYTES_MAX];
	size_t in_start, in_end;
	bool readable; /* the last read filled all there was room for */
	bool in_ended;
	bool hung;    /* nobody reads any more */
	bool closing; /* once all is written */
	bool dead;    /* at once */

	struct text out;
	size_t out_sent;
	bool stalled; /* timer runs */

	enum list_mode list_mode;
	bool list_running;
	struct text list; /* lines, each ended by NUL */
	size_t list_at;
	unsigned list_index;

	bool idling;
	uint32_t idle_wanted;  /* bits of enum idle_event */
	uint32_t idle_pending; /* not told yet */

	struct task *task;
	bool task_ready;
	const char *command; /* name of the running one, "" else */

	tag_mask tags;
	uint32_t binary_limit;
	struct list channels; /* of struct channel_subscription */
	struct list messages; /* of struct channel_message */
	unsigned channel_count, message_count;
};

/* Takes fd over, also when it fails, and greets. 0, -ENOMEM, -errno. */
NODISCARD int session_create(struct server *server, int fd, uid_t uid,
			     bool local);
void session_destroy(struct session *session);
/* Goes on soon: its task has something, an event has come. */
void session_wake(struct session *session);
/* Tells the client an event, now if it idles, else when it asks. */
void session_notify(struct session *session, enum idle_event event);
/* A turn of work; may destroy the session. */
void session_run(struct session *session);

/* For handlers. ------------------------------------------------------- */

/* Writes the ACK; for "return session_ack(...)". */
enum command_result session_ack(struct session *session, enum ack code,
				const char *format, ...) PRINTF_LIKE(3, 4);
/* For "return session_start(...)"; task NULL: out of memory. */
enum command_result session_start(struct session *session, struct task *task);
enum command_result session_no_memory(struct session *session);
/* A sum of the above for tasks. */
enum task_result session_task_ack(struct session *session, enum ack code,
				  const char *format, ...) PRINTF_LIKE(3, 4);
/* True when a task's step has added enough since `before` bytes. */
bool session_step_full(const struct session *session, size_t before);
bool session_is_local(const struct session *session);

/* For session.c and its parts. ----------------------------------------- */

/* Runs one line as a command. */
void session_execute(struct session *session, char *bytes);
void session_finish_command(struct session *session,
			    enum command_result result);
/* Takes one line: control words of lists and idle, else a command. */
void session_take_line(struct session *session, char *bytes);
void session_end_list(struct session *session);
/* Tells an idling client what it waits for, if it has happened. */
bool session_report_idle(struct session *session);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.h - the table of commands: who may call what with how many
 * arguments, checked before the handler runs.
 *
 * Threads: control. */
#ifndef ROTARY_SERVER_COMMAND_H
#define ROTARY_SERVER_COMMAND_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct session;

/* Numbers of the protocol's ACK line. */
enum ack {
	ACK_NOT_LIST = 1,
	ACK_ARGUMENT = 2,
	ACK_PASSWORD = 3,
	ACK_PERMISSION = 4,
	ACK_UNKNOWN = 5,
	ACK_NO_EXIST = 50,
	ACK_FULL = 51,
	ACK_SYSTEM = 52,
	ACK_LOAD = 53,
	ACK_UPDATE_ALREADY = 54,
	ACK_PLAYER_SYNC = 55,
	ACK_EXIST = 56,
};

/* Rights, a set; a command without any needs none. */
enum permission {
	PERMISSION_NONE = 0,
	PERMISSION_READ = 1 << 0,
	PERMISSION_ADD = 1 << 1,
	PERMISSION_PLAYER = 1 << 2,
	PERMISSION_CONTROL = 1 << 3,
	PERMISSION_ADMIN = 1 << 4,
	PERMISSION_LOCAL = 1 << 5, /* on the local socket */
	PERMISSION_ALL = (1 << 6) - 1,
};

enum command_result {
	COMMAND_OK,
	COMMAND_ERROR, /* the ACK was written */
	COMMAND_TASK,  /* a task was set, which answers later */
	COMMAND_IDLE,  /* no answer now */
	COMMAND_CLOSE, /* no answer: hang up */
};

struct request {
	size_t count;
	char *const *args;
};

struct command {
	const char *name;
	unsigned permission; /* enum permission, all of them are needed */
	int min, max;        /* arguments; max -1: any number */
	enum command_result (*handle)(struct session *session,
				      const struct request *request);
};

/* Sorted by name. */
struct command_table {
	const struct command *commands;
	size_t count;
};
extern const struct command_table command_table_all;

const struct command *command_find(const struct command_table *table,
				   const char *name);

#endif

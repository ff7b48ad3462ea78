/* SPDX-License-Identifier: GPL-3.0-or-later */
/* client.h - a client of the protocol: connect, send a command, read the
 * answer's lines. For the programs of this project.
 *
 * Threads: one at a time. RT: MAY_BLOCK, up to the time-out. Errors: -errno;
 * an ACK is -EPROTO and client_error() tells its text; client_ack_code() its
 * code. */
#ifndef ROTARY_CLIENT_CLIENT_H
#define ROTARY_CLIENT_CLIENT_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct client;
struct text;

/* PATH, HOST or HOST:PORT; a name with a '/' is a socket file. NULL: what
 * $ROTARY_HOST names, else the user's socket, else the system's. ret_error:
 * one sentence with the next step. */
NODISCARD int client_connect(const char *where, int64_t timeout_ns,
			     struct client **ret_client,
			     struct text *ret_error);
void client_close(struct client *client);

int client_fd(const struct client *client);
const char *client_version(const struct client *client);
/* The place connected to, for messages. */
const char *client_where(const struct client *client);

/* Sends argv as one quoted line. 0, -errno. */
NODISCARD int client_send(struct client *client, const char *const argv[],
			  size_t count);
/* Sends a line as it is. -EINVAL when it holds a newline. */
NODISCARD int client_send_line(struct client *client, const char *line);
/* Next "name: value" line of the answer: 1 with both set, valid until the next
 * call; 0 at OK; -EPROTO at ACK; -errno. */
NODISCARD int client_read_pair(struct client *client, const char **ret_name,
			       const char **ret_value);
/* Reads the rest of the answer. */
NODISCARD int client_finish(struct client *client);
const char *client_error(const struct client *client);
int client_ack_code(const struct client *client);

/* The socket's place for this user and for the system. */
void client_default_sockets(struct text *ret_user, struct text *ret_system);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* server.h - the socket: MPD's protocol for every client.
 *
 *   bytes (session_io.c) -> lines, lists, idle (session.c, line.c) -> table
 *   (command.c)
 *   -> handler (one file a group) -> reply, whole or produced as it is read
 *
 * A handler that has to wait for a worker parks its client: later lines of
 * that client wait, all others are served. Nothing here blocks.
 * Threads: control. */
#ifndef ROTARY_SERVER_SERVER_H
#define ROTARY_SERVER_SERVER_H

#include "daemon/source/path.h"
#include "lib/base/attr.h"

#include <stdbool.h>

struct engine;
struct play_queue;
struct player;
struct sd_event;
struct server;
struct text;
struct work;

/* The names that idle takes, in MPD's order. */
enum idle_event {
	IDLE_DATABASE,
	IDLE_UPDATE,
	IDLE_STORED_PLAYLIST,
	IDLE_PLAYLIST,
	IDLE_PLAYER,
	IDLE_MIXER,
	IDLE_OUTPUT,
	IDLE_OPTIONS,
	IDLE_PARTITION,
	IDLE_STICKER,
	IDLE_SUBSCRIPTION,
	IDLE_MESSAGE,
	IDLE_NEIGHBOR,
	IDLE_MOUNT,
	IDLE_COUNT,
};

struct server_config {
	const char *socket_path;
	unsigned max_clients;
	struct path_root music;
};

/* What the handlers work on; outlives the server. */
struct server_links {
	struct sd_event *loop;
	struct work *work;
	struct engine *engine; /* NULL: there is no output */
	struct player *player;
	struct play_queue *queue;
};

/* Listens. A stale socket file is taken over; -EADDRINUSE when a daemon
 * answers there. ret_error: one sentence with the next step. */
NODISCARD int server_create(const struct server_config *config,
			    const struct server_links *links,
			    struct server **ret_server, struct text *ret_error);
/* Removes the socket file. */
void server_destroy(struct server *server);

/* Tells idling clients; remembered for each that does not idle. */
void server_idle(struct server *server, enum idle_event event);

#endif

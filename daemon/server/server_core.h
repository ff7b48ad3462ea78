/* SPDX-License-Identifier: GPL-3.0-or-later */
/* server_core.h - what the server's own files share. Threads: control. */
#ifndef ROTARY_SERVER_SERVER_CORE_H
#define ROTARY_SERVER_SERVER_CORE_H

#include "daemon/server/command.h"
#include "daemon/server/listen.h"
#include "daemon/server/server.h"
#include "daemon/server/update.h"
#include "lib/base/list.h"

struct sd_event_source;
struct session;

struct server {
	struct server_links links;
	struct path_root music;
	char *music_folder; /* music.folder */
	unsigned clients_max;
	int64_t stall_ns; /* a client that reads nothing for so long goes */
	const struct command_table *table;

	struct listener *listener;
	struct list sessions;
	unsigned session_count;
	struct list ready; /* sessions with something to do */
	struct sd_event_source *ready_source;
	size_t list_bytes; /* of all sessions */

	struct updater updater;

	int64_t started_ns;
	int64_t played_ns;        /* in all, up to playing_since_ns */
	int64_t playing_since_ns; /* -1: not playing */
};

/* A server that does not listen. */
NODISCARD int server_create_deaf(const struct server_config *config,
				 const struct server_links *links,
				 struct server **ret_server);
/* Does something soon: arms the loop for server->ready. */
void server_arm(struct server *server);
/* A new connection; fd is taken over. Beyond the limit it is refused. */
void server_welcome(struct server *server, int fd, uid_t uid, bool local);
int64_t server_played_ns(const struct server *server);

#endif

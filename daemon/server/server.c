/* SPDX-License-Identifier: GPL-3.0-or-later */
/* server.c - the server as a whole: its sessions and their turns.
 *
 * Sessions with something to do stand in server->ready; one deferred source of
 * the loop gives each of them a turn. Whoever becomes ready during the round
 * waits for the next one, and the loop looks at its descriptors in between, so
 * no client waits longer than one turn of every other.
 * Invariants: ready_source is enabled iff ready is not empty;
 * session_count = length of sessions <= clients_max. */
#include "daemon/server/server.h"

#include "daemon/player/player.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"
#include "daemon/work/work.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>

enum { STALL_S = 60 };

static int
on_ready(struct sd_event_source *source, void *context)
{
	struct server *server = context;
	struct list round;

	(void)source;
	/* Later ones wait for the next round. */
	list_insert(&server->ready, &round);
	list_remove(&server->ready);
	while (!list_empty(&round))
		session_run(list_entry(round.next, struct session, ready_link));
	return 0;
}

void
server_arm(struct server *server)
{
	sd_event_source_set_enabled(server->ready_source, SD_EVENT_ONESHOT);
}

void
server_welcome(struct server *server, int fd, uid_t uid, bool local)
{
	static const char full[] = "ACK [52@0] {} too many clients\n";
	int r = 0;

	if (server->session_count >= server->clients_max) {
		if (send(fd, full, sizeof(full) - 1,
			 MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			log_debug("server", "a refused client has gone");
		close(fd);
		return;
	}
	r = session_create(server, fd, uid, local);
	if (r < 0)
		log_err("server", "cannot serve a client: %s",
			text_of_error(r));
}

int
server_create_deaf(const struct server_config *config,
		   const struct server_links *links, struct server **ret_server)
{
	struct server *server = calloc(1, sizeof(*server));
	int r = 0;

	if (server == NULL)
		return -ENOMEM;
	server->links = *links;
	server->clients_max = config->max_clients;
	server->stall_ns = STALL_S * NS_PER_S;
	server->table = &command_table_all;
	server->started_ns = clock_now_ns();
	server->playing_since_ns = -1;
	server->music = config->music;
	list_init(&server->sessions);
	list_init(&server->ready);
	updater_init(&server->updater, server);
	server->music_folder = strdup(config->music.folder);
	server->music.folder = server->music_folder;
	r = server->music_folder == NULL ? -ENOMEM : 0;
	if (r == 0)
		r = sd_event_add_defer(links->loop, &server->ready_source,
				       on_ready, server);
	if (r >= 0)
		r = sd_event_source_set_enabled(server->ready_source,
						SD_EVENT_OFF);
	if (r < 0) {
		server_destroy(server);
		return r;
	}
	*ret_server = server;
	return 0;
}

int
server_create(const struct server_config *config,
	      const struct server_links *links, struct server **ret_server,
	      struct text *ret_error)
{
	struct server *server = NULL;
	int r = server_create_deaf(config, links, &server);

	if (r < 0) {
		text_printf(ret_error, "cannot start the server: %s",
			    text_of_error(r));
		return r;
	}
	r = listener_create(server, config->socket_path, &server->listener,
			    ret_error);
	if (r < 0) {
		server_destroy(server);
		return r;
	}
	*ret_server = server;
	return 0;
}

void
server_destroy(struct server *server)
{
	if (server == NULL)
		return;
	listener_destroy(server->listener);
	updater_finish(&server->updater);
	while (!list_empty(&server->sessions))
		session_destroy(list_entry(server->sessions.next,
					   struct session, link));
	sd_event_source_disable_unref(server->ready_source);
	free(server->music_folder);
	free(server);
}

/* Time played is summed up each time that the player has changed. */
static void
account_played(struct server *server)
{
	const int64_t now_ns = clock_now_ns();
	struct player_status status;

	server->played_ns = server_played_ns(server);
	player_get_status(server->links.player, &status);
	server->playing_since_ns = status.state == PLAYER_PLAY ? now_ns : -1;
}

int64_t
server_played_ns(const struct server *server)
{
	if (server->playing_since_ns < 0)
		return server->played_ns;
	return server->played_ns + clock_now_ns() - server->playing_since_ns;
}

void
server_idle(struct server *server, enum idle_event event)
{
	struct list *i = NULL;

	if (event == IDLE_PLAYER)
		account_played(server);
	list_for_each (i, &server->sessions)
		session_notify(list_entry(i, struct session, link), event);
}

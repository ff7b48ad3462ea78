/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listen.c - accepting clients, from a socket file of ours (socket_file.c) or
 * from descriptors that the service manager gave us.
 *
 * accept() can fail for want of something that others hold. For want of a
 * descriptor: the reserve is given up for a moment, the newcomer is taken, told
 * and closed, and the reserve taken back; so the queue of waiting clients
 * drains and the loop does not spin on it. For want of memory, or when the
 * reserve itself is lost: accepting pauses for a second.
 * Invariant: a descriptor's source is enabled iff accepting is not paused. */
#include "daemon/server/listen.h"

#include "daemon/server/server_core.h"
#include "daemon/server/socket_file.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <unistd.h>

enum {
	LISTEN_FDS_MAX = 4,
	ACCEPTS_A_TURN = 16,
	PAUSE_US = 1000000,
};

struct listener {
	struct server *server;
	struct socket_file file; /* fd -1: not ours, the manager's */
	int fds[LISTEN_FDS_MAX];
	struct sd_event_source *sources[LISTEN_FDS_MAX];
	unsigned count;
	int reserve_fd;
	struct sd_event_source *pause; /* NULL: not paused yet */
	bool warned;
};

static int
open_reserve(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void
set_accepting(struct listener *listener, bool accepting)
{
	unsigned i = 0;

	for (i = 0; i < listener->count; i++)
		sd_event_source_set_enabled(listener->sources[i],
					    accepting ? SD_EVENT_ON
						      : SD_EVENT_OFF);
}

static int
on_pause_over(struct sd_event_source *source, uint64_t usec, void *context)
{
	struct listener *listener = context;

	(void)source;
	(void)usec;
	if (listener->reserve_fd < 0)
		listener->reserve_fd = open_reserve();
	set_accepting(listener, true);
	return 0;
}

static void
pause_accepting(struct listener *listener)
{
	struct sd_event *loop = listener->server->links.loop;

	listener->pause = sd_event_source_disable_unref(listener->pause);
	if (sd_event_add_time_relative(loop, &listener->pause, CLOCK_MONOTONIC,
				       PAUSE_US, 0, on_pause_over,
				       listener) >= 0)
		set_accepting(listener, false);
}

/* No descriptor is left for a newcomer: tell it so with the reserve. */
static void
refuse_one(struct listener *listener, int listen_fd)
{
	static const char full[] = "ACK [52@0] {} too many clients\n";
	int fd = 0;

	if (!listener->warned)
		log_warn("server", "no file descriptor is left for more "
				   "clients");
	listener->warned = true;
	if (listener->reserve_fd >= 0)
		close(listener->reserve_fd);
	fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0) {
		if (send(fd, full, sizeof(full) - 1,
			 MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			log_debug("server", "a refused client has gone");
		close(fd);
	}
	listener->reserve_fd = open_reserve();
	if (fd < 0 || listener->reserve_fd < 0)
		pause_accepting(listener);
}

static void
welcome(struct listener *listener, int fd)
{
	struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
	socklen_t length = sizeof(address);
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t peer_length = sizeof(peer);
	bool local = false;

	listener->warned = false;
	local = getsockname(fd, (struct sockaddr *)&address, &length) == 0 &&
		address.ss_family == AF_UNIX;
	if (local &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_length) < 0)
		peer.uid = (uid_t)-1;
	server_welcome(listener->server, fd, peer.uid, local);
}

static int
on_accept(struct sd_event_source *source, int listen_fd, uint32_t events,
	  void *context)
{
	struct listener *listener = context;
	unsigned i = 0;

	(void)source;
	(void)events;
	for (i = 0; i < ACCEPTS_A_TURN; i++) {
		const int fd = accept4(listen_fd, NULL, NULL,
				       SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			welcome(listener, fd);
		} else if (errno == EMFILE || errno == ENFILE) {
			refuse_one(listener, listen_fd);
			return 0;
		} else if (errno == EAGAIN) {
			return 0;
		} else if (errno != EINTR && errno != ECONNABORTED) {
			log_err("server", "cannot accept a client: %s",
				text_of_error(errno));
			pause_accepting(listener);
			return 0;
		}
	}
	return 0;
}

static int
add_fd(struct listener *listener, int fd)
{
	int r = sd_event_add_io(listener->server->links.loop,
				&listener->sources[listener->count], fd,
				EPOLLIN, on_accept, listener);

	if (r >= 0)
		listener->fds[listener->count++] = fd;
	return r;
}

/* Takes the descriptors of socket activation; how many, or -errno. */
static int
add_given_fds(struct listener *listener, struct text *ret_error)
{
	const int given = sd_listen_fds(1);
	int i = 0, r = 0;

	for (i = 0; i < given; i++) {
		const int fd = SD_LISTEN_FDS_START + i;

		if (sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1) <= 0 ||
		    listener->count == LISTEN_FDS_MAX) {
			log_warn("server",
				 "descriptor %d from the service "
				 "manager is no socket for clients",
				 fd);
			close(fd);
			continue;
		}
		r = fcntl(fd, F_SETFL, O_NONBLOCK);
		if (r < 0)
			r = -errno;
		else
			r = add_fd(listener, fd);
		if (r < 0) {
			text_printf(ret_error,
				    "cannot use descriptor %d from the service "
				    "manager: %s",
				    fd, text_of_error(r));
			return r;
		}
	}
	return (int)listener->count;
}

int
listener_create(struct server *server, const char *path,
		struct listener **ret_listener, struct text *ret_error)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	int r = 0;

	if (listener == NULL) {
		text_add(ret_error, "out of memory");
		return -ENOMEM;
	}
	listener->server = server;
	listener->file.fd = -1;
	listener->reserve_fd = open_reserve();
	r = add_given_fds(listener, ret_error);
	if (r == 0) {
		r = socket_file_open(&listener->file, path, ret_error);
		if (r == 0)
			r = add_fd(listener, listener->file.fd);
	}
	if (r < 0) {
		listener_destroy(listener);
		return r;
	}
	*ret_listener = listener;
	return 0;
}

void
listener_destroy(struct listener *listener)
{
	unsigned i = 0;

	if (listener == NULL)
		return;
	sd_event_source_disable_unref(listener->pause);
	for (i = 0; i < listener->count; i++) {
		sd_event_source_disable_unref(listener->sources[i]);
		if (listener->fds[i] != listener->file.fd)
			close(listener->fds[i]);
	}
	socket_file_close(&listener->file);
	if (listener->reserve_fd >= 0)
		close(listener->reserve_fd);
	free(listener);
}

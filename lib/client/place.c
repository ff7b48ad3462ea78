/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place.c - connecting to a socket file or a host.
 *
 * Sockets stay blocking, with the kernel's own time-outs for connect, send and
 * receive. The user's fallback folder lies in /tmp, where anyone could have
 * made it first: a socket in it is only trusted in a folder of our own. */
#include "lib/client/place.h"

#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static const char default_port[] = "6600";

static bool
copy(char *out, size_t room, const char *bytes, size_t length)
{
	if (length == 0 || length >= room)
		return false;
	memcpy(out, bytes, length);
	out[length] = '\0';
	return true;
}

static int
parse_port(struct place *place, const char *port)
{
	int64_t number = 0;

	if (text_parse_int(port, 1, 65535, &number) < 0)
		return -EINVAL;
	snprintf(place->port, sizeof(place->port), "%d", (int)number);
	return 0;
}

/* What stands around the host: brackets, and the port's colon. An address of
 * IPv6 has several colons of its own and needs brackets to have a port. */
static int
parse_host(const char *where, struct place *place)
{
	const char *end = NULL, *colon = strchr(where, ':');

	if (where[0] == '[') {
		end = strchr(++where, ']');
		if (end == NULL || (end[1] != '\0' && end[1] != ':'))
			return -EINVAL;
		colon = end[1] == ':' ? end + 1 : NULL;
	} else if (colon != NULL && strchr(colon + 1, ':') == NULL) {
		end = colon;
	} else {
		end = where + strlen(where);
		colon = NULL;
	}
	if (!copy(place->name, sizeof(place->name), where,
		  (size_t)(end - where)))
		return -EINVAL;
	return parse_port(place, colon != NULL ? colon + 1 : default_port);
}

int
place_parse(const char *where, struct place *ret_place)
{
	struct place place = {.is_socket = strchr(where, '/') != NULL};
	const size_t limit = sizeof(((struct sockaddr_un *)NULL)->sun_path);
	int result = 0;

	if (!place.is_socket)
		result = parse_host(where, &place);
	else if (!copy(place.name, limit, where, strlen(where)))
		result = -EINVAL;
	if (result == 0)
		*ret_place = place;
	return result;
}

void
place_add(struct text *text, const struct place *place)
{
	const bool bare = strchr(place->name, ':') == NULL;

	if (place->is_socket)
		text_add(text, place->name);
	else
		text_printf(text, bare ? "%s:%s" : "[%s]:%s", place->name,
			    place->port);
}

/* 0 when the socket's folder, if it lies in /tmp, is ours alone to write. */
static int
check_folder(const char *path)
{
	char folder[PLACE_NAME_BYTES];
	const char *slash = strrchr(path, '/');
	struct stat status;

	if (strncmp(path, "/tmp/rotary-", 12) != 0)
		return 0;
	if (!copy(folder, sizeof(folder), path, (size_t)(slash - path)))
		return 0;
	if (lstat(folder, &status) < 0)
		return -errno;
	return S_ISDIR(status.st_mode) && status.st_uid == getuid() &&
			       (status.st_mode & (S_IWGRP | S_IWOTH)) == 0
		       ? 0
		       : -EPERM;
}

static int
open_socket(int family, int64_t timeout_ns)
{
	const struct timeval timeout = {
		.tv_sec = timeout_ns / NS_PER_S,
		.tv_usec = timeout_ns % NS_PER_S / NS_PER_US,
	};
	const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) <
		    0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) <
		    0) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

/* Also what the kernel says when its time-out has passed. */
static int
connect_to(int family, const struct sockaddr *address, socklen_t length,
	   int64_t timeout_ns)
{
	const int fd = open_socket(family, timeout_ns);
	int error = 0;

	if (fd < 0 || connect(fd, address, length) == 0)
		return fd;
	error = errno;
	close(fd);
	return error == EINPROGRESS || error == EAGAIN ? -ETIMEDOUT : -error;
}

static int
connect_socket(const struct place *place, int64_t timeout_ns)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int result = check_folder(place->name);

	if (result < 0)
		return result;
	memcpy(address.sun_path, place->name, strlen(place->name) + 1);
	return connect_to(AF_UNIX, (const struct sockaddr *)&address,
			  sizeof(address), timeout_ns);
}

static int
connect_host(const struct place *place, int64_t timeout_ns)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_ADDRCONFIG};
	struct addrinfo *found = NULL, *i = NULL;
	const int one = 1;
	int fd = -EHOSTUNREACH;

	if (getaddrinfo(place->name, place->port, &hints, &found) != 0)
		return -EHOSTUNREACH;
	for (i = found; i != NULL && fd < 0; i = i->ai_next)
		fd = connect_to(i->ai_family, i->ai_addr, i->ai_addrlen,
				timeout_ns);
	freeaddrinfo(found);
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

int
place_connect(const struct place *place, int64_t timeout_ns, int *ret_fd)
{
	const int fd = place->is_socket ? connect_socket(place, timeout_ns)
					: connect_host(place, timeout_ns);

	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

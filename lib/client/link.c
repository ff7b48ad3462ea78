/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link.c - a connection that never waits.
 *
 * out holds what the daemon has not taken yet, input what has come and was not
 * handed out; line_bytes of it, the line handed out last, are dropped at the
 * next call. */
#include "lib/client/link.h"

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/client/client.h"
#include "lib/client/place.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RECEIVE_BYTES = 2048 };

struct link {
	int fd;
	struct text where;
	struct text out;
	struct text input;
	size_t line_bytes;
};

static int
open_place(const char *where, struct link *link, struct text *ret_error)
{
	struct place place;
	int result = place_parse(where, &place);

	text_clear(&link->where);
	text_clear(ret_error);
	if (result < 0) {
		text_add_char(ret_error, '"');
		text_add_clean(ret_error, where, strlen(where), 200);
		text_add(ret_error, "\" names no daemon");
		return result;
	}
	place_add(&link->where, &place);
	result = place_connect(&place, NS_PER_S, &link->fd);
	if (result == 0 && fcntl(link->fd, F_SETFL, O_RDWR | O_NONBLOCK) < 0)
		result = -errno;
	if (result < 0)
		text_printf(ret_error, "no daemon answers on %s: %s",
			    link_where(link), text_of_error(result));
	return result;
}

static bool
is_absent(int error)
{
	return error == -ENOENT || error == -ENOTDIR || error == -ECONNREFUSED;
}

static int
open_default(struct link *link, struct text *ret_error)
{
	struct text user = {0}, system = {0};
	int result = 0;

	client_default_sockets(&user, &system);
	result = open_place(text_string(&user), link, ret_error);
	if (is_absent(result)) {
		result = open_place(text_string(&system), link, ret_error);
		if (is_absent(result)) {
			text_clear(ret_error);
			text_printf(ret_error,
				    "no daemon answers on %s nor on %s",
				    text_string(&user), text_string(&system));
		}
	}
	text_finish(&user);
	text_finish(&system);
	return result;
}

int
link_open(const char *where, struct link **ret_link, struct text *ret_error)
{
	struct link *link = calloc(1, sizeof(*link));
	int result = 0;

	if (link == NULL)
		return -ENOMEM;
	link->fd = -1;
	if (where == NULL || where[0] == '\0')
		where = getenv("ROTARY_HOST");
	if (where == NULL || where[0] == '\0')
		result = open_default(link, ret_error);
	else
		result = open_place(where, link, ret_error);
	if (result < 0) {
		link_close(link);
		return result;
	}
	*ret_link = link;
	return 0;
}

void
link_close(struct link *link)
{
	if (link == NULL)
		return;
	if (link->fd >= 0)
		close(link->fd);
	text_finish(&link->where);
	text_finish(&link->out);
	text_finish(&link->input);
	free(link);
}

int
link_fd(const struct link *link)
{
	return link->fd;
}

short
link_events(const struct link *link)
{
	return (short)(link->out.length > 0 ? POLLIN | POLLOUT : POLLIN);
}

const char *
link_where(const struct link *link)
{
	return text_string(&link->where);
}

int
link_write(struct link *link, const char *line)
{
	if (strchr(line, '\n') != NULL)
		return -EINVAL;
	if (link->out.length + strlen(line) >= LINK_OUT_MAX)
		return -ENOBUFS;
	text_add(&link->out, line);
	text_add_char(&link->out, '\n');
	return link->out.failed ? -ENOMEM : 0;
}

int
link_flush(struct link *link)
{
	ssize_t sent = 0;

	while (link->out.length > 0) {
		sent = send(link->fd, link->out.bytes, link->out.length,
			    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && errno == EAGAIN)
			return 0;
		if (sent < 0)
			return errno == EPIPE ? -ECONNRESET : -errno;
		text_drop(&link->out, (size_t)sent);
	}
	return 0;
}

int
link_receive(struct link *link)
{
	char bytes[RECEIVE_BYTES];
	ssize_t got = 0;

	do {
		got = recv(link->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	} while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN)
		return 0;
	if (got < 0)
		return -errno;
	if (got == 0)
		return -ECONNRESET;
	text_add_bytes(&link->input, bytes, (size_t)got);
	return link->input.failed ? -ENOMEM : 0;
}

int
link_next(struct link *link, const char **ret_line)
{
	char *newline = NULL;

	text_drop(&link->input, link->line_bytes);
	link->line_bytes = 0;
	if (link->input.length == 0)
		return 0;
	newline = memchr(link->input.bytes, '\n', link->input.length);
	if (newline == NULL)
		return link->input.length > LINK_LINE_MAX ? -EBADMSG : 0;
	*newline = '\0';
	link->line_bytes = (size_t)(newline - link->input.bytes) + 1;
	*ret_line = link->input.bytes;
	return 1;
}

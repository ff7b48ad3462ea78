/* SPDX-License-Identifier: GPL-3.0-or-later */
/* client.c - one connection to a daemon, read line by line.
 *
 * input holds what has been received; line_bytes of it, the line handed out
 * last, are dropped at the next read, so that the caller may look at it until
 * then. An answer is lines up to OK or ACK. After a failure other than an ACK
 * nobody knows where in an answer the stream stands, so the connection says
 * that same failure from then on. */
#include "lib/client/client.h"

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/client/place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	RECEIVE_BYTES = 16 * 1024,
	LINE_BYTES_MAX = 1024 * 1024, /* of an answer */
	REQUEST_BYTES_MAX = 8191,     /* with its newline, the daemon's limit */
	VERSION_BYTES = 32,
};

struct client {
	int fd;
	struct text where;
	struct text input;
	size_t line_bytes;
	char version[VERSION_BYTES];
	struct text error;
	int ack_code;
	int broken; /* -errno, or 0 */
	char received[RECEIVE_BYTES];
};

static int
fail(struct client *client, int error)
{
	client->broken = error;
	text_clear(&client->error);
	if (error == -ETIMEDOUT)
		text_printf(&client->error,
			    "the daemon on %s does not answer; its log may "
			    "tell why (journalctl -u rotaryd)",
			    text_string(&client->where));
	else if (error == -ECONNRESET)
		text_printf(&client->error,
			    "the daemon on %s has closed the connection",
			    text_string(&client->where));
	else if (error == -EBADMSG)
		text_printf(&client->error,
			    "what answers on %s does not speak the protocol",
			    text_string(&client->where));
	else
		text_printf(&client->error, "%s: %s",
			    text_string(&client->where), text_of_error(error));
	return error;
}

static int
receive(struct client *client)
{
	ssize_t got = 0;

	do {
		got = recv(client->fd, client->received,
			   sizeof(client->received), 0);
	} while (got < 0 && errno == EINTR);
	if (got == 0 || (got < 0 && errno == ECONNRESET))
		return fail(client, -ECONNRESET);
	if (got < 0)
		return fail(client, errno == EAGAIN ? -ETIMEDOUT : -errno);
	text_add_bytes(&client->input, client->received, (size_t)got);
	return client->input.failed ? fail(client, -ENOMEM) : 0;
}

/* The next line, without its newline, until the next call. */
static int
read_line(struct client *client, char **ret_line)
{
	size_t seen = 0;
	char *newline = NULL;
	int result = 0;

	if (client->broken < 0)
		return client->broken;
	text_drop(&client->input, client->line_bytes);
	client->line_bytes = 0;
	for (;;) {
		if (client->input.length > seen)
			newline = memchr(client->input.bytes + seen, '\n',
					 client->input.length - seen);
		if (newline != NULL)
			break;
		seen = client->input.length;
		if (seen > LINE_BYTES_MAX)
			return fail(client, -EBADMSG);
		result = receive(client);
		if (result < 0)
			return result;
	}
	*newline = '\0';
	client->line_bytes = (size_t)(newline - client->input.bytes) + 1;
	*ret_line = client->input.bytes;
	return 0;
}

/* "ACK [code@position] {command} text". */
static int
take_ack(struct client *client, const char *line)
{
	const char *message = strstr(line, "} ");
	char *end = NULL;
	long code = 0;

	if (line[4] == '[')
		code = strtol(line + 5, &end, 10);
	if (end == NULL || end == line + 5 || *end != '@' || code < 0 ||
	    code > INT_MAX || message == NULL)
		return fail(client, -EBADMSG);
	client->ack_code = (int)code;
	message += 2;
	text_clear(&client->error);
	text_add_clean(&client->error, message, strlen(message), 1000);
	return -EPROTO;
}

static int
greet(struct client *client)
{
	static const char greeting[] = "OK MPD ";
	char *line = NULL;
	int result = read_line(client, &line);

	if (result < 0)
		return result;
	if (strncmp(line, "ACK ", 4) == 0)
		return take_ack(client, line);
	if (strncmp(line, greeting, sizeof(greeting) - 1) != 0)
		return fail(client, -EBADMSG);
	snprintf(client->version, sizeof(client->version), "%s",
		 line + sizeof(greeting) - 1);
	return 0;
}

/* What a failed connection means, and what to do. */
static void
explain(struct text *ret_error, const struct place *place, int error)
{
	struct text name = {0};

	place_add(&name, place);
	text_clear(ret_error);
	if (error == -EACCES)
		text_printf(ret_error,
			    "%s is not for this user: join its group with "
			    "\"sudo adduser $USER rotary\" and log in again",
			    text_string(&name));
	else if (error == -EPERM)
		text_printf(ret_error,
			    "the folder of %s is not this user's own, so what "
			    "listens there is not trusted: remove it",
			    text_string(&name));
	else if (error == -EHOSTUNREACH)
		text_printf(ret_error,
			    "there is no way to the host %s: check the name "
			    "and the network",
			    text_string(&name));
	else if (place->is_socket)
		text_printf(ret_error,
			    "no daemon answers on %s: start it with "
			    "\"rotaryd\", or name another place with --socket",
			    text_string(&name));
	else
		text_printf(ret_error,
			    "no daemon answers on %s (%s): start rotaryd "
			    "there, or name another place with --socket",
			    text_string(&name), text_of_error(error));
	text_finish(&name);
}

static int
open_place(const struct place *place, int64_t timeout_ns,
	   struct client **ret_client, struct text *ret_error)
{
	struct client *client = calloc(1, sizeof(*client));
	int result = 0;

	if (client == NULL)
		return -ENOMEM;
	place_add(&client->where, place);
	result = place_connect(place, timeout_ns, &client->fd);
	if (result < 0) {
		explain(ret_error, place, result);
		client->fd = -1;
		client_close(client);
		return result;
	}
	result = greet(client);
	if (result < 0) {
		text_clear(ret_error);
		if (result == -EPROTO)
			text_printf(ret_error, "the daemon on %s says: ",
				    client_where(client));
		text_add(ret_error, client_error(client));
		client_close(client);
		return result;
	}
	*ret_client = client;
	return 0;
}

static int
connect_named(const char *where, int64_t timeout_ns, struct client **ret_client,
	      struct text *ret_error)
{
	struct place place;
	int result = place_parse(where, &place);

	if (result < 0) {
		text_clear(ret_error);
		text_add_char(ret_error, '"');
		text_add_clean(ret_error, where, strlen(where), 200);
		text_add(ret_error, "\" names no daemon: give the path of a "
				    "socket, HOST or HOST:PORT");
		return result;
	}
	return open_place(&place, timeout_ns, ret_client, ret_error);
}

static bool
is_absent(int error)
{
	return error == -ENOENT || error == -ENOTDIR || error == -ECONNREFUSED;
}

/* Only a daemon that is not there makes way for the next place: one that
 * refuses us is the one that is meant. */
static int
connect_default(int64_t timeout_ns, struct client **ret_client,
		struct text *ret_error)
{
	struct text user = {0}, system = {0};
	int result = 0;

	client_default_sockets(&user, &system);
	result = connect_named(text_string(&user), timeout_ns, ret_client,
			       ret_error);
	if (is_absent(result)) {
		result = connect_named(text_string(&system), timeout_ns,
				       ret_client, ret_error);
		if (is_absent(result)) {
			text_clear(ret_error);
			text_printf(ret_error,
				    "no daemon answers on %s nor on %s: start "
				    "it with \"rotaryd\", or name another "
				    "place with --socket",
				    text_string(&user), text_string(&system));
		}
	}
	text_finish(&user);
	text_finish(&system);
	return result;
}

int
client_connect(const char *where, int64_t timeout_ns,
	       struct client **ret_client, struct text *ret_error)
{
	if (where == NULL)
		where = getenv("ROTARY_HOST");
	if (where == NULL || where[0] == '\0')
		return connect_default(timeout_ns, ret_client, ret_error);
	return connect_named(where, timeout_ns, ret_client, ret_error);
}

void
client_close(struct client *client)
{
	if (client == NULL)
		return;
	if (client->fd >= 0)
		close(client->fd);
	text_finish(&client->where);
	text_finish(&client->input);
	text_finish(&client->error);
	free(client);
}

int
client_fd(const struct client *client)
{
	return client->fd;
}

const char *
client_version(const struct client *client)
{
	return client->version;
}

const char *
client_where(const struct client *client)
{
	return text_string(&client->where);
}

static int
send_all(struct client *client, const char *bytes, size_t length)
{
	ssize_t sent = 0;

	while (length > 0) {
		sent = send(client->fd, bytes, length, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && errno == EPIPE)
			return fail(client, -ECONNRESET);
		if (sent < 0)
			return fail(client,
				    errno == EAGAIN ? -ETIMEDOUT : -errno);
		bytes += sent;
		length -= (size_t)sent;
	}
	return 0;
}

int
client_send_line(struct client *client, const char *line)
{
	struct text request = {0};
	int result = 0;

	if (client->broken < 0)
		return client->broken;
	if (strchr(line, '\n') != NULL || strlen(line) >= REQUEST_BYTES_MAX) {
		text_clear(&client->error);
		text_add(&client->error, "a request is one line of at most "
					 "8190 bytes");
		return -EINVAL;
	}
	text_add(&request, line);
	text_add_char(&request, '\n');
	result = request.failed
			 ? -ENOMEM
			 : send_all(client, request.bytes, request.length);
	text_finish(&request);
	return result;
}

int
client_send(struct client *client, const char *const argv[], size_t count)
{
	struct text line = {0};
	size_t i = 0;
	int result = 0;

	text_add(&line, argv[0]);
	for (i = 1; i < count; i++) {
		text_add_char(&line, ' ');
		text_add_quoted(&line, argv[i]);
	}
	result = line.failed ? -ENOMEM
			     : client_send_line(client, text_string(&line));
	text_finish(&line);
	return result;
}

int
client_read_pair(struct client *client, const char **ret_name,
		 const char **ret_value)
{
	char *line = NULL, *colon = NULL;
	int result = 0;

	do {
		result = read_line(client, &line);
		if (result < 0)
			return result;
	} while (strcmp(line, "list_OK") == 0);
	if (strcmp(line, "OK") == 0)
		return 0;
	if (strncmp(line, "ACK ", 4) == 0)
		return take_ack(client, line);
	colon = strstr(line, ": ");
	if (colon == NULL)
		return fail(client, -EBADMSG);
	*colon = '\0';
	*ret_name = line;
	*ret_value = colon + 2;
	return 1;
}

int
client_finish(struct client *client)
{
	const char *name = NULL, *value = NULL;
	int result = 0;

	do {
		result = client_read_pair(client, &name, &value);
	} while (result > 0);
	return result;
}

const char *
client_error(const struct client *client)
{
	return text_string(&client->error);
}

int
client_ack_code(const struct client *client)
{
	return client->ack_code;
}

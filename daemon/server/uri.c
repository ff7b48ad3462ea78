/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uri.c - the one place where a client's name becomes a URI that the rest of
 * the server works with: relative and without "..", or local and allowed. */
#include "daemon/server/uri.h"

#include "daemon/server/session.h"
#include "daemon/source/path.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool
has_scheme(const char *text)
{
	const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789+-.");

	return length > 0 && strncmp(text + length, "://", 3) == 0;
}

/* "/" is the music folder to every client; "/x" is a file of the machine. */
static bool
is_root(const char *text)
{
	return text[strspn(text, "/")] == '\0';
}

char *
uri_argument(struct session *session, const char *text, const char *missing)
{
	const bool local = path_uri_is_local(text) && !is_root(text);
	char *uri = NULL;
	int r = 0;

	if (local && !session_is_local(session)) {
		session_ack(session, ACK_PERMISSION, "Access denied");
		return NULL;
	}
	if (!local && has_scheme(text)) {
		session_ack(session, ACK_NO_EXIST, "Unsupported URI scheme");
		return NULL;
	}
	uri = malloc(PATH_URI_MAX + 1);
	if (uri == NULL) {
		session_no_memory(session);
		return NULL;
	}
	r = local ? path_local(text, uri, PATH_URI_MAX + 1)
		  : path_uri_normalize(text, uri, PATH_URI_MAX + 1);
	if (r < 0) {
		free(uri);
		session_ack(session, ACK_NO_EXIST, "%s", missing);
		return NULL;
	}
	return uri;
}

enum command_result
uri_ack(struct session *session, int error, const char *missing)
{
	switch (error) {
	case -ENOMEM:
		return session_no_memory(session);
	case -EACCES:
	case -EPERM:
		return session_ack(session, ACK_PERMISSION, "Access denied");
	case -ENOENT:
	case -ENOTDIR:
	case -EISDIR:
	case -EINVAL:
	case -ENAMETOOLONG:
	case -ELOOP:
	case -EXDEV:
		return session_ack(session, ACK_NO_EXIST, "%s", missing);
	case -ETIMEDOUT:
		return session_ack(session, ACK_SYSTEM,
				   "The file system does not answer");
	default:
		return session_ack(session, ACK_SYSTEM, "%s",
				   text_of_error(error));
	}
}

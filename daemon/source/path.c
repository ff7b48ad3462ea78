/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path.c - which names are ours, and what a local one stands for.
 *
 * Text only: nothing here asks the kernel. A name of ours is a sequence of
 * parts with one slash between two of them; no part is empty, "." or "..".
 * Bytes above 127 and control characters are left alone: a file name is bytes,
 * and what is unfit for a line of the protocol is the protocol's matter.
 * path_open.c turns checked names into descriptors. */
#include "daemon/source/path.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

static const char FILE_SCHEME[] = "file://";

/* True when the length bytes at part may stand between two slashes. */
static bool
part_is_plain(const char *part, size_t length)
{
	if (length == 0)
		return false;
	if (part[0] != '.')
		return true;
	return length > 2 || (length == 2 && part[1] != '.');
}

int
path_uri_check(const char *uri)
{
	const char *part = uri;

	if (strnlen(uri, PATH_URI_MAX + 1) > PATH_URI_MAX)
		return -ENAMETOOLONG;
	if (uri[0] == '\0')
		return 0;
	for (;;) {
		const size_t length = strcspn(part, "/");

		if (!part_is_plain(part, length))
			return -EINVAL;
		if (part[length] == '\0')
			return 0;
		part += length + 1;
	}
}

int
path_uri_normalize(const char *uri, char *ret_uri, size_t capacity)
{
	char clean[PATH_URI_MAX + 1];
	size_t length = 0;

	if (strnlen(uri, PATH_URI_MAX + 1) > PATH_URI_MAX)
		return -ENAMETOOLONG;
	for (const char *next = uri; *next != '\0'; next++) {
		if (*next == '/' && (length == 0 || clean[length - 1] == '/'))
			continue;
		clean[length++] = *next;
	}
	if (length > 0 && clean[length - 1] == '/')
		length--;
	clean[length] = '\0';
	if (path_uri_check(clean) < 0)
		return -EINVAL;
	if (length >= capacity)
		return -ENAMETOOLONG;
	memcpy(ret_uri, clean, length + 1);
	return 0;
}

bool
path_uri_is_local(const char *uri)
{
	return uri[0] == '/' ||
	       strncasecmp(uri, FILE_SCHEME, strlen(FILE_SCHEME)) == 0;
}

static int
hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

/* Resolves %XX of the part of a file:// name that follows the scheme. */
static int
resolve_escapes(const char *escaped, char *ret_path, size_t capacity)
{
	size_t length = 0;

	for (const char *next = escaped; *next != '\0'; next++) {
		char byte = *next;

		if (byte == '%') {
			const int high = hex_digit(next[1]);
			const int low = high < 0 ? -1 : hex_digit(next[2]);

			if (low < 0 || high * 16 + low == 0)
				return -EINVAL;
			byte = (char)(high * 16 + low);
			next += 2;
		}
		if (length + 1 >= capacity)
			return -ENAMETOOLONG;
		ret_path[length++] = byte;
	}
	ret_path[length] = '\0';
	return 0;
}

int
path_local(const char *uri, char *ret_path, size_t capacity)
{
	static const char HOST[] = "localhost/";
	char path[PATH_URI_MAX + 1];
	int error = 0;

	if (!path_uri_is_local(uri))
		return -EINVAL;
	if (strnlen(uri, sizeof(path)) == sizeof(path))
		return -ENAMETOOLONG;
	if (uri[0] == '/') {
		memcpy(path, uri, strlen(uri) + 1);
	} else {
		const char *rest = uri + strlen(FILE_SCHEME);

		if (strncasecmp(rest, HOST, strlen(HOST)) == 0)
			rest += strlen(HOST) - 1;
		if (rest[0] != '/')
			return -EINVAL; /* another host's file */
		error = resolve_escapes(rest, path, sizeof(path));
	}
	if (error < 0)
		return error;
	if (strlen(path) >= capacity)
		return -ENAMETOOLONG;
	memcpy(ret_path, path, strlen(path) + 1);
	return 0;
}

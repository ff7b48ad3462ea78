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

static const char file_scheme[] = "file://";

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

/* Joins the parts of uri with single slashes, into ret_uri if that is not
 * NULL; returns the length, or -EINVAL when a part is not plain. */
static ssize_t
join_parts(const char *uri, char *ret_uri)
{
	const char *part = uri + strspn(uri, "/");
	size_t length = 0;

	while (*part != '\0') {
		const size_t part_length = strcspn(part, "/");

		if (!part_is_plain(part, part_length))
			return -EINVAL;
		if (ret_uri != NULL && length > 0)
			ret_uri[length] = '/';
		length += length > 0;
		if (ret_uri != NULL)
			memcpy(ret_uri + length, part, part_length);
		length += part_length;
		part += part_length;
		part += strspn(part, "/");
	}
	if (ret_uri != NULL)
		ret_uri[length] = '\0';
	return (ssize_t)length;
}

int
path_uri_normalize(const char *uri, char *ret_uri, size_t capacity)
{
	ssize_t length = 0;

	if (strnlen(uri, PATH_URI_MAX + 1) > PATH_URI_MAX)
		return -ENAMETOOLONG;
	length = join_parts(uri, NULL);
	if (length < 0)
		return (int)length;
	if ((size_t)length >= capacity)
		return -ENAMETOOLONG;
	(void)join_parts(uri, ret_uri);
	return 0;
}

bool
path_uri_is_local(const char *uri)
{
	return uri[0] == '/' ||
	       strncasecmp(uri, file_scheme, strlen(file_scheme)) == 0;
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

/* Resolves %XX, into ret_path if that is not NULL; returns the length, or
 * -EINVAL for a broken escape and for an escaped NUL. */
static ssize_t
resolve_escapes(const char *escaped, char *ret_path)
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
		if (ret_path != NULL)
			ret_path[length] = byte;
		length++;
	}
	if (ret_path != NULL)
		ret_path[length] = '\0';
	return (ssize_t)length;
}

/* The path of a file:// name, still escaped; NULL for another host's file. */
static const char *
skip_scheme(const char *uri)
{
	static const char host[] = "localhost/";
	const char *path = uri + strlen(file_scheme);

	if (strncasecmp(path, host, strlen(host)) == 0)
		path += strlen(host) - 1;
	return path[0] == '/' ? path : NULL;
}

int
path_local(const char *uri, char *ret_path, size_t capacity)
{
	const char *path = uri;
	ssize_t length = 0;

	if (!path_uri_is_local(uri))
		return -EINVAL;
	if (uri[0] == '/') {
		length = (ssize_t)strlen(uri);
	} else {
		path = skip_scheme(uri);
		if (path == NULL)
			return -EINVAL;
		length = resolve_escapes(path, NULL);
	}
	if (length < 0)
		return (int)length;
	if ((size_t)length >= capacity || length > PATH_URI_MAX)
		return -ENAMETOOLONG;
	if (uri[0] == '/')
		memcpy(ret_path, path, (size_t)length + 1);
	else
		(void)resolve_escapes(path, ret_path);
	return 0;
}

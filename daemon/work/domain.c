/* SPDX-License-Identifier: GPL-3.0-or-later */
/* domain.c - which file system a path lies on, told from the list of mounts
 * alone, since a question about the path itself may hang.
 *
 * A line of /proc/self/mountinfo (proc(5)):
 *   36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw
 * The third word is the device of the file system, the fifth where it is
 * mounted, with blank, tab, newline and backslash as octal \040. Of two mounts
 * on one point the later hides the earlier. The domain is the device, so that
 * one dead server mounted in two places is one domain. */
#include "daemon/work/pool.h"

#include <stdlib.h>
#include <string.h>

/* No device has all bits set: major is 12 bits, minor 20. */
static const uint64_t unknown_domain = UINT64_MAX;
static const uint64_t known_bit = UINT64_C(1) << 63;

static bool
is_octal(char character)
{
	return character >= '0' && character <= '7';
}

/* Undoes \ooo in place. */
static void
unescape(char *word)
{
	char *out = word;

	for (; *word != '\0'; word++) {
		if (word[0] == '\\' && is_octal(word[1]) && is_octal(word[2]) &&
		    is_octal(word[3])) {
			*out++ = (char)((word[1] - '0') * 64 +
					(word[2] - '0') * 8 + (word[3] - '0'));
			word += 3;
		} else {
			*out++ = *word;
		}
	}
	*out = '\0';
}

/* Length of point when path is it or lies below it; else -1. */
static ssize_t
match(const char *point, const char *path)
{
	const size_t length = strlen(point);

	if (strcmp(point, "/") == 0)
		return path[0] == '/' ? 1 : -1;
	if (strncmp(point, path, length) != 0)
		return -1;
	return path[length] == '/' || path[length] == '\0' ? (ssize_t)length
							   : -1;
}

/* Cuts the line into what we need of it. False: it is no such line. */
static bool
parse_line(char *line, unsigned *ret_major, unsigned *ret_minor,
	   char **ret_point)
{
	char *save = NULL, *word = strtok_r(line, " ", &save);
	char *device = NULL;
	int i = 0;

	for (i = 0; i < 4 && word != NULL; i++) {
		word = strtok_r(NULL, " ", &save);
		if (i == 1)
			device = word;
	}
	if (word == NULL || device == NULL ||
	    sscanf(device, "%u:%u", ret_major, ret_minor) != 2)
		return false;
	unescape(word);
	*ret_point = word;
	return true;
}

uint64_t
pool_domain_in(FILE *mountinfo, const char *path)
{
	uint64_t domain = unknown_domain;
	unsigned major = 0, minor = 0;
	ssize_t longest = -1, length = 0;
	char *line = NULL, *point = NULL;
	size_t size = 0;

	while (getline(&line, &size, mountinfo) >= 0) {
		if (!parse_line(line, &major, &minor, &point))
			continue;
		length = match(point, path);
		if (length < 0 || length < longest)
			continue;
		longest = length;
		domain = known_bit | (uint64_t)major << 32 | minor;
	}
	free(line);
	return domain;
}

uint64_t
work_domain(const char *path)
{
	FILE *mountinfo = fopen("/proc/self/mountinfo", "re");
	uint64_t domain = 0;

	if (mountinfo == NULL)
		return unknown_domain;
	domain = pool_domain_in(mountinfo, path);
	fclose(mountinfo);
	return domain;
}

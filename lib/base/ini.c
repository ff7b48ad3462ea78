/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ini.c - the reader of configuration files and of key maps.
 *
 * A file is read as a whole and then parsed from memory, so that a file which
 * changes meanwhile is seen as it was at one time. What is not a regular file
 * is refused before it is read: a FIFO would block, a device would act. Every
 * line is checked before anything is done with it; the first error ends it. */
#include "lib/base/ini.h"

#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct parsing {
	const char *path;
	unsigned number;
	char section[INI_LINE_MAX + 1];
	char line[INI_LINE_MAX + 1];
	ini_take *take;
	void *context;
	struct text *error;
};

static bool
is_blank(char character)
{
	return character == ' ' || character == '\t' || character == '\r';
}

/* Without the blanks around it. */
static char *
trim(char *string)
{
	size_t length = 0;

	while (is_blank(*string))
		string++;
	length = strlen(string);
	while (length > 0 && is_blank(string[length - 1]))
		length--;
	string[length] = '\0';
	return string;
}

/* Ends the value where a blank and a semicolon outside of quotes begin a
 * comment. */
static void
cut_comment(char *value)
{
	bool quoted = false;
	char *i = NULL;

	for (i = value; *i != '\0'; i++) {
		if (quoted && *i == '\\' && i[1] != '\0')
			i++;
		else if (*i == '"')
			quoted = !quoted;
		else if (!quoted && *i == ';' &&
			 (i == value || is_blank(i[-1])))
			break;
	}
	*i = '\0';
}

static int
refuse(struct parsing *parsing, const char *why)
{
	struct text reason = {0};

	text_add(&reason, why);
	text_clear(parsing->error);
	text_printf(parsing->error, "%s:%u: ", parsing->path, parsing->number);
	text_add(parsing->error, text_string(&reason));
	text_finish(&reason);
	return -EINVAL;
}

static int
refuse_length(struct parsing *parsing)
{
	char why[64];

	snprintf(why, sizeof(why), "the line is longer than %d bytes",
		 INI_LINE_MAX);
	return refuse(parsing, why);
}

static int
hand_on(struct parsing *parsing, const char *name, const char *value)
{
	const struct ini_line line = {
		.path = parsing->path,
		.number = parsing->number,
		.section = parsing->section,
		.name = name,
		.value = value,
	};
	struct text why = {0};
	int result = parsing->take(parsing->context, &line, &why);

	if (result < 0 && result != -ENOMEM)
		refuse(parsing, text_string(&why));
	text_finish(&why);
	return result;
}

static int
take_section(struct parsing *parsing, char *line)
{
	char *end = NULL, *name = NULL, *rest = NULL;

	cut_comment(line);
	end = strrchr(line, ']');
	rest = end != NULL ? trim(end + 1) : NULL;
	if (rest == NULL || (*rest != '\0' && *rest != '#'))
		return refuse(parsing, "a section is \"[name]\" on a line of "
				       "its own");
	*end = '\0';
	name = trim(line + 1);
	if (*name == '\0')
		return refuse(parsing, "this section has no name");
	memmove(parsing->section, name, strlen(name) + 1);
	return hand_on(parsing, NULL, NULL);
}

static int
take_line(struct parsing *parsing, char *line)
{
	char *equals = NULL, *name = NULL, *value = NULL;

	line = trim(line);
	if (*line == '\0' || *line == '#' || *line == ';')
		return 0;
	if (*line == '[')
		return take_section(parsing, line);
	equals = strchr(line, '=');
	if (equals == NULL || equals == line)
		return refuse(parsing, "this is neither \"name = value\" nor "
				       "\"[section]\" nor a comment (#)");
	*equals = '\0';
	name = trim(line);
	value = equals + 1;
	cut_comment(value);
	return hand_on(parsing, name, trim(value));
}

static int
parse_all(struct parsing *parsing, const char *bytes, size_t length)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of some editors */
	size_t i = 0;
	int result = 0;

	if (length >= 3 && memcmp(bytes, mark, 3) == 0)
		i = 3;
	while (i < length && result == 0) {
		const char *newline = memchr(bytes + i, '\n', length - i);
		const size_t end =
			newline != NULL ? (size_t)(newline - bytes) : length;

		parsing->number++;
		if (end - i > INI_LINE_MAX)
			return refuse_length(parsing);
		if (!utf8_valid(bytes + i, end - i))
			return refuse(parsing,
				      "the line is not valid UTF-8 text");
		memcpy(parsing->line, bytes + i, end - i);
		parsing->line[end - i] = '\0';
		result = take_line(parsing, parsing->line);
		i = end + 1;
	}
	return result;
}

int
ini_parse(const char *path, const char *bytes, size_t length, ini_take *take,
	  void *context, struct text *ret_error)
{
	struct parsing *parsing = calloc(1, sizeof(*parsing));
	int result = 0;

	if (parsing == NULL)
		return -ENOMEM;
	parsing->path = path;
	parsing->take = take;
	parsing->context = context;
	parsing->error = ret_error;
	result = parse_all(parsing, bytes, length);
	free(parsing);
	return result;
}

static int
read_all(int file, struct text *ret_bytes)
{
	char block[2048];
	ssize_t got = 0;

	for (;;) {
		got = read(file, block, sizeof(block));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		text_add_bytes(ret_bytes, block, (size_t)got);
		if (ret_bytes->length > INI_FILE_MAX)
			return -EINVAL;
	}
	if (got < 0)
		return -errno;
	return ret_bytes->failed ? -ENOMEM : 0;
}

static int
describe(const char *path, const char *why, struct text *ret_error)
{
	text_clear(ret_error);
	text_printf(ret_error, "%s: %s", path, why);
	return -EINVAL;
}

int
ini_read(const char *path, struct text *ret_bytes, bool *ret_trusted,
	 struct text *ret_error)
{
	/* Not to wait for a FIFO's writer. */
	const int file =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	int result = 0;

	if (file < 0)
		return -errno;
	text_clear(ret_bytes);
	if (fstat(file, &status) < 0)
		result = -errno;
	else if (!S_ISREG(status.st_mode))
		result = describe(path, "this is no regular file", ret_error);
	else
		result = read_all(file, ret_bytes);
	if (result == -EINVAL && ret_bytes->length > INI_FILE_MAX)
		describe(path, "a file of more than 1 MiB is no such file",
			 ret_error);
	close(file);
	if (result == 0 && ret_trusted != NULL)
		*ret_trusted =
			(status.st_uid == 0 || status.st_uid == geteuid()) &&
			(status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
	return result;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf_file.c - the configuration file, an INI file read by libinih.
 *
 * The library is lenient where we are not: it splits lines that are too long
 * for it, takes an indented line for a second value of the name before, and
 * passes over sections without options. So the reader that feeds it refuses
 * what is too long or no text, takes indentation away and looks at section
 * lines itself; the handler refuses a name that comes twice. The first error
 * ends the file: the reader acts as if it were over. */
#include "lib/base/conf_parts.h"

#include "lib/base/text.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>

struct reading {
	struct conf *conf;
	FILE *file;
	const char *path;
	unsigned line;
	int result;
	struct text *error;
	bool seen[CONF_OPTION_COUNT];
};

static void
begin_error(struct reading *reading)
{
	reading->result = -EINVAL;
	text_printf(reading->error, "%s:%u: ", reading->path, reading->line);
}

static void
fail(struct reading *reading, const char *why)
{
	begin_error(reading);
	text_add(reading->error, why);
}

/* Reads one line of at most room - 1 bytes, newline included, its indentation
 * left out. False at the end of the file and on errors. */
static bool
read_line(struct reading *reading, char *line, size_t room)
{
	size_t length = 0;
	int byte = EOF;

	reading->line++;
	while (length < room - 1) {
		byte = getc(reading->file);
		if (byte == EOF || byte == '\n')
			break;
		if (length > 0 || (byte != ' ' && byte != '\t'))
			line[length++] = (char)byte;
	}
	if (ferror(reading->file)) {
		reading->result = errno != 0 ? -errno : -EIO;
		return false;
	}
	if (byte != '\n' && byte != EOF) {
		begin_error(reading);
		text_printf(reading->error,
			    "the line is longer than %zu bytes; give this "
			    "option on the command line instead",
			    room - 2);
		return false;
	}
	if (!utf8_valid(line, length)) {
		fail(reading, "the line is not valid UTF-8 text");
		return false;
	}
	if (byte == EOF && length == 0)
		return false;
	line[length] = '\n';
	line[length + 1] = '\0';
	return true;
}

/* A line that begins with '[' must be "[section]" with a section we know. */
static bool
check_section(struct reading *reading, const char *line)
{
	const char *end = strchr(line, ']');
	enum conf_option ignored;
	const char *rest = NULL;
	struct text why = {0};
	int i = 0, result = -ENOENT;

	rest = end != NULL ? end + 1 + strspn(end + 1, " \t\r\n") : "[";
	if (*rest != '\0' && *rest != ';' && *rest != '#') {
		fail(reading, "a section is \"[name]\" on a line of its own");
		return false;
	}
	for (i = 0; i < CONF_OPTION_COUNT && result < 0; i++) {
		text_clear(&why);
		result = conf_find(line + 1, (size_t)(end - line - 1),
				   conf_specs[i].name, &ignored, &why);
	}
	if (result < 0)
		fail(reading, text_string(&why));
	text_finish(&why);
	return result == 0;
}

static char *
feed_line(char *line, int room, void *context)
{
	struct reading *reading = context;

	if (reading->result < 0 || !read_line(reading, line, (size_t)room))
		return NULL;
	if (line[0] == '[' && !check_section(reading, line))
		return NULL;
	return line;
}

static int
take_value(void *context, const char *section, const char *name,
	   const char *value)
{
	struct reading *reading = context;
	struct text why = {0};
	enum conf_option option;
	int result = 0;

	result = conf_find(section, strlen(section), name, &option, &why);
	if (result == -ENOENT)
		result = -EINVAL;
	if (result == 0 && reading->seen[option]) {
		text_printf(&why, "%s.%s is set a second time", section, name);
		result = -EINVAL;
	}
	if (result == 0) {
		reading->seen[option] = true;
		result = conf_put(reading->conf, option, value,
				  CONF_ORIGIN_FILE, &why);
	}
	if (result == -EINVAL)
		fail(reading, text_string(&why));
	text_finish(&why);
	if (result < 0)
		reading->result = result;
	return result == 0;
}

int
conf_read_file(struct conf *conf, const char *path, struct text *ret_error)
{
	struct reading reading = {.conf = conf,
				  .path = path,
				  .error = ret_error,
				  .file = fopen(path, "re")};
	int bad_line = 0;

	if (reading.file == NULL)
		return -errno;
	errno = 0;
	bad_line = ini_parse_stream(feed_line, &reading, take_value, &reading);
	fclose(reading.file);
	/* A line that the library did not like, and passed over, comes first
	 * if it came first. */
	if ((reading.result == 0 || reading.result == -EINVAL) &&
	    bad_line > 0 &&
	    (reading.result == 0 || (unsigned)bad_line < reading.line)) {
		text_clear(ret_error);
		reading.line = (unsigned)bad_line;
		fail(&reading, "this is neither \"name = value\" nor "
			       "\"[section]\" nor a comment (#)");
	}
	return reading.result;
}

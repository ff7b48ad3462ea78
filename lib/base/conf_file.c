/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf_file.c - the configuration file: lines of ini.h as options. A name that
 * comes twice is refused, as is a section without any option of ours. */
#include "lib/base/conf_parts.h"

#include "lib/base/ini.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct conf *conf;
	bool *seen; /* an option each */
};

static int
take_line(void *context, const struct ini_line *line, struct text *ret_error)
{
	const struct reading *reading = context;
	const struct conf_schema *schema = reading->conf->schema;
	const size_t length = strlen(line->section);
	int option = 0;

	if (line->name == NULL)
		return conf_find_section(schema, line->section, length,
					 ret_error) < 0
			       ? -EINVAL
			       : 0;
	option =
		conf_find(schema, line->section, length, line->name, ret_error);
	if (option < 0)
		return -EINVAL;
	if (reading->seen[option]) {
		text_printf(ret_error, "%s.%s is set a second time",
			    line->section, line->name);
		return -EINVAL;
	}
	reading->seen[option] = true;
	return conf_put(reading->conf, option, line->value, CONF_ORIGIN_FILE,
			ret_error);
}

int
conf_read_file(struct conf *conf, const char *path, struct text *ret_error)
{
	struct reading reading = {.conf = conf,
				  .seen = calloc((size_t)conf->schema->count,
						 sizeof(*reading.seen))};
	struct text bytes = {0};
	int result = -ENOMEM;

	if (reading.seen != NULL)
		result = ini_read(path, &bytes, NULL, ret_error);
	if (result == 0)
		result = ini_parse(path, text_string(&bytes), bytes.length,
				   take_line, &reading, ret_error);
	text_finish(&bytes);
	free(reading.seen);
	return result;
}

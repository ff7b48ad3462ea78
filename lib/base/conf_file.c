/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf_file.c - the configuration file: lines of ini.h as options. A name that
 * comes twice is refused, as is a section without any option of ours. */
#include "lib/base/conf_parts.h"

#include "lib/base/ini.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

/* Where a section's options are: conf, or a further one. ret_section: as the
 * table names it. */
static int
find_owner(struct conf *conf, const struct ini_line *line,
	   struct conf **ret_owner, const char **ret_section,
	   struct text *ret_error)
{
	const char *name = conf_further_name(conf->schema, line->section);

	*ret_owner = conf;
	*ret_section = line->section;
	if (name == NULL)
		return 0;
	*ret_section = conf->schema->further.section;
	return conf_further_get(conf, name, strlen(name), ret_owner, ret_error);
}

static int
begin_section(struct conf *conf, struct conf *owner,
	      const struct ini_line *line, struct text *ret_error)
{
	if (owner == conf)
		return conf_find_section(conf->schema, line->section,
					 strlen(line->section), ret_error) < 0
			       ? -EINVAL
			       : 0;
	if (owner->line != 0) {
		text_printf(ret_error, "[%s] begins a second time",
			    line->section);
		return -EINVAL;
	}
	owner->line = line->number;
	return 0;
}

static int
take_line(void *context, const struct ini_line *line, struct text *ret_error)
{
	struct conf *conf = context, *owner = NULL;
	const char *section = NULL;
	int option = 0, result = 0;

	result = find_owner(conf, line, &owner, &section, ret_error);
	if (result < 0)
		return result;
	if (line->name == NULL)
		return begin_section(conf, owner, line, ret_error);
	option = conf_find(conf->schema, section, strlen(section), line->name,
			   ret_error);
	if (option < 0)
		return -EINVAL;
	if (owner->values[option].in_file) {
		text_printf(ret_error, "%s.%s is set a second time",
			    line->section, line->name);
		return -EINVAL;
	}
	result = conf_put(owner, option, line->value, CONF_ORIGIN_FILE,
			  ret_error);
	owner->values[option].in_file = true;
	return result;
}

int
conf_read_file(struct conf *conf, const char *path, struct text *ret_error)
{
	struct text bytes = {0};
	int result = ini_read(path, &bytes, NULL, ret_error);

	if (result == 0)
		result = ini_parse(path, text_string(&bytes), bytes.length,
				   take_line, conf, ret_error);
	text_finish(&bytes);
	return result;
}

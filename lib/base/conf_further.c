/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf_further.c - sections that there may be more of, [output NAME].
 *
 * Each is a struct conf of its own within the first, with values for all
 * options, of which only those of its section are ever set. It comes to be with
 * the first word about it; the command line is read before the file, so at the
 * end they are put into the file's order. */
#include "lib/base/conf_parts.h"

#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *
conf_further_name(const struct conf_schema *schema, const char *section)
{
	size_t length = 0;

	if (schema->further.section == NULL)
		return NULL;
	length = strlen(schema->further.section);
	if (strncmp(section, schema->further.section, length) != 0 ||
	    (section[length] != ' ' && section[length] != '\t'))
		return NULL;
	section += length;
	return section + strspn(section, " \t");
}

/* Clients show it, state.db keeps it, a shell has to pass it on. */
static bool
is_good_name(const char *name, size_t length)
{
	size_t i = 0;

	if (length == 0 || length > CONF_NAME_MAX || name[0] == ' ' ||
	    name[length - 1] == ' ')
		return false;
	for (i = 0; i < length; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f ||
		    strchr("[]\"\\=", name[i]) != NULL)
			return false;
	return utf8_valid(name, length);
}

static int
refuse_name(const struct conf *conf, const char *name, size_t length,
	    struct text *ret_error)
{
	text_printf(ret_error,
		    "the name of an %s is of 1 to %d bytes, without "
		    "[ ] \" \\ and =, not \"",
		    conf->schema->further.section, CONF_NAME_MAX);
	text_add_clean(ret_error, name, length, 100);
	text_add_char(ret_error, '"');
	return -EINVAL;
}

static int
make(struct conf *conf, const char *name, size_t length,
     struct conf **ret_further, struct text *ret_error)
{
	const struct conf_further *rules = &conf->schema->further;
	struct conf *further = conf_create(conf->schema, ret_error);

	if (further == NULL)
		return -ENOMEM;
	further->name = strndup(name, length);
	if (further->name == NULL ||
	    conf_put(further, rules->preset_no, "no", CONF_ORIGIN_PRESET,
		     ret_error) < 0) {
		conf_destroy(further);
		return -ENOMEM;
	}
	conf->further[conf->further_count++] = further;
	*ret_further = further;
	return 0;
}

int
conf_further_get(struct conf *conf, const char *name, size_t length,
		 struct conf **ret_further, struct text *ret_error)
{
	int i = 0;

	for (i = 0; i < conf->further_count; i++) {
		struct conf *further = conf->further[i];

		if (strlen(further->name) != length ||
		    memcmp(further->name, name, length) != 0)
			continue;
		*ret_further = further;
		return 0;
	}
	if (!is_good_name(name, length))
		return refuse_name(conf, name, length, ret_error);
	if (conf->further_count == CONF_FURTHER_MAX) {
		text_printf(ret_error,
			    "there may be %d further sections [%s NAME], not "
			    "more",
			    CONF_FURTHER_MAX, conf->schema->further.section);
		return -EINVAL;
	}
	return make(conf, name, length, ret_further, ret_error);
}

static bool
comes_before(const struct conf *a, const struct conf *b)
{
	return a->line != 0 && (b->line == 0 || a->line < b->line);
}

void
conf_further_sort(struct conf *conf)
{
	int i = 0, k = 0;

	for (i = 1; i < conf->further_count; i++) {
		struct conf *moved = conf->further[i];

		for (k = i; k > 0 && comes_before(moved, conf->further[k - 1]);
		     k--)
			conf->further[k] = conf->further[k - 1];
		conf->further[k] = moved;
	}
}

int
conf_further_count(const struct conf *conf)
{
	return conf->further_count;
}

const struct conf *
conf_further_at(const struct conf *conf, int i)
{
	return conf->further[i];
}

const char *
conf_name(const struct conf *conf)
{
	return conf->name;
}

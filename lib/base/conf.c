/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf.c - the values of the options of a table.
 *
 * conf_load() starts from the presets, then reads the command line, then the
 * file that it may have named; a value from the file does not replace one from
 * the command line, but is checked all the same. conf_value.c knows what a
 * value may be, conf_file.c and conf_args.c where values come from,
 * conf_print.c shows the table. */
#include "lib/base/conf_parts.h"

#include "lib/base/places.h"
#include "lib/base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int
put_presets(struct conf *conf, struct text *ret_error)
{
	int option = 0, result = 0;

	for (option = 0; option < conf->schema->count; option++) {
		result = conf_put(conf, option,
				  conf->schema->specs[option].preset,
				  CONF_ORIGIN_PRESET, ret_error);
		if (result < 0)
			return result;
	}
	return 0;
}

static int
set_error(struct text *ret_error, int error, const char *path)
{
	text_clear(ret_error);
	text_printf(ret_error, "cannot read %s: %s", path,
		    text_of_error(error));
	return error;
}

/* A file in a folder that may not be searched is as good as none: a service
 * may have been shut out of its user's home. */
static bool
is_absent(const char *path, int error)
{
	struct stat status;

	return error == -ENOENT || error == -ENOTDIR ||
	       (error == -EACCES && stat(path, &status) < 0);
}

/* Reads path if it is there: 1 then, 0 when it is not, or -errno. */
static int
try_file(struct conf *conf, const char *path, struct text *ret_error)
{
	const int result = conf_read_file(conf, path, ret_error);

	if (is_absent(path, result))
		return 0;
	if (result < 0 && ret_error->length == 0)
		return set_error(ret_error, result, path);
	if (result < 0)
		return result;
	conf->file = strdup(path);
	return conf->file != NULL ? 1 : -ENOMEM;
}

static int
read_default_file(struct conf *conf, struct text *ret_error)
{
	struct text path = {0};
	int result = 0;

	places_add_config_home(&path);
	text_printf(&path, "/rotary/%s", conf->schema->file);
	result = path.failed ? -ENOMEM
			     : try_file(conf, text_string(&path), ret_error);
	if (result == 0) {
		text_clear(&path);
		text_printf(&path, "/etc/rotary/%s", conf->schema->file);
		result = path.failed ? -ENOMEM
				     : try_file(conf, text_string(&path),
						ret_error);
	}
	text_finish(&path);
	return result < 0 ? result : 0;
}

static int
read_named_file(struct conf *conf, const char *path, struct text *ret_error)
{
	const int result = try_file(conf, path, ret_error);

	if (result == 0) {
		text_clear(ret_error);
		text_printf(ret_error,
			    "--config: there is no file %s that can be read",
			    path);
		return -ENOENT;
	}
	return result < 0 ? result : 0;
}

struct conf *
conf_create(const struct conf_schema *schema, struct text *ret_error)
{
	struct conf *conf =
		calloc(1, sizeof(*conf) + (size_t)schema->count *
						  sizeof(conf->values[0]));

	if (conf == NULL)
		return NULL;
	conf->schema = schema;
	if (put_presets(conf, ret_error) < 0) {
		conf_destroy(conf);
		return NULL;
	}
	return conf;
}

/* The whole, when all has been read. */
static int
check(struct conf *conf, struct text *ret_error)
{
	const struct conf *about = NULL;
	struct text why = {0};
	int result = 0;

	conf_further_sort(conf);
	if (conf->schema->check != NULL)
		result = conf->schema->check(conf, &about, &why);
	if (result == -EINVAL && about != NULL && about->line != 0)
		text_printf(ret_error, "%s:%u: ", conf->file, about->line);
	text_add(ret_error, text_string(&why));
	text_finish(&why);
	return result;
}

int
conf_load(const struct conf_schema *schema, int argc, char *const argv[],
	  struct conf **ret_conf, int *ret_action, struct text *ret_error)
{
	struct conf *conf = NULL;
	const char *config = NULL;
	int action = CONF_RUN, result = -ENOMEM;

	text_clear(ret_error);
	conf = conf_create(schema, ret_error);
	if (conf == NULL)
		goto out;
	result = conf_read_arguments(conf, argc, argv, &config, &action,
				     ret_error);
	if (result < 0 || action == CONF_SHOW_HELP ||
	    action == CONF_SHOW_VERSION)
		goto out;
	if (config != NULL)
		result = read_named_file(conf, config, ret_error);
	else
		result = read_default_file(conf, ret_error);
	if (result == 0)
		result = check(conf, ret_error);
out:
	if (result == -ENOMEM) {
		text_clear(ret_error);
		text_add(ret_error, "out of memory");
	}
	if (result < 0) {
		conf_destroy(conf);
		return result;
	}
	*ret_conf = conf;
	*ret_action = action;
	return 0;
}

void
conf_destroy(struct conf *conf)
{
	int option = 0;

	if (conf == NULL)
		return;
	for (option = 0; option < conf->schema->count; option++)
		free(conf->values[option].text);
	while (conf->further_count > 0)
		conf_destroy(conf->further[--conf->further_count]);
	free(conf->name);
	free(conf->argument);
	free(conf->file);
	free(conf);
}

/* Only asserts ask. */
static inline enum conf_kind
kind_of(const struct conf *conf, int option)
{
	return conf->schema->specs[option].kind;
}

int64_t
conf_int(const struct conf *conf, int option)
{
	assert(kind_of(conf, option) == CONF_KIND_INT ||
	       kind_of(conf, option) == CONF_KIND_COUNT);
	return conf->values[option].number;
}

bool
conf_bool(const struct conf *conf, int option)
{
	assert(kind_of(conf, option) == CONF_KIND_BOOL);
	return conf->values[option].number != 0;
}

const char *
conf_text(const struct conf *conf, int option)
{
	return conf->values[option].text;
}

int
conf_choice(const struct conf *conf, int option)
{
	assert(kind_of(conf, option) == CONF_KIND_CHOICE);
	return (int)conf->values[option].number;
}

bool
conf_is_set(const struct conf *conf, int option)
{
	return conf->values[option].origin != CONF_ORIGIN_PRESET;
}

const char *
conf_file(const struct conf *conf)
{
	return conf->file;
}

const char *
conf_argument(const struct conf *conf)
{
	return conf->argument;
}

int
conf_set(struct conf *conf, int option, const char *value,
	 struct text *ret_error)
{
	return conf_put(conf, option, value, CONF_ORIGIN_ARGUMENT, ret_error);
}

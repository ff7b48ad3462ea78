/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf_args.c - the command line.
 *
 * Every argument is "--name VALUE" or "--name=VALUE"; the name is that of an
 * option, "section.name" or where there is one section "name", of a further
 * section "section.NAME.name", or one that is on the command line only. */
#include "lib/base/conf_parts.h"

#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
	struct conf *conf;
	const struct conf_schema *schema;
	const char *config;
	int action;
	struct text *error;
};

/* Those that each program has. The first one's value is not kept by conf. */
static const struct conf_argument config_argument = {
	.name = "config",
	.value = "FILE",
	.help = "read FILE instead of the usual places"};
static const struct conf_argument help_argument = {
	.name = "help", .help = "show this and end", .action = CONF_SHOW_HELP};
static const struct conf_argument version_argument = {
	.name = "version",
	.help = "show the version and end",
	.action = CONF_SHOW_VERSION};

/* NULL after the last. */
static const struct conf_argument *
argument_at(const struct conf_schema *schema, int i)
{
	if (i == 0)
		return &config_argument;
	if (i <= schema->argument_count)
		return &schema->arguments[i - 1];
	if (i == schema->argument_count + 1)
		return &help_argument;
	return i == schema->argument_count + 2 ? &version_argument : NULL;
}

static const struct conf_argument *
find_argument(const struct conf_schema *schema, const char *name)
{
	const struct conf_argument *argument = NULL;
	int i = 0;

	while ((argument = argument_at(schema, i++)) != NULL)
		if (strcmp(argument->name, name) == 0)
			break;
	return argument;
}

static int
find_option(const struct conf_schema *schema, const char *name)
{
	const char *section = schema->section, *dot = strchr(name, '.');
	struct text ignored = {0};
	int option = -ENOENT;

	if (section != NULL)
		option = conf_find(schema, section, strlen(section), name,
				   &ignored);
	else if (dot != NULL)
		option = conf_find(schema, name, (size_t)(dot - name), dot + 1,
				   &ignored);
	text_finish(&ignored);
	return option;
}

/* "SECTION.NAME.OPTION", where there may be further ones: the option, and
 * *ret_owner. -ENOENT; -EINVAL with the reason added, -ENOMEM. */
static int
find_further(struct conf *conf, const char *name, struct conf **ret_owner,
	     struct text *ret_error)
{
	const struct conf_schema *schema = conf->schema;
	const char *section = schema->further.section, *dot = strchr(name, '.');
	const char *last = strrchr(name, '.');
	struct text ignored = {0};
	int option = -ENOENT, result = 0;

	if (section == NULL || dot == last ||
	    strlen(section) != (size_t)(dot - name) ||
	    strncmp(section, name, strlen(section)) != 0)
		return -ENOENT;
	option =
		conf_find(schema, section, strlen(section), last + 1, &ignored);
	text_finish(&ignored);
	if (option < 0)
		return option;
	result = conf_further_get(conf, dot + 1, (size_t)(last - dot - 1),
				  ret_owner, ret_error);
	return result < 0 ? result : option;
}

static int
refuse(struct arguments *arguments, const char *argument, const char *why)
{
	text_clear(arguments->error);
	if (argument[0] != '-')
		text_add(arguments->error, "--");
	text_add_clean(arguments->error, argument, strlen(argument), 100);
	text_printf(arguments->error, "%s; %s --help shows what there is", why,
		    arguments->schema->program);
	return -EINVAL;
}

static int
keep(struct conf *conf, const char *value)
{
	free(conf->argument);
	conf->argument = strdup(value);
	return conf->argument != NULL ? 0 : -ENOMEM;
}

static int
take_known(struct arguments *arguments, const struct conf_argument *known,
	   const char *value)
{
	if (known->action != CONF_RUN)
		arguments->action = known->action;
	if (known == &config_argument)
		arguments->config = value;
	else if (known->take != NULL)
		return known->take(arguments->conf, value, arguments->error);
	else if (known->value != NULL)
		return keep(arguments->conf, value);
	return 0;
}

/* One argument without its dashes: name, and value or NULL where there was no
 * "=". next is the argument after it, or NULL. Returns how many arguments
 * were used, or -errno. */
static int
take_argument(struct arguments *arguments, const char *name, const char *value,
	      const char *next)
{
	const struct conf_argument *known =
		find_argument(arguments->schema, name);
	struct conf *owner = arguments->conf;
	const int used = value == NULL ? 2 : 1;
	int option = 0, result = 0;

	if (known != NULL && known->value == NULL) {
		if (value != NULL)
			return refuse(arguments, name, " takes no value");
		result = take_known(arguments, known, NULL);
		return result < 0 ? result : 1;
	}
	if (known == NULL)
		option = find_option(arguments->schema, name);
	if (option < 0)
		option = find_further(arguments->conf, name, &owner,
				      arguments->error);
	if (option == -ENOENT)
		return refuse(arguments, name, " is no option");
	if (option < 0)
		return option;
	if (value == NULL)
		value = next;
	if (value == NULL)
		return refuse(arguments, name, " needs a value");
	if (known != NULL)
		result = take_known(arguments, known, value);
	else
		result = conf_set(owner, option, value, arguments->error);
	return result < 0 ? result : used;
}

int
conf_read_arguments(struct conf *conf, int argc, char *const argv[],
		    const char **ret_config, int *ret_action,
		    struct text *ret_error)
{
	struct arguments arguments = {.conf = conf,
				      .schema = conf->schema,
				      .action = CONF_RUN,
				      .error = ret_error};
	int i = 0, used = 0;

	for (i = 1; i < argc; i += used) {
		const char *equals = NULL;
		char *name = NULL;

		if (strncmp(argv[i], "--", 2) != 0)
			return refuse(&arguments, argv[i], " is no option");
		equals = strchr(argv[i], '=');
		name = equals != NULL ? strndup(argv[i] + 2,
						(size_t)(equals - argv[i] - 2))
				      : strdup(argv[i] + 2);
		if (name == NULL)
			return -ENOMEM;
		used = take_argument(&arguments, name,
				     equals != NULL ? equals + 1 : NULL,
				     i + 1 < argc ? argv[i + 1] : NULL);
		free(name);
		if (used < 0)
			return used;
	}
	*ret_config = arguments.config;
	*ret_action = arguments.action;
	return 0;
}

void
conf_add_arguments(const struct conf_schema *schema, struct text *text)
{
	const struct conf_argument *argument = NULL;
	int i = 0;

	while ((argument = argument_at(schema, i++)) != NULL) {
		struct text left = {0};

		text_printf(&left, "--%s%s%s", argument->name,
			    argument->value != NULL ? " " : "",
			    argument->value != NULL ? argument->value : "");
		text_printf(text, "  %-26s %s\n", text_string(&left),
			    argument->help);
		text_finish(&left);
	}
}

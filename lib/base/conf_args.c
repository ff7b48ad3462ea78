/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf_args.c - the command line of rotaryd.
 *
 * Every argument is "--name VALUE" or "--name=VALUE"; the name is that of an
 * option, "section.name", or one of the short ones in the table here. */
#include "lib/base/conf_parts.h"

#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
	struct conf *conf;
	const char *config;
	enum conf_action action;
	struct text *error;
};

static int
put(struct arguments *arguments, enum conf_option option, const char *value)
{
	return conf_put(arguments->conf, option, value, CONF_ORIGIN_ARGUMENT,
			arguments->error);
}

static int
take_config(struct arguments *arguments, const char *value)
{
	arguments->config = value;
	return 0;
}

static int
take_music(struct arguments *arguments, const char *value)
{
	return put(arguments, CONF_LIBRARY_MUSIC, value);
}

static int
take_socket(struct arguments *arguments, const char *value)
{
	return put(arguments, CONF_SERVER_SOCKET, value);
}

/* DRIVER:DEVICE. Without a device, the configured one stays where it can be
 * meant for this driver: a card's name is no file and no name for null. */
static int
take_output(struct arguments *arguments, const char *value)
{
	const size_t length = strcspn(value, ":");
	char *driver = strndup(value, length);
	int result = 0;

	if (driver == NULL)
		return -ENOMEM;
	result = put(arguments, CONF_OUTPUT_DRIVER, driver);
	if (result == 0 && value[length] == ':')
		result = put(arguments, CONF_OUTPUT_DEVICE, value + length + 1);
	else if (result == 0 && strcmp(driver, "alsa") != 0 &&
		 strcmp(driver, "auto") != 0)
		result = put(arguments, CONF_OUTPUT_DEVICE, "");
	free(driver);
	return result;
}

static int
take_check(struct arguments *arguments, const char *value)
{
	(void)value;
	arguments->action = CONF_CHECK;
	return 0;
}

static int
take_help(struct arguments *arguments, const char *value)
{
	(void)value;
	arguments->action = CONF_SHOW_HELP;
	return 0;
}

static int
take_version(struct arguments *arguments, const char *value)
{
	(void)value;
	arguments->action = CONF_SHOW_VERSION;
	return 0;
}

struct short_option {
	const char *name;
	const char *value; /* what --help calls it; NULL: takes none */
	const char *help;
	int (*take)(struct arguments *arguments, const char *value);
};

static const struct short_option short_options[] = {
	{"config", "FILE", "read FILE instead of the usual places",
	 take_config},
	{"music", "DIR", "the same as --library.music", take_music},
	{"socket", "PATH", "the same as --server.socket", take_socket},
	{"output", "DRIVER[:DEVICE]",
	 "the same as --output.driver and --output.device", take_output},
	{"check-config", NULL, "read the configuration, report and end",
	 take_check},
	{"help", NULL, "show this and end", take_help},
	{"version", NULL, "show the version and end", take_version},
};
enum { SHORT_OPTION_COUNT = sizeof(short_options) / sizeof(short_options[0]) };

static const struct short_option *
find_short(const char *name)
{
	size_t i = 0;

	for (i = 0; i < SHORT_OPTION_COUNT; i++)
		if (strcmp(short_options[i].name, name) == 0)
			return &short_options[i];
	return NULL;
}

static int
refuse(struct arguments *arguments, const char *argument, const char *why)
{
	text_clear(arguments->error);
	if (argument[0] != '-')
		text_add(arguments->error, "--");
	text_add_clean(arguments->error, argument, strlen(argument), 100);
	text_add(arguments->error, why);
	text_add(arguments->error, "; rotaryd --help shows what there is");
	return -EINVAL;
}

static int
take_long(struct arguments *arguments, const char *name, const char *value)
{
	const char *dot = strchr(name, '.');
	enum conf_option option;

	if (dot == NULL || conf_find(name, (size_t)(dot - name), dot + 1,
				     &option, arguments->error) < 0)
		return -ENOENT;
	return put(arguments, option, value);
}

/* One argument without its dashes: name, and value or NULL where there was no
 * "=". next is the argument after it, or NULL. Returns how many arguments
 * were used, or -errno. */
static int
take_argument(struct arguments *arguments, const char *name, const char *value,
	      const char *next)
{
	const struct short_option *known = find_short(name);
	const int used = value == NULL ? 2 : 1;
	int result = 0;

	if (known != NULL && known->value == NULL) {
		if (value != NULL)
			return refuse(arguments, name, " takes no value");
		result = known->take(arguments, NULL);
		return result < 0 ? result : 1;
	}
	if (value == NULL)
		value = next;
	if (value == NULL && (known != NULL || strchr(name, '.') != NULL))
		return refuse(arguments, name, " needs a value");
	if (known != NULL)
		result = known->take(arguments, value);
	else
		result = take_long(arguments, name, value);
	if (result == -ENOENT)
		return refuse(arguments, name, " is no option");
	return result < 0 ? result : used;
}

int
conf_read_arguments(struct conf *conf, int argc, char *const argv[],
		    const char **ret_config, enum conf_action *ret_action,
		    struct text *ret_error)
{
	struct arguments arguments = {
		.conf = conf, .action = CONF_RUN, .error = ret_error};
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
conf_add_short_help(struct text *text)
{
	size_t i = 0;

	for (i = 0; i < SHORT_OPTION_COUNT; i++) {
		const struct short_option *option = &short_options[i];
		struct text left = {0};

		text_printf(&left, "--%s%s%s", option->name,
			    option->value != NULL ? " " : "",
			    option->value != NULL ? option->value : "");
		text_printf(text, "  %-26s %s\n", text_string(&left),
			    option->help);
		text_finish(&left);
	}
}

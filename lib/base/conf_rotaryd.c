/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf_rotaryd.c - rotaryd's options as data, and the shorter names that some
 * of them have on its command line. */
#include "lib/base/conf.h"

#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
take_music(struct conf *conf, const char *value, struct text *ret_error)
{
	return conf_set(conf, CONF_LIBRARY_MUSIC, value, ret_error);
}

static int
take_socket(struct conf *conf, const char *value, struct text *ret_error)
{
	return conf_set(conf, CONF_SERVER_SOCKET, value, ret_error);
}

/* DRIVER:DEVICE. Without a device, the configured one stays where it can be
 * meant for this driver: a card's name is no file and no name for null. */
static int
take_output(struct conf *conf, const char *value, struct text *ret_error)
{
	const size_t length = strcspn(value, ":");
	char *driver = strndup(value, length);
	int result = 0;

	if (driver == NULL)
		return -ENOMEM;
	result = conf_set(conf, CONF_OUTPUT_DRIVER, driver, ret_error);
	if (result == 0 && value[length] == ':')
		result = conf_set(conf, CONF_OUTPUT_DEVICE, value + length + 1,
				  ret_error);
	else if (result == 0 && strcmp(driver, "alsa") != 0 &&
		 strcmp(driver, "auto") != 0)
		result = conf_set(conf, CONF_OUTPUT_DEVICE, "", ret_error);
	free(driver);
	return result;
}

static const struct conf_spec specs[CONF_OPTION_COUNT] = {
#define X(id, section, name, kind, unit, min, max, preset, help)               \
	[CONF_##id] =                                                          \
		CONF_SPEC(section, name, kind, unit, min, max, preset, help),
#include "lib/base/options.def"
#undef X
};

static const struct conf_argument arguments[] = {
	{.name = "music",
	 .value = "DIR",
	 .help = "the same as --library.music",
	 .take = take_music},
	{.name = "socket",
	 .value = "PATH",
	 .help = "the same as --server.socket",
	 .take = take_socket},
	{.name = "output",
	 .value = "DRIVER[:DEVICE]",
	 .help = "the same as --output.driver and --output.device",
	 .take = take_output},
	{.name = "check-config",
	 .help = "read the configuration, report and end",
	 .action = CONF_CHECK},
};

/* auto may come to be either of them. */
static bool
is_driver(const struct conf *conf, const char *driver)
{
	const char *own = conf_text(conf, CONF_OUTPUT_DRIVER);

	if (strcmp(own, "auto") == 0)
		return strcmp(driver, "alsa") == 0 ||
		       strcmp(driver, "null") == 0;
	return strcmp(own, driver) == 0;
}

/* As the driver takes it. */
static const char *
device_of(const struct conf *conf)
{
	const char *device = conf_text(conf, CONF_OUTPUT_DEVICE);

	if (device[0] != '\0')
		return device;
	if (is_driver(conf, "wav"))
		return "rotary.wav";
	return is_driver(conf, "pipe") ? "-" : "default";
}

/* null has none, and any number of those may be. */
static bool
same_device(const struct conf *a, const struct conf *b)
{
	static const char *const drivers[] = {"alsa", "wav", "pipe"};
	size_t i = 0;

	for (i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (is_driver(a, drivers[i]) && is_driver(b, drivers[i]))
			return strcmp(device_of(a), device_of(b)) == 0;
	return false;
}

static void
add_output(struct text *text, const struct conf *conf)
{
	text_add(text, "[output");
	if (conf_name(conf) != NULL)
		text_printf(text, " %s", conf_name(conf));
	text_add_char(text, ']');
}

/* The first one is known by its driver's word. */
static int
check_output(const struct conf *conf, int number, struct text *ret_error)
{
	const struct conf *output = conf_further_at(conf, number);
	int i = 0;

	if (is_driver(conf, conf_name(output))) {
		add_output(ret_error, output);
		text_printf(ret_error,
			    ": \"%s\" is the name of the output in "
			    "[output]; give this one another",
			    conf_name(output));
		return -EINVAL;
	}
	for (i = -1; i < number; i++) {
		const struct conf *other =
			i < 0 ? conf : conf_further_at(conf, i);

		if (!same_device(output, other))
			continue;
		add_output(ret_error, output);
		text_add(ret_error, " and ");
		add_output(ret_error, other);
		text_printf(ret_error,
			    " have the same device, \"%s\"; set "
			    "driver and device of one",
			    device_of(output));
		return -EINVAL;
	}
	return 0;
}

static int
check_outputs(const struct conf *conf, const struct conf **ret_about,
	      struct text *ret_error)
{
	int i = 0, result = 0;

	for (i = 0; i < conf_further_count(conf) && result == 0; i++) {
		*ret_about = conf_further_at(conf, i);
		result = check_output(conf, i, ret_error);
	}
	return result;
}

const struct conf_schema conf_rotaryd = {
	.program = "rotaryd",
	.file = "rotary.conf",
	.purpose = "Plays music; steered over its socket by rotary, mpc or any "
		   "other MPD\nclient.",
	.further =
		{
			.section = "output",
			.help = "Further outputs play the same at the same "
				"time: sections [output NAME] with the options "
				"above, of which speech is no there, or "
				"--output.NAME.OPTION=VALUE on the command "
				"line; at most 7. Clients switch each of them "
				"on and off by its name.",
			.sample = "#[output Kitchen]\n"
				  "#driver = pipe\n"
				  "#device = /run/rotary/kitchen\n",
			.preset_no = CONF_OUTPUT_SPEECH,
		},
	.check = check_outputs,
	.notes = "# Each option is also --section.name=VALUE on the command "
		 "line.\n",
	.specs = specs,
	.count = CONF_OPTION_COUNT,
	.arguments = arguments,
	.argument_count = sizeof(arguments) / sizeof(arguments[0]),
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf_rotaryd.c - rotaryd's options as data, and the shorter names that some
 * of them have on its command line. */
#include "lib/base/conf.h"

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

const struct conf_schema conf_rotaryd = {
	.program = "rotaryd",
	.file = "rotary.conf",
	.purpose = "Plays music; steered over its socket by rotary, mpc or any "
		   "other MPD\nclient.",
	.notes = "# Each option is also --section.name=VALUE on the command "
		 "line.\n",
	.specs = specs,
	.count = CONF_OPTION_COUNT,
	.arguments = arguments,
	.argument_count = sizeof(arguments) / sizeof(arguments[0]),
};

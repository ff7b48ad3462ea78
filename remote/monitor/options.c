/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.c - the options of rotary-remote as data. */
#include "remote/monitor/options.h"

static const struct conf_spec specs[OPTION_COUNT] = {
#define X(id, section, name, kind, unit, min, max, preset, help)               \
	[OPTION_##id] =                                                        \
		CONF_SPEC(section, name, kind, unit, min, max, preset, help),
#include "remote/monitor/options.def"
#undef X
};

static const struct conf_argument arguments[] = {
	{.name = "test",
	 .help = "show what each key is and would do; send nothing",
	 .action = OPTIONS_TEST},
	{.name = "learn",
	 .value = "FILE",
	 .help = "write a key map by asking for keys",
	 .action = OPTIONS_LEARN},
	{.name = "check",
	 .help = "read options and key maps, list the rows, end",
	 .action = CONF_CHECK},
};

const struct conf_schema options_schema = {
	.program = "rotary-remote",
	.file = "remote.conf",
	.section = "remote",
	.purpose = "Steers rotaryd by remotes, keypads and knobs.",
	.notes = "# Each option is also --NAME=VALUE on the command line. What "
		 "keys do stands in\n"
		 "# key maps: see remote.conf(5).\n",
	.specs = specs,
	.count = OPTION_COUNT,
	.arguments = arguments,
	.argument_count = sizeof(arguments) / sizeof(arguments[0]),
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h - the options of rotary-remote: one table, options.def, from which
 * come the parser, --help, config/remote.conf and the list in the page
 * remote.conf(5).
 *
 * The first file that exists is the only one: --config FILE,
 * $XDG_CONFIG_HOME/rotary/remote.conf, /etc/rotary/remote.conf; the command
 * line wins over it. Threads: one. RT: MAY_BLOCK. */
#ifndef ROTARY_MONITOR_OPTIONS_H
#define ROTARY_MONITOR_OPTIONS_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct text;

enum option {
#define X(id, name, kind, unit, min, max, preset, help) OPTION_##id,
#include "remote/monitor/options.def"
#undef X
	OPTION_COUNT
};

enum options_action {
	OPTIONS_RUN,
	OPTIONS_TEST,  /* --test: show keys, send nothing */
	OPTIONS_LEARN, /* --learn FILE */
	OPTIONS_CHECK, /* --check: read everything, list the maps, end */
	OPTIONS_HELP,
	OPTIONS_VERSION,
};

struct option_value {
	char *text;
	int64_t number;
	bool from_arguments;
};

struct options {
	struct option_value values[OPTION_COUNT];
	enum options_action action;
	char *learn; /* the file to write */
	char *file;  /* that was read, or NULL */
};

/* 0; -EINVAL, -ENOENT (--config), other -errno, with one sentence. */
NODISCARD int options_load(int argc, char *const argv[],
			   struct options **ret_options,
			   struct text *ret_error);
void options_destroy(struct options *options);

int64_t options_int(const struct options *options, enum option option);
const char *options_text(const struct options *options, enum option option);

void options_add_help(struct text *text);
void options_add_sample(struct text *text);
void options_add_manual(struct text *text);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf.h - the options of rotaryd: one table, read from an INI file and the
 * command line.
 *
 * options.def is the table: X(ID, section, name, kind, unit, min, max,
 * default, help), one line an option. From it come the parser, --help, the
 * sample file config/rotary.conf and the option lists of the man pages.
 * A struct conf never changes after conf_load(). The first file that exists is
 * the only one: --config FILE, $XDG_CONFIG_HOME/rotary/rotary.conf,
 * /etc/rotary/rotary.conf; the command line wins over it.
 * Threads: any, once loaded. RT: getters are RT_SAFE, the rest MAY_BLOCK. */
#ifndef ROTARY_BASE_CONF_H
#define ROTARY_BASE_CONF_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct conf;
struct text;

enum conf_option {
#define X(id, section, name, kind, unit, min, max, preset, help) CONF_##id,
#include "lib/base/options.def"
#undef X
	CONF_OPTION_COUNT
};

enum conf_action {
	CONF_RUN,          /* go on */
	CONF_SHOW_HELP,    /* --help */
	CONF_SHOW_VERSION, /* --version */
	CONF_CHECK,        /* --check-config: load, say so, end */
};

/* Reads the configuration file, then argv (program name at 0). On failure
 * ret_error holds one sentence with file and line or the argument, and what to
 * do. Returns 0, -EINVAL (a bad line or argument), -ENOENT (--config names a
 * file that is not there), other -errno from reading it, -ENOMEM.
 * The caller owns *ret_conf. */
NODISCARD int conf_load(int argc, char *const argv[], struct conf **ret_conf,
			enum conf_action *ret_action, struct text *ret_error);
void conf_destroy(struct conf *conf);

/* The value of an option, of the kind that options.def gives it. A path has
 * "~" and the XDG and system places (docs/architecture.md, "Places") filled
 * in. Text lives as long as conf. */
int64_t conf_int(const struct conf *conf, enum conf_option option);
bool conf_bool(const struct conf *conf, enum conf_option option);
const char *conf_text(const struct conf *conf, enum conf_option option);
/* An enumerated option ("a|b|c") as the index of its word. */
int conf_choice(const struct conf *conf, enum conf_option option);
/* True when a file or the command line set it. */
bool conf_is_set(const struct conf *conf, enum conf_option option);

/* The file that was read, or NULL. */
const char *conf_file(const struct conf *conf);

/* Every option as --help shows it, as the sample file holds it, and as the
 * list in the page rotary.conf(5). */
void conf_add_help(struct text *text);
void conf_add_sample(struct text *text);
void conf_add_manual(struct text *text);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf.h - the options of a program: one table, read from an INI file and the
 * command line.
 *
 * A table is a struct conf_schema; its options come from a .def file of
 * X(ID, section, name, kind, unit, min, max, preset, help), one line an option
 * (CONF_SPEC). From it come the parser, --help, the sample file and the option
 * lists of the man pages. rotaryd's is here, since others ask it too;
 * rotary-remote's is in remote/monitor/options.h.
 * A struct conf never changes after conf_load(). The first file that exists is
 * the only one: --config FILE, $XDG_CONFIG_HOME/rotary/NAME, /etc/rotary/NAME;
 * the command line wins over it.
 * Threads: any, once loaded. RT: getters are RT_SAFE, the rest MAY_BLOCK. */
#ifndef ROTARY_BASE_CONF_H
#define ROTARY_BASE_CONF_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct conf;
struct text;

enum conf_kind {
	CONF_KIND_INT,
	CONF_KIND_COUNT,
	CONF_KIND_BOOL,
	CONF_KIND_TEXT,
	CONF_KIND_PATH,
	CONF_KIND_CHOICE,
};

struct conf_spec {
	const char *section;
	const char *name;
	enum conf_kind kind;
	const char *unit; /* as lib/base/options.def says for each kind */
	int64_t min;
	int64_t max;
	const char *preset;
	const char *help;
};

/* clang-format off */
#define CONF_SPEC(section, name, kind, unit, min, max, preset, help)           \
	{section, name, CONF_KIND_##kind, unit, min, max, preset, help}
/* clang-format on */

/* What the program is to do. A table has further ones of its own, counted from
 * CONF_OWN_ACTION. */
enum conf_action {
	CONF_RUN,          /* go on */
	CONF_SHOW_HELP,    /* --help */
	CONF_SHOW_VERSION, /* --version */
	CONF_CHECK,        /* load, say so, end */
	CONF_OWN_ACTION,
};

/* An argument that is no option of the file: it sets options by take(), or the
 * action. --config, --help and --version are there by themselves. */
struct conf_argument {
	const char *name;
	const char *value; /* what --help calls it; NULL: takes none */
	const char *help;
	/* 0, -EINVAL with the reason added, -ENOMEM. NULL: value is kept for
	 * conf_argument(). */
	int (*take)(struct conf *conf, const char *value,
		    struct text *ret_error);
	int action; /* CONF_RUN: stays as it was */
};

enum { CONF_FURTHER_MAX = 7, CONF_NAME_MAX = 63 };

/* A section that there may be more of, [SECTION NAME], each with the same
 * options: --SECTION.NAME.OPTION on the command line. */
struct conf_further {
	const char *section; /* NULL: there is none */
	const char *help;    /* a sentence or two */
	const char *sample;  /* lines of a file that has one */
	int preset_no;       /* an option that is "no" there by default */
};

struct conf_schema {
	const char *program;
	const char *file;    /* rotary.conf */
	const char *section; /* the only one, left out on the command line */
	struct conf_further further;
	/* Looks at the whole. 0, -EINVAL with the reason added and the further
	 * section that it is about. NULL: all is well. */
	int (*check)(const struct conf *conf, const struct conf **ret_about,
		     struct text *ret_error);
	const char *purpose; /* for --help, a line or two */
	const char *notes;   /* for the sample file, comment lines */
	const struct conf_spec *specs;
	int count;
	const struct conf_argument *arguments;
	int argument_count;
};

/* Reads the configuration file, then argv (program name at 0). On failure
 * ret_error holds one sentence with file and line or the argument, and what to
 * do. Returns 0, -EINVAL (a bad line or argument), -ENOENT (--config names a
 * file that is not there), other -errno from reading it, -ENOMEM.
 * ret_action: enum conf_action or one of the table's own. The caller owns
 * *ret_conf. */
NODISCARD int conf_load(const struct conf_schema *schema, int argc,
			char *const argv[], struct conf **ret_conf,
			int *ret_action, struct text *ret_error);
void conf_destroy(struct conf *conf);

/* The value of an option, an index into the table, of the kind that the table
 * gives it. A path has "~" and the XDG and system places (docs/architecture.md,
 * "Places") filled in. Text lives as long as conf. */
int64_t conf_int(const struct conf *conf, int option);
bool conf_bool(const struct conf *conf, int option);
const char *conf_text(const struct conf *conf, int option);
/* An enumerated option ("a|b|c") as the index of its word. */
int conf_choice(const struct conf *conf, int option);
/* True when a file or the command line set it. */
bool conf_is_set(const struct conf *conf, int option);

/* The file that was read, or NULL. */
const char *conf_file(const struct conf *conf);
/* The value of the last argument that had no take(), or NULL. */
const char *conf_argument(const struct conf *conf);

/* The further sections, in the order of the file, then of the command line; of
 * each only the options of its section are to be asked for. */
int conf_further_count(const struct conf *conf);
const struct conf *conf_further_at(const struct conf *conf, int i);
/* Of a further section. */
const char *conf_name(const struct conf *conf);

/* As the command line sets it. For take() of an argument. */
NODISCARD int conf_set(struct conf *conf, int option, const char *value,
		       struct text *ret_error);

/* Every option as --help shows it, as the sample file holds it, and as the
 * list in the man page. */
void conf_add_help(const struct conf_schema *schema, struct text *text);
void conf_add_sample(const struct conf_schema *schema, struct text *text);
void conf_add_manual(const struct conf_schema *schema, struct text *text);

/* --- rotaryd's: options.def */

enum conf_option {
#define X(id, section, name, kind, unit, min, max, preset, help) CONF_##id,
#include "lib/base/options.def"
#undef X
	CONF_OPTION_COUNT
};

extern const struct conf_schema conf_rotaryd;

#endif

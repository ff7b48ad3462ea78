/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf_parts.h - what the files of conf share: the table as data, the values,
 * and the one function that sets a value. Not for others. */
#ifndef ROTARY_BASE_CONF_PARTS_H
#define ROTARY_BASE_CONF_PARTS_H

#include "lib/base/conf.h"

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
	const char *unit; /* as options.def says for each kind */
	int64_t min;
	int64_t max;
	const char *preset;
	const char *help;
};

extern const struct conf_spec conf_specs[CONF_OPTION_COUNT];

/* Who set a value; the later in this list wins. */
enum conf_origin {
	CONF_ORIGIN_PRESET,
	CONF_ORIGIN_FILE,
	CONF_ORIGIN_ARGUMENT,
};

struct conf_value {
	char *text;
	int64_t number;
	enum conf_origin origin;
};

struct conf {
	struct conf_value values[CONF_OPTION_COUNT];
	char *file;
};

/* The option of this name; -ENOENT, with ret_error telling what is wrong with
 * it. section and name need not be terminated. */
NODISCARD int conf_find(const char *section, size_t section_length,
			const char *name, enum conf_option *ret_option,
			struct text *ret_error);

/* Checks value and keeps it, unless one of a stronger origin is there. Adds to
 * ret_error what is wrong with it. 0, -EINVAL, -ENOMEM. */
NODISCARD int conf_put(struct conf *conf, enum conf_option option,
		       const char *value, enum conf_origin origin,
		       struct text *ret_error);

/* The word'th of words "a|b|c" and its length, or NULL. */
const char *conf_word(const char *words, int word, size_t *ret_length);

/* What a value of this option may be: "a number from 1 to 9 (ms)". */
void conf_add_domain(struct text *text, const struct conf_spec *spec);

/* Reads path; values get CONF_ORIGIN_FILE. 0, -EINVAL, -ENOMEM, or -errno from
 * opening and reading, without a text then. */
NODISCARD int conf_read_file(struct conf *conf, const char *path,
			     struct text *ret_error);

/* Reads argv; --config's value is *ret_config, else NULL. 0, -EINVAL,
 * -ENOMEM. */
NODISCARD int conf_read_arguments(struct conf *conf, int argc,
				  char *const argv[], const char **ret_config,
				  enum conf_action *ret_action,
				  struct text *ret_error);

/* The options that have no name in the file, for --help. */
void conf_add_short_help(struct text *text);

#endif

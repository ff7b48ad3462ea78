/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf_parts.h - what the files of conf share: the values, and the one function
 * that sets a value. Not for others. */
#ifndef ROTARY_BASE_CONF_PARTS_H
#define ROTARY_BASE_CONF_PARTS_H

#include "lib/base/conf.h"

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
	bool in_file;
};

struct conf {
	const struct conf_schema *schema;
	char *file;
	char *argument;
	struct conf *further[CONF_FURTHER_MAX];
	int further_count;
	/* Of a further one itself. */
	char *name;
	unsigned line;              /* of the file; 0: not there */
	struct conf_value values[]; /* schema->count */
};

/* The option of this name; -ENOENT, with ret_error telling what is wrong with
 * it. section need not be terminated. */
NODISCARD int conf_find(const struct conf_schema *schema, const char *section,
			size_t section_length, const char *name,
			struct text *ret_error);
/* The same for a section by itself: 0 or -ENOENT. */
NODISCARD int conf_find_section(const struct conf_schema *schema,
				const char *section, size_t length,
				struct text *ret_error);

/* Of all presets. NULL: no memory. */
struct conf *conf_create(const struct conf_schema *schema,
			 struct text *ret_error);
/* The NAME of "SECTION NAME", where there may be further ones, else NULL. */
const char *conf_further_name(const struct conf_schema *schema,
			      const char *section);
/* The further section of this name; made if there is none. -EINVAL with the
 * reason added (name, too many), -ENOMEM. */
NODISCARD int conf_further_get(struct conf *conf, const char *name,
			       size_t length, struct conf **ret_further,
			       struct text *ret_error);
/* Those of the file first. */
void conf_further_sort(struct conf *conf);

/* Checks value and keeps it, unless one of a stronger origin is there. Adds to
 * ret_error what is wrong with it. 0, -EINVAL, -ENOMEM. */
NODISCARD int conf_put(struct conf *conf, int option, const char *value,
		       enum conf_origin origin, struct text *ret_error);

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
				  int *ret_action, struct text *ret_error);

/* The arguments that are no options of the file, for --help. */
void conf_add_arguments(const struct conf_schema *schema, struct text *text);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.c - the table of options and where their values come from: presets,
 * the command line, then the file, which leaves alone what the command line
 * has set but is checked all the same. */
#include "remote/monitor/options_parts.h"

#include "lib/base/places.h"
#include "lib/base/text.h"
#include "remote/monitor/ini.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct option_spec option_specs[OPTION_COUNT] = {
#define X(id, name, kind, unit, min, max, preset, help)                        \
	[OPTION_##id] = {name, OPTION_KIND_##kind, unit, min, max, preset,     \
			 help},
#include "remote/monitor/options.def"
#undef X
};

static int
find(const char *name)
{
	int i = 0;

	for (i = 0; i < OPTION_COUNT; i++)
		if (strcmp(option_specs[i].name, name) == 0)
			return i;
	return -ENOENT;
}

/* The index of word in "a|b|c", or -EINVAL. */
static int
find_word(const char *words, const char *word)
{
	const size_t length = strlen(word);
	int i = 0;

	for (i = 0; length > 0; i++) {
		const size_t next = strcspn(words, "|");

		if (next == length && strncmp(words, word, length) == 0)
			return i;
		if (words[next] == '\0')
			break;
		words += next + 1;
	}
	return -EINVAL;
}

static int
read_number(const struct option_spec *spec, const char *value,
	    int64_t *ret_number)
{
	bool truth = false;
	int result = 0;

	switch (spec->kind) {
	case OPTION_KIND_INT:
		return text_parse_int(value, spec->min, spec->max, ret_number);
	case OPTION_KIND_BOOL:
		result = text_parse_bool(value, &truth);
		*ret_number = truth;
		return result;
	case OPTION_KIND_CHOICE:
		result = find_word(spec->unit, value);
		*ret_number = result;
		return result < 0 ? result : 0;
	case OPTION_KIND_TEXT:
		break;
	}
	return strlen(value) > (size_t)spec->max ? -ERANGE : 0;
}

static int
put(struct options *options, int option, const char *value, bool from_arguments,
    struct text *ret_error)
{
	const struct option_spec *spec = &option_specs[option];
	struct option_value *place = &options->values[option];
	int64_t number = 0;
	char *copy = NULL;

	if (read_number(spec, value, &number) < 0) {
		text_printf(ret_error, "%s = \"", spec->name);
		text_add_clean(ret_error, value, strlen(value), 60);
		text_add(ret_error, "\": it is ");
		options_add_domain(ret_error, spec);
		return -EINVAL;
	}
	if (place->from_arguments && !from_arguments)
		return 0;
	copy = strdup(value);
	if (copy == NULL)
		return -ENOMEM;
	free(place->text);
	place->text = copy;
	place->number = number;
	place->from_arguments = from_arguments;
	return 0;
}

/* --- the file */

static int
take_line(void *context, const struct ini_line *line, struct text *ret_error)
{
	int option = 0;

	if (strcmp(line->section, "remote") != 0) {
		text_add(ret_error, "the only section is [remote]; keys are "
				    "bound in key maps");
		return -EINVAL;
	}
	if (line->name == NULL)
		return 0;
	option = find(line->name);
	if (option < 0) {
		text_add_char(ret_error, '"');
		text_add_clean(ret_error, line->name, strlen(line->name), 60);
		text_add(ret_error, "\" is no option; rotary-remote --help "
				    "lists them");
		return -EINVAL;
	}
	return put(context, option, line->value, false, ret_error);
}

/* 1: read; 0: not there; -errno with a text. */
static int
try_file(struct options *options, const char *path, struct text *ret_error)
{
	struct text bytes = {0};
	int result = ini_read(path, &bytes, NULL, ret_error);

	if (result == 0)
		result = ini_parse(path, text_string(&bytes), bytes.length,
				   take_line, options, ret_error);
	else if (result == -ENOENT || result == -ENOTDIR)
		return 0;
	else if (ret_error->length == 0)
		text_printf(ret_error, "cannot read %s: %s", path,
			    strerrordesc_np(-result));
	text_finish(&bytes);
	if (result < 0)
		return result;
	options->file = strdup(path);
	return options->file != NULL ? 1 : -ENOMEM;
}

static int
read_files(struct options *options, const char *config, struct text *ret_error)
{
	struct text path = {0};
	int result = 0;

	if (config != NULL) {
		result = try_file(options, config, ret_error);
		if (result == 0)
			text_printf(ret_error, "--config: there is no file %s",
				    config);
		return result == 0 ? -ENOENT : result;
	}
	places_add_config_home(&path);
	text_add(&path, "/rotary/remote.conf");
	result = try_file(options, text_string(&path), ret_error);
	text_finish(&path);
	if (result == 0)
		result =
			try_file(options, "/etc/rotary/remote.conf", ret_error);
	return result;
}

/* --- the command line */

static int
refuse(struct text *ret_error, const char *argument, const char *why)
{
	text_clear(ret_error);
	text_add_clean(ret_error, argument, strlen(argument), 100);
	text_printf(ret_error, " %s; rotary-remote --help shows what there is",
		    why);
	return -EINVAL;
}

static bool
take_word(struct options *options, const char *name)
{
	static const struct {
		const char *name;
		enum options_action action;
	} words[] = {{"test", OPTIONS_TEST},
		     {"check", OPTIONS_CHECK},
		     {"help", OPTIONS_HELP},
		     {"version", OPTIONS_VERSION}};
	size_t i = 0;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].name, name) == 0) {
			options->action = words[i].action;
			return true;
		}
	}
	return false;
}

static int
take_value(struct options *options, const char *name, const char *value,
	   const char **ret_config, struct text *ret_error)
{
	const int option = find(name);

	if (strcmp(name, "config") == 0) {
		*ret_config = value;
		return 0;
	}
	if (strcmp(name, "learn") == 0) {
		options->action = OPTIONS_LEARN;
		free(options->learn);
		options->learn = strdup(value);
		return options->learn != NULL ? 0 : -ENOMEM;
	}
	if (option < 0)
		return -ENOENT;
	text_add(ret_error, "--");
	return put(options, option, value, true, ret_error);
}

static int
read_arguments(struct options *options, int argc, char *const argv[],
	       const char **ret_config, struct text *ret_error)
{
	int i = 0, result = 0;

	for (i = 1; i < argc && result == 0; i++) {
		const char *value = NULL;
		char name[64];
		size_t length = 0;

		if (strncmp(argv[i], "--", 2) != 0)
			return refuse(ret_error, argv[i], "is no option");
		length = strcspn(argv[i] + 2, "=");
		if (length == 0 || length >= sizeof(name))
			return refuse(ret_error, argv[i], "is no option");
		memcpy(name, argv[i] + 2, length);
		name[length] = '\0';
		if (argv[i][2 + length] == '=')
			value = argv[i] + 3 + length;
		else if (take_word(options, name))
			continue;
		else if (i + 1 < argc &&
			 (find(name) >= 0 || strcmp(name, "config") == 0 ||
			  strcmp(name, "learn") == 0))
			value = argv[++i];
		else
			return refuse(ret_error, argv[i],
				      "is no option, or lacks its value");
		text_clear(ret_error);
		result =
			take_value(options, name, value, ret_config, ret_error);
		if (result == -ENOENT)
			return refuse(ret_error, argv[i], "is no option");
	}
	return result;
}

int
options_load(int argc, char *const argv[], struct options **ret_options,
	     struct text *ret_error)
{
	struct options *options = calloc(1, sizeof(*options));
	const char *config = NULL;
	int option = 0, result = options == NULL ? -ENOMEM : 0;

	text_clear(ret_error);
	for (option = 0; option < OPTION_COUNT && result == 0; option++)
		result = put(options, option, option_specs[option].preset,
			     false, ret_error);
	if (result == 0)
		result =
			read_arguments(options, argc, argv, &config, ret_error);
	if (result == 0 && options->action != OPTIONS_HELP &&
	    options->action != OPTIONS_VERSION) {
		text_clear(ret_error);
		result = read_files(options, config, ret_error);
	}
	if (result < 0) {
		if (result == -ENOMEM)
			text_add(ret_error, "out of memory");
		options_destroy(options);
		return result;
	}
	*ret_options = options;
	return 0;
}

void
options_destroy(struct options *options)
{
	int option = 0;

	if (options == NULL)
		return;
	for (option = 0; option < OPTION_COUNT; option++)
		free(options->values[option].text);
	free(options->learn);
	free(options->file);
	free(options);
}

int64_t
options_int(const struct options *options, enum option option)
{
	return options->values[option].number;
}

const char *
options_text(const struct options *options, enum option option)
{
	return options->values[option].text;
}

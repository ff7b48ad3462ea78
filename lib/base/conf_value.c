/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf_value.c - what the value of an option may be.
 *
 * A value is kept as text, as it was written but for paths, which are made
 * absolute, and as a number where its kind has one. */
#include "lib/base/conf_parts.h"

#include "lib/base/places.h"
#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The word'th of words "a|b|c" and its length, or NULL. */
static const char *
find_word(const char *words, int word, size_t *ret_length)
{
	for (; word > 0; word--) {
		words = strchr(words, '|');
		if (words == NULL)
			return NULL;
		words++;
	}
	*ret_length = strcspn(words, "|");
	return words;
}

static bool
is_word(const char *words, int word, const char *value)
{
	size_t length = 0;
	const char *found = find_word(words, word, &length);

	return found != NULL && strlen(value) == length &&
	       strncmp(found, value, length) == 0;
}

static void
add_words(struct text *text, const char *words)
{
	size_t length = 0, after = 0;
	const char *word = NULL, *next = NULL;
	int i = 0;

	for (i = 0; (word = find_word(words, i, &length)) != NULL; i++) {
		next = find_word(words, i + 1, &after);
		if (i > 0)
			text_add(text, next != NULL ? ", " : " or ");
		text_add_bytes(text, word, length);
	}
}

static void
add_range(struct text *text, const struct conf_spec *spec, const char *unit)
{
	text_printf(text, "a number from %" PRId64 " to %" PRId64 " (%s)",
		    spec->min, spec->max, unit);
}

void
conf_add_domain(struct text *text, const struct conf_spec *spec)
{
	size_t length = 0;
	const char *word = NULL;

	switch (spec->kind) {
	case CONF_KIND_INT:
		add_range(text, spec, spec->unit);
		break;
	case CONF_KIND_COUNT:
		word = find_word(spec->unit, 0, &length);
		text_add_bytes(text, word, length);
		text_add(text, " or ");
		add_range(text, spec, word + length + 1);
		break;
	case CONF_KIND_BOOL:
		text_add(text, "yes or no");
		break;
	case CONF_KIND_TEXT:
		text_printf(text, "text of at most %" PRId64 " bytes",
			    spec->max);
		break;
	case CONF_KIND_PATH:
		text_printf(text,
			    "a path of at most %" PRId64
			    " bytes that begins with / or ~/",
			    spec->max);
		break;
	case CONF_KIND_CHOICE:
		text_add(text, "one of ");
		add_words(text, spec->unit);
		break;
	}
}

/* Fills in the place that a preset begins with. False: it begins with none. */
static bool
add_place(struct text *path, const char *preset)
{
	static const struct {
		const char *word;
		void (*add)(struct text *text);
	} places[] = {
		{"RUNTIME", places_add_runtime},
		{"STATE", places_add_state},
		{"MUSIC", places_add_music},
	};
	size_t i = 0;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const size_t length = strlen(places[i].word);

		if (strncmp(preset, places[i].word, length) == 0) {
			places[i].add(path);
			text_add(path, preset + length);
			return true;
		}
	}
	return false;
}

static int
add_current_folder(struct text *path)
{
	char *folder = getcwd(NULL, 0);

	if (folder == NULL)
		return -EINVAL;
	text_add(path, folder);
	if (strcmp(folder, "/") != 0)
		text_add_char(path, '/');
	free(folder);
	return 0;
}

static int
parse_path(const char *value, enum conf_origin origin, struct text *path)
{
	if (origin == CONF_ORIGIN_PRESET && add_place(path, value))
		return 0;
	if (value[0] == '~' && (value[1] == '/' || value[1] == '\0')) {
		places_add_home(path);
		value++;
	} else if (value[0] != '/') {
		if (origin != CONF_ORIGIN_ARGUMENT || value[0] == '\0' ||
		    add_current_folder(path) < 0)
			return -EINVAL;
	}
	text_add(path, value);
	return 0;
}

static int
parse_choice(const char *words, const char *value, int64_t *ret_number)
{
	size_t length = 0;
	int i = 0;

	for (i = 0; find_word(words, i, &length) != NULL; i++) {
		if (is_word(words, i, value)) {
			*ret_number = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int
parse_value(const struct conf_spec *spec, const char *value,
	    enum conf_origin origin, struct text *text, int64_t *ret_number)
{
	bool yes = 0;
	int result = 0;

	if (spec->kind == CONF_KIND_PATH)
		result = parse_path(value, origin, text);
	else
		text_add(text, value);
	switch (spec->kind) {
	case CONF_KIND_COUNT:
		if (is_word(spec->unit, 0, value)) {
			*ret_number = 0;
			return 0;
		}
		return text_parse_int(value, spec->min, spec->max, ret_number);
	case CONF_KIND_INT:
		return text_parse_int(value, spec->min, spec->max, ret_number);
	case CONF_KIND_BOOL:
		result = text_parse_bool(value, &yes);
		if (result == 0)
			*ret_number = yes;
		return result;
	case CONF_KIND_CHOICE:
		return parse_choice(spec->unit, value, ret_number);
	case CONF_KIND_PATH:
		if (result < 0)
			return result;
		break;
	case CONF_KIND_TEXT:
		break;
	}
	return text->length <= (size_t)spec->max ? 0 : -ERANGE;
}

int
conf_put(struct conf *conf, int option, const char *value,
	 enum conf_origin origin, struct text *ret_error)
{
	const struct conf_schema *schema = conf->schema;
	const struct conf_spec *spec = &schema->specs[option];
	struct conf_value *kept = &conf->values[option];
	struct text text = {0};
	int64_t number = 0;
	int result = 0;

	text_add(&text, "");
	result = parse_value(spec, value, origin, &text, &number);
	if (text.failed)
		result = -ENOMEM;
	else if (result < 0)
		result = -EINVAL;
	if (result == -EINVAL) {
		if (schema->section == NULL)
			text_add(ret_error, spec->section);
		if (conf->name != NULL)
			text_printf(ret_error, " %s", conf->name);
		if (schema->section == NULL)
			text_add_char(ret_error, '.');
		text_printf(ret_error, "%s must be ", spec->name);
		conf_add_domain(ret_error, spec);
		text_add(ret_error, ", not \"");
		text_add_clean(ret_error, value, strlen(value), 100);
		text_add_char(ret_error, '"');
	}
	if (result < 0 || origin < kept->origin) {
		text_finish(&text);
		return result;
	}
	free(kept->text);
	*kept = (struct conf_value){
		.text = text.bytes, .number = number, .origin = origin};
	return 0;
}

static bool
is_in(const struct conf_spec *spec, const char *section, size_t length)
{
	return strlen(spec->section) == length &&
	       memcmp(spec->section, section, length) == 0;
}

int
conf_find_section(const struct conf_schema *schema, const char *section,
		  size_t length, struct text *ret_error)
{
	int i = 0;

	for (i = 0; i < schema->count; i++)
		if (is_in(&schema->specs[i], section, length))
			return 0;
	text_add(ret_error, "there is no section [");
	text_add_clean(ret_error, section, length, 60);
	text_printf(ret_error, "]; %s --help lists all options",
		    schema->program);
	return -ENOENT;
}

int
conf_find(const struct conf_schema *schema, const char *section, size_t length,
	  const char *name, struct text *ret_error)
{
	int i = 0;

	for (i = 0; i < schema->count; i++)
		if (is_in(&schema->specs[i], section, length) &&
		    strcmp(schema->specs[i].name, name) == 0)
			return i;
	if (conf_find_section(schema, section, length, ret_error) < 0)
		return -ENOENT;
	text_add(ret_error, "there is no option ");
	if (schema->section == NULL) {
		text_add_clean(ret_error, section, length, 60);
		text_add_char(ret_error, '.');
	}
	text_add_clean(ret_error, name, strlen(name), 60);
	text_printf(ret_error, "; %s --help lists all options",
		    schema->program);
	return -ENOENT;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conf_print.c - the options' table for people: --help, the sample file and
 * the manual page. */
#include "lib/base/conf_parts.h"

#include "lib/base/text.h"

#include <string.h>

/* A preset that begins with a place: the system's and a user's. */
struct shown_place {
	const char *word;
	const char *system;
	const char *user;
};

static const struct shown_place *
find_place(const struct conf_spec *spec)
{
	static const struct shown_place places[] = {
		{"RUNTIME", "/run/rotary", "$XDG_RUNTIME_DIR/rotary"},
		{"STATE", "/var/lib/rotary", "~/.local/state/rotary"},
		{"MUSIC", "/srv/music", "the XDG music folder"},
	};
	size_t i = 0;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (spec->kind == CONF_KIND_PATH &&
		    strncmp(spec->preset, places[i].word,
			    strlen(places[i].word)) == 0)
			return &places[i];
	return NULL;
}

static void
add_preset(struct text *text, const struct conf_spec *spec)
{
	const struct shown_place *place = find_place(spec);

	if (place != NULL)
		text_printf(text, "%s%s", place->system,
			    spec->preset + strlen(place->word));
	else
		text_add(text, spec->preset);
}

/* "A number from 1 to 9 (ms). Default: 5." */
static void
add_facts(struct text *text, const struct conf_spec *spec)
{
	const struct shown_place *place = find_place(spec);
	const size_t start = text->length;

	conf_add_domain(text, spec);
	/* A word that is to be written as it is keeps its case. */
	if (text->length > start && spec->kind != CONF_KIND_COUNT &&
	    spec->kind != CONF_KIND_BOOL)
		text->bytes[start] = (char)(text->bytes[start] - 'a' + 'A');
	text_add(text, ". Default: ");
	if (spec->preset[0] == '\0')
		text_add(text, "empty");
	add_preset(text, spec);
	if (place != NULL)
		text_printf(text, "; for a user %s%s", place->user,
			    spec->preset + strlen(place->word));
	text_add_char(text, '.');
}

static bool
begins_section(const struct conf_schema *schema, int option)
{
	return option == 0 || strcmp(schema->specs[option].section,
				     schema->specs[option - 1].section) != 0;
}

/* The last option of the section that there may be more of. */
static bool
ends_further(const struct conf_schema *schema, int option)
{
	return schema->further.section != NULL &&
	       strcmp(schema->specs[option].section, schema->further.section) ==
		       0 &&
	       (option + 1 == schema->count ||
		begins_section(schema, option + 1));
}

/* As it is called on the command line. */
static void
add_long_name(struct text *text, const struct conf_schema *schema,
	      const struct conf_spec *spec)
{
	text_add(text, "--");
	if (schema->section == NULL)
		text_printf(text, "%s.", spec->section);
	text_add(text, spec->name);
}

void
conf_add_help(const struct conf_schema *schema, struct text *text)
{
	struct text facts = {0};
	int i = 0;

	text_printf(text, "usage: %s [OPTION]...\n%s\n\n", schema->program,
		    schema->purpose);
	conf_add_arguments(schema, text);
	text_printf(text,
		    "\nOptions of the configuration file, in the first of\n"
		    "  $XDG_CONFIG_HOME/rotary/%s\n"
		    "  /etc/rotary/%s\n"
		    "that exists, each with its default:\n",
		    schema->file, schema->file);
	for (i = 0; i < schema->count; i++) {
		const struct conf_spec *spec = &schema->specs[i];

		if (begins_section(schema, i))
			text_add_char(text, '\n');
		text_add(text, "  ");
		add_long_name(text, schema, spec);
		text_add_char(text, '=');
		add_preset(text, spec);
		text_add_char(text, '\n');
		text_add_wrapped(text, "      ", spec->help);
		text_clear(&facts);
		add_facts(&facts, spec);
		text_add_wrapped(text, "      ", text_string(&facts));
		if (ends_further(schema, i)) {
			text_add_char(text, '\n');
			text_add_wrapped(text, "  ", schema->further.help);
		}
	}
	text_finish(&facts);
}

void
conf_add_sample(const struct conf_schema *schema, struct text *text)
{
	struct text facts = {0};
	int i = 0;

	text_printf(text,
		    "# SPDX-License-Identifier: GPL-3.0-or-later\n"
		    "# %s - the options of %s, all at their defaults.\n"
		    "#\n"
		    "# The first that exists is read: the file that --config "
		    "names,\n"
		    "# $XDG_CONFIG_HOME/rotary/%s, /etc/rotary/%s.\n"
		    "%s"
		    "# A comment begins with # at the start of a line, or with "
		    "a space and ;\n",
		    schema->file, schema->program, schema->file, schema->file,
		    schema->notes);
	for (i = 0; i < schema->count; i++) {
		const struct conf_spec *spec = &schema->specs[i];

		if (begins_section(schema, i))
			text_printf(text, "\n[%s]\n", spec->section);
		text_add_char(text, '\n');
		text_add_wrapped(text, "# ", spec->help);
		text_clear(&facts);
		add_facts(&facts, spec);
		text_add_wrapped(text, "# ", text_string(&facts));
		text_printf(text, "#%s =%s", spec->name,
			    spec->preset[0] != '\0' ? " " : "");
		add_preset(text, spec);
		text_add_char(text, '\n');
		if (ends_further(schema, i)) {
			text_add_char(text, '\n');
			text_add_wrapped(text, "# ", schema->further.help);
			text_add(text, schema->further.sample);
		}
	}
	text_finish(&facts);
}

void
conf_add_manual(const struct conf_schema *schema, struct text *text)
{
	struct text facts = {0};
	int i = 0;

	for (i = 0; i < schema->count; i++) {
		const struct conf_spec *spec = &schema->specs[i];

		if (schema->section == NULL && begins_section(schema, i))
			text_printf(text, ".SS [%s]\n", spec->section);
		text_printf(text, ".TP\n.B %s\n", spec->name);
		text_add_troff(text, spec->help);
		text_clear(&facts);
		add_facts(&facts, spec);
		text_add_troff(text, text_string(&facts));
		if (ends_further(schema, i)) {
			text_printf(text, ".SS [%s NAME]\n",
				    schema->further.section);
			text_add_troff(text, schema->further.help);
		}
	}
	text_finish(&facts);
}

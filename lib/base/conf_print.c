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
begins_section(int option)
{
	return option == 0 || strcmp(conf_specs[option].section,
				     conf_specs[option - 1].section) != 0;
}

void
conf_add_help(struct text *text)
{
	struct text facts = {0};
	int i = 0;

	text_add(text, "usage: rotaryd [OPTION]...\n"
		       "Plays music; steered over its socket by rotary, mpc or "
		       "any other MPD\nclient.\n\n");
	conf_add_short_help(text);
	text_add(text, "\nOptions of the configuration file, in the first of\n"
		       "  $XDG_CONFIG_HOME/rotary/rotary.conf\n"
		       "  /etc/rotary/rotary.conf\n"
		       "that exists, each with its default:\n");
	for (i = 0; i < CONF_OPTION_COUNT; i++) {
		const struct conf_spec *spec = &conf_specs[i];

		if (begins_section(i))
			text_add_char(text, '\n');
		text_printf(text, "  --%s.%s=", spec->section, spec->name);
		add_preset(text, spec);
		text_add_char(text, '\n');
		text_add_wrapped(text, "      ", spec->help);
		text_clear(&facts);
		add_facts(&facts, spec);
		text_add_wrapped(text, "      ", text_string(&facts));
	}
	text_finish(&facts);
}

void
conf_add_sample(struct text *text)
{
	struct text facts = {0};
	int i = 0;

	text_add(text,
		 "# SPDX-License-Identifier: GPL-3.0-or-later\n"
		 "# rotary.conf - the options of rotaryd, all at their "
		 "defaults.\n"
		 "#\n"
		 "# The first that exists is read: the file that --config "
		 "names,\n"
		 "# $XDG_CONFIG_HOME/rotary/rotary.conf, "
		 "/etc/rotary/rotary.conf.\n"
		 "# Each option is also --section.name=VALUE on the command "
		 "line.\n"
		 "# A comment begins with # at the start of a line, or with "
		 "a space and ;\n");
	for (i = 0; i < CONF_OPTION_COUNT; i++) {
		const struct conf_spec *spec = &conf_specs[i];

		if (begins_section(i))
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
	}
	text_finish(&facts);
}

void
conf_add_manual(struct text *text)
{
	struct text facts = {0};
	int i = 0;

	for (i = 0; i < CONF_OPTION_COUNT; i++) {
		const struct conf_spec *spec = &conf_specs[i];

		if (begins_section(i))
			text_printf(text, ".SS [%s]\n", spec->section);
		text_printf(text, ".TP\n.B %s\n", spec->name);
		text_add_troff(text, spec->help);
		text_clear(&facts);
		add_facts(&facts, spec);
		text_add_troff(text, text_string(&facts));
	}
	text_finish(&facts);
}

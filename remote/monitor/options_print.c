/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options_print.c - the table of options for people: --help, the sample file
 * and the manual page. */
#include "remote/monitor/options_parts.h"

#include "lib/base/text.h"

#include <string.h>

void
options_add_domain(struct text *text, const struct option_spec *spec)
{
	const char *words = spec->unit;

	switch (spec->kind) {
	case OPTION_KIND_INT:
		text_printf(text, "a number from %lld to %lld (%s)",
			    (long long)spec->min, (long long)spec->max,
			    spec->unit);
		break;
	case OPTION_KIND_BOOL:
		text_add(text, "yes or no");
		break;
	case OPTION_KIND_TEXT:
		text_printf(text, "text of at most %lld bytes",
			    (long long)spec->max);
		break;
	case OPTION_KIND_CHOICE:
		text_add(text, "one of ");
		for (; *words != '\0'; words++) {
			if (*words != '|')
				text_add_char(text, *words);
			else
				text_add(text, strchr(words + 1, '|') != NULL
						       ? ", "
						       : " or ");
		}
		break;
	}
}

static void
add_facts(struct text *text, const struct option_spec *spec)
{
	const size_t start = text->length;

	options_add_domain(text, spec);
	if (spec->kind != OPTION_KIND_BOOL)
		text->bytes[start] = (char)(text->bytes[start] - 'a' + 'A');
	text_printf(text, ". Default: %s.",
		    spec->preset[0] != '\0' ? spec->preset : "empty");
}

void
options_add_help(struct text *text)
{
	struct text facts = {0};
	int i = 0;

	text_add(text,
		 "usage: rotary-remote [OPTION]...\n"
		 "Steers rotaryd by remotes, keypads and knobs.\n\n"
		 "  --test        show what each key is and would do; send "
		 "nothing\n"
		 "  --learn FILE  write a key map by asking for keys\n"
		 "  --check       read options and key maps, list the rows, "
		 "end\n"
		 "  --config FILE read FILE instead of the usual places\n"
		 "  --help        show this and end\n"
		 "  --version     show the version and end\n\n"
		 "Options, each also in section [remote] of the first of\n"
		 "  $XDG_CONFIG_HOME/rotary/remote.conf\n"
		 "  /etc/rotary/remote.conf\n"
		 "that exists:\n");
	for (i = 0; i < OPTION_COUNT; i++) {
		text_printf(text, "\n  --%s=%s\n", option_specs[i].name,
			    option_specs[i].preset);
		text_add_wrapped(text, "      ", option_specs[i].help);
		text_clear(&facts);
		add_facts(&facts, &option_specs[i]);
		text_add_wrapped(text, "      ", text_string(&facts));
	}
	text_finish(&facts);
}

void
options_add_sample(struct text *text)
{
	struct text facts = {0};
	int i = 0;

	text_add(text,
		 "# SPDX-License-Identifier: GPL-3.0-or-later\n"
		 "# remote.conf - the options of rotary-remote, all at their "
		 "defaults.\n"
		 "#\n"
		 "# The first that exists is read: the file that --config "
		 "names,\n"
		 "# $XDG_CONFIG_HOME/rotary/remote.conf, "
		 "/etc/rotary/remote.conf.\n"
		 "# Each option is also --NAME=VALUE on the command line. "
		 "What keys do stands in\n"
		 "# key maps: see remote.conf(5).\n"
		 "# A comment begins with # at the start of a line, or with "
		 "a space and ;\n\n[remote]\n");
	for (i = 0; i < OPTION_COUNT; i++) {
		const struct option_spec *spec = &option_specs[i];

		text_add_char(text, '\n');
		text_add_wrapped(text, "# ", spec->help);
		text_clear(&facts);
		add_facts(&facts, spec);
		text_add_wrapped(text, "# ", text_string(&facts));
		text_printf(text, "#%s =%s%s\n", spec->name,
			    spec->preset[0] != '\0' ? " " : "", spec->preset);
	}
	text_finish(&facts);
}

void
options_add_manual(struct text *text)
{
	struct text facts = {0};
	int i = 0;

	for (i = 0; i < OPTION_COUNT; i++) {
		text_printf(text, ".TP\n.B %s\n", option_specs[i].name);
		text_add_troff(text, option_specs[i].help);
		text_clear(&facts);
		add_facts(&facts, &option_specs[i]);
		text_add_troff(text, text_string(&facts));
	}
	text_finish(&facts);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options_parts.h - the table as data, for the two files of options. */
#ifndef ROTARY_MONITOR_OPTIONS_PARTS_H
#define ROTARY_MONITOR_OPTIONS_PARTS_H

#include "remote/monitor/options.h"

enum option_kind {
	OPTION_KIND_INT,
	OPTION_KIND_BOOL,
	OPTION_KIND_TEXT,
	OPTION_KIND_CHOICE,
};

struct option_spec {
	const char *name;
	enum option_kind kind;
	const char *unit;
	int64_t min;
	int64_t max;
	const char *preset;
	const char *help;
};

extern const struct option_spec option_specs[OPTION_COUNT];

/* What a value may be: "a number from 1 to 9 (ms)". */
void options_add_domain(struct text *text, const struct option_spec *spec);

#endif

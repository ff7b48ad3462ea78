/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h - the options of rotary-remote, for lib/base/conf.h: options.def,
 * and what its command line asks for. */
#ifndef ROTARY_MONITOR_OPTIONS_H
#define ROTARY_MONITOR_OPTIONS_H

#include "lib/base/conf.h"

enum option {
#define X(id, section, name, kind, unit, min, max, preset, help) OPTION_##id,
#include "remote/monitor/options.def"
#undef X
	OPTION_COUNT
};

/* What else than running, --check (CONF_CHECK), --help and --version. */
enum options_action {
	OPTIONS_TEST = CONF_OWN_ACTION, /* show keys, send nothing */
	OPTIONS_LEARN,                  /* write conf_argument() */
};

extern const struct conf_schema options_schema;

#endif

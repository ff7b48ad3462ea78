/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe.h - what a key would do, in words, as a line that says it. Pure. */
#ifndef ROTARY_MONITOR_DESCRIBE_H
#define ROTARY_MONITOR_DESCRIBE_H

#include "remote/monitor/keymap.h"

/* "next; while held: seekcur +5*grow". */
void describe_add_meaning(struct text *text, const struct keymap_bound *bound);

/* say "RIGHT: next; ..." text: what the key does in play. */
void describe_add_line(struct text *line, const struct keymap *map,
		       struct key key);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refusals.h - what a daemon has refused so far, so that it is told once.
 * Pure. Overload: what comes after REFUSALS_MAX is not new any more. */
#ifndef ROTARY_MONITOR_REFUSALS_H
#define ROTARY_MONITOR_REFUSALS_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum { REFUSALS_MAX = 32 };

struct refusals {
	char *words[REFUSALS_MAX];
	int count;
};

/* True the first time that words come. */
bool refusals_is_new(struct refusals *refusals, const char *words);
void refusals_finish(struct refusals *refusals);

#endif

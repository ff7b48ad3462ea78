/* SPDX-License-Identifier: GPL-3.0-or-later */
/* power.h - asks logind to end or suspend the machine.
 * Threads: one. RT: MAY_BLOCK, up to 5 s: nothing is waiting any more. */
#ifndef ROTARY_MONITOR_POWER_H
#define ROTARY_MONITOR_POWER_H

#include "lib/base/attr.h"

struct text;

/* word: off, restart or sleep. 0, -errno with one sentence. */
NODISCARD int power_do(const char *word, struct text *ret_error);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learn.h - writes a key map for a remote whose keys are named wrongly, by
 * asking for one key after the other. */
#ifndef ROTARY_MONITOR_LEARN_H
#define ROTARY_MONITOR_LEARN_H

#include "lib/base/attr.h"

struct conf;

/* Writes the file that --learn names, which must not exist yet. 0, -errno,
 * after telling why. */
NODISCARD int learn_run(const struct conf *options);

#endif

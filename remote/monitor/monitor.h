/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monitor.h - the remote's loop: devices in, commands out.
 * Threads: one, for as long as the process lives. */
#ifndef ROTARY_MONITOR_MONITOR_H
#define ROTARY_MONITOR_MONITOR_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct conf;

/* Runs until SIGINT or SIGTERM. A test prints what keys are and would do, and
 * speaks to no daemon. 0, -errno, after telling why. */
NODISCARD int monitor_run(const struct conf *options, bool is_test);

/* Lists the maps and their rows. 0; -EINVAL: something is wrong with a map. */
NODISCARD int monitor_check(const struct conf *options);

#endif

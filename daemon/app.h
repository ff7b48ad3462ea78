/* SPDX-License-Identifier: GPL-3.0-or-later */
/* app.h - puts the rooms of rotaryd together and runs its loop.
 * Threads: control, which is the program's first thread. */
#ifndef ROTARY_APP_H
#define ROTARY_APP_H

#include "lib/base/attr.h"

struct conf;

/* Runs until SIGTERM or SIGINT. Returns the program's exit status: 0, or 1
 * after one line in the log that says what could not be had. */
MAY_BLOCK int app_run(const struct conf *conf);

#endif

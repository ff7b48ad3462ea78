/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log_line.h - what log.c and log_rt.c share. */
#ifndef ROTARY_BASE_LOG_LINE_H
#define ROTARY_BASE_LOG_LINE_H

#include "lib/base/log.h"

/* Writes one line whatever the level, dated age_ns ago. Keeps errno. */
void log_line(enum log_level level, int64_t age_ns, const char *topic,
	      const char *message);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* app_options.h - what the configuration comes to for the engine.
 * Threads: control. */
#ifndef ROTARY_APP_OPTIONS_H
#define ROTARY_APP_OPTIONS_H

#include "daemon/engine/engine.h"
#include "lib/base/conf.h"

/* Strings are conf's. others is for [output NAME]. Looks for a sound card where
 * the driver is auto, and logs when there is none. */
MAY_BLOCK struct engine_config
app_engine_options(const struct conf *conf,
		   struct engine_output_config others[CONF_FURTHER_MAX]);
/* Of one output. */
bool app_volume_is(const struct conf *conf, enum engine_volume volume);
/* No output has one that could be set. */
bool app_has_no_volume(const struct conf *conf);

#endif

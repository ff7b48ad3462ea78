/* SPDX-License-Identifier: GPL-3.0-or-later */
/* own.h - the remote's own actions as commands of the protocol. Pure. */
#ifndef ROTARY_MONITOR_OWN_H
#define ROTARY_MONITOR_OWN_H

#include "remote/monitor/action.h"
#include "remote/monitor/wire.h"

/* Adds the line that does this step, given what the daemon does now, and notes
 * in state what it will do then. Nothing is added when nothing is to be done.
 */
void own_add_line(struct text *line, const struct action_step *step,
		  struct wire_state *state);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wire_state.c - reads the answer to status. What it does not know it passes
 * over: other servers say more. */
#include "remote/monitor/wire_state.h"

#include "lib/base/text.h"

#include <string.h>

static bool
is_on(const char *value)
{
	return strcmp(value, "1") == 0 || strcmp(value, "oneshot") == 0;
}

void
wire_state_take(struct wire_state *state, const char *name, const char *value)
{
	int64_t number = 0;

	if (strcmp(name, "state") == 0)
		state->play = strcmp(value, "play") == 0    ? WIRE_PLAYING
			      : strcmp(value, "pause") == 0 ? WIRE_PAUSED
							    : WIRE_STOPPED;
	else if (strcmp(name, "volume") == 0 &&
		 text_parse_int(value, -1, 100, &number) == 0)
		state->volume = (int)number;
	else if (strcmp(name, "random") == 0)
		state->random = is_on(value);
	else if (strcmp(name, "repeat") == 0)
		state->repeat = is_on(value);
	else if (strcmp(name, "single") == 0)
		state->single = is_on(value);
	else if (strcmp(name, "consume") == 0)
		state->consume = is_on(value);
}

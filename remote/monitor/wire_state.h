/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wire_state.h - what the daemon does, as far as keys need to know. Pure. */
#ifndef ROTARY_MONITOR_WIRE_STATE_H
#define ROTARY_MONITOR_WIRE_STATE_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum wire_play { WIRE_STOPPED, WIRE_PLAYING, WIRE_PAUSED };

/* What the daemon said last, with what was commanded since. */
struct wire_state {
	bool known; /* the rest is */
	enum wire_play play;
	int volume; /* -1: there is none */
	int volume_before_mute;
	bool random;
	bool repeat;
	bool single;
	bool consume;
	bool speech;
	char song[4096]; /* its URI, or "" */
};

/* A line of the answer to status. */
void wire_state_take(struct wire_state *state, const char *name,
		     const char *value);

#endif

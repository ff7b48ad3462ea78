/* SPDX-License-Identifier: GPL-3.0-or-later */
/* turn.h - axes: wheels that count (REL) and faders that stand somewhere
 * (ABS). A burst is gathered to one turn each 20 ms: nothing that was turned
 * is lost, and a daemon is not flooded. Pure.
 * Overload: TURN_AXES_MAX at once; one more is not seen. */
#ifndef ROTARY_MONITOR_TURN_H
#define ROTARY_MONITOR_TURN_H

#include "remote/monitor/key.h"

enum { TURN_AXES_MAX = 16 };

struct turn_axis {
	bool used;
	unsigned device;
	struct key key;
	int64_t gathered; /* REL: the sum; ABS: the last place */
	bool pending;
	int64_t next_ns; /* not told before */
};

typedef void turn_tell(void *context, unsigned device, struct key key,
		       int64_t value);

struct turns {
	struct turn_axis axes[TURN_AXES_MAX];
	turn_tell *tell;
	void *context;
};

void turns_event(struct turns *turns, int64_t now_ns, unsigned device,
		 struct key key, int value);
/* Forgets what it has gathered of this device. */
void turns_cancel(struct turns *turns, unsigned device);
void turns_tick(struct turns *turns, int64_t now_ns);
int64_t turns_deadline(const struct turns *turns);

#endif

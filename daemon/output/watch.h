/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.h - how long the output thread has been in one place, as control sees
 * it who looks now and then. Pure; control's own. */
#ifndef ROTARY_OUTPUT_WATCH_H
#define ROTARY_OUTPUT_WATCH_H

#include <stdint.h>

/* What is to be done about it. */
enum watch_verdict {
	WATCH_FINE,    /* look again in watch_ns */
	WATCH_SUSPECT, /* look again in watch_again_ns */
	WATCH_STUCK,   /* in one call for 2 s: give it up */
	WATCH_STARVED, /* no call, no sleep for 2 s; told once */
};

struct watch {
	uint32_t seen;     /* takeback_look() */
	int64_t looked_ns; /* 0: never */
	int64_t same_ns;   /* for how long, at least, it was there */
};

extern const int64_t watch_ns, watch_again_ns;

enum watch_verdict watch_look(struct watch *watch, uint32_t seen,
			      int64_t now_ns);

#endif

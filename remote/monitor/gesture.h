/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gesture.h - what was done with a key: tapped, held, held long, pressed
 * twice, let go. A function of what happened and when: no clock, no I/O.
 *
 * One machine for each key that is down, with what was bound to it when it
 * went down:
 *
 *	          down               up                rejoin_ms pass
 *	(none) ---------> DOWN -----------------> GHOST ---------------> tapped
 *	                   ^  another key: spent    |
 *	                   +------------------------+ down again: one hold
 *	tapped, with .double ------> WAIT -- double_ms pass --> short
 *	                               |  down again
 *	                               +-----------------------> double, spent
 *
 * Time never goes back: an event older than the last one counts as if it were
 * of that time. Threads: one. RT: neither allocates nor blocks.
 * Overload: GESTURE_KEYS_MAX keys at once, others are not seen. */
#ifndef ROTARY_MONITOR_GESTURE_H
#define ROTARY_MONITOR_GESTURE_H

#include "remote/monitor/keymap.h"

enum { GESTURE_KEYS_MAX = 32 };

struct gesture_timing {
	int64_t hold_ns;
	int64_t long_ns;
	int64_t repeat_ns;
	int64_t double_ns;
	int64_t max_ns; /* a key that is down longer is stuck */
};

struct gesture_press {
	unsigned device;
	struct key key;
	enum keymap_mode mode;
	const struct keymap_bound *bound; /* outlives the press; not NULL */
	int64_t rejoin_ns;
	bool has_releases;
};

/* factor: how a repeat has grown, else 1. May not call back into gestures. */
typedef void gesture_fire(void *context, const struct gesture_press *press,
			  enum keymap_gesture gesture, int64_t factor);

enum gesture_state {
	GESTURE_FREE,
	GESTURE_DOWN,
	GESTURE_GHOST, /* up, but this may be a lost frame of infrared */
	GESTURE_WAIT,  /* tapped: a second press makes it a double */
};

struct gesture_slot {
	enum gesture_state state;
	bool spent; /* nothing but .release is still to come */
	bool short_done;
	bool hold_done;
	bool long_done;
	struct gesture_press press;
	int64_t down_ns;
	int64_t up_ns;
	int64_t repeat_ns; /* when the next one is due */
	int repeats;
};

struct gestures {
	struct gesture_timing timing;
	gesture_fire *fire;
	void *context;
	struct gesture_slot slots[GESTURE_KEYS_MAX];
};

/* A key went down. True when that only went on with a hold which had been
 * split, or made a double: nothing new was pressed. */
bool gestures_rejoin(struct gestures *gestures, int64_t now_ns, unsigned device,
		     struct key key);
/* A new press; other holds of the device end. */
void gestures_down(struct gestures *gestures, int64_t now_ns,
		   const struct gesture_press *press);
void gestures_up(struct gestures *gestures, int64_t now_ns, unsigned device,
		 struct key key);
/* The key (NULL: every key of the device) is up, but nobody let go of it: it
 * is over, and only .release is still done. */
void gestures_cancel(struct gestures *gestures, unsigned device,
		     const struct key *key);
/* Whatever another key does to the holds of its device. */
void gestures_end_others(struct gestures *gestures, unsigned device,
			 struct key key);

/* Does what is due, in the order of its time. */
void gestures_tick(struct gestures *gestures, int64_t now_ns);
/* When something is due next; INT64_MAX: never. */
int64_t gestures_deadline(const struct gestures *gestures);

#endif

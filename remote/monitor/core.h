/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core.h - from events of keys to what is to be done: gestures, modes, the
 * countdown to power off. A function of (time, device, code, value): no clock,
 * no I/O; what comes out goes to one callback, at once.
 *
 * Modes: play; menu and text, which leave by themselves when no key comes for
 * a while; describe, in which a key only says what it would do. Transport,
 * volume and mute work in each of them.
 * Threads: one. Time never goes back. Errors: -ENOMEM from core_create(). */
#ifndef ROTARY_MONITOR_CORE_H
#define ROTARY_MONITOR_CORE_H

#include "remote/monitor/gesture.h"

struct core;

/* Devices are numbered by the caller. The last number is for keys that are
 * pressed by a command. */
enum { CORE_DEVICES_MAX = 33, CORE_DEVICE_VIRTUAL = CORE_DEVICES_MAX - 1 };

struct core_options {
	struct gesture_timing gestures;
	int64_t menu_timeout_ns; /* 0: none */
};

enum core_kind {
	CORE_LINE,    /* send this line */
	CORE_STEP,    /* do this step */
	CORE_POWER,   /* the countdown is over: word says what to do */
	CORE_UNBOUND, /* nothing is bound to this key */
};

/* Everything lives until the callback returns. */
struct core_output {
	enum core_kind kind;
	const char *line; /* CORE_LINE; CORE_POWER: off, restart or sleep */
	const struct action_step *step;
	int64_t factor;
	/* Where it comes from; action is NULL when no row of a map did it. */
	const struct action *action;
	unsigned device;
	struct key key;
	enum keymap_mode mode;
	enum keymap_gesture gesture;
};
typedef void core_emit(void *context, const struct core_output *output);

NODISCARD int core_create(const struct core_options *options, core_emit *output,
			  void *context, struct core **ret_core);
void core_destroy(struct core *core);

/* The device is there, or goes by another map. What is held on it is over. */
void core_set_device(struct core *core, unsigned device, struct keymap *map,
		     const struct keymap_settings *settings);
/* It is gone. */
void core_drop_device(struct core *core, unsigned device);

/* Something was pressed (1), let go of (0) or turned. Repeats of the kernel
 * (2) and what no kernel sends are passed over. An ABS axis counts from 0 to
 * 100. */
void core_event(struct core *core, int64_t now_ns, unsigned device,
		struct key key, int value);
/* The key is up, though nobody saw it go. */
void core_lose_key(struct core *core, unsigned device, struct key key);
/* One gesture, as if it had been made just now. */
void core_gesture(struct core *core, int64_t now_ns, struct key key,
		  enum keymap_gesture gesture);

/* Keys that end or suspend the machine do nothing until then. */
void core_quiet_power(struct core *core, int64_t until_ns);
/* Silently, when the daemon cannot do what a mode needs. */
void core_set_mode(struct core *core, enum keymap_mode mode);
enum keymap_mode core_mode(const struct core *core);

void core_tick(struct core *core, int64_t now_ns);
int64_t core_deadline(const struct core *core);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* key.h - what can be pressed or turned, and its name: OK, VOLUMEUP, 1,
 * REL_DIAL, ABS_VOLUME, BTN_0. The names are the kernel's, keys without their
 * KEY_. Pure. */
#ifndef ROTARY_MONITOR_KEY_H
#define ROTARY_MONITOR_KEY_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct text;

struct key {
	uint16_t type; /* EV_KEY, EV_REL or EV_ABS */
	uint16_t code;
};

/* Upper and lower case are the same. 0, -ENOENT. */
NODISCARD int key_parse(const char *name, struct key *ret_key);
/* A code without a name is "key 700". */
void key_add_name(struct text *text, struct key key);

bool key_is_axis(struct key key);
/* A type and a code that the kernel knows. */
bool key_is_valid(struct key key);
/* Works in every mode: transport, volume, mute, power and axes. */
bool key_is_transport(struct key key);
/* May end or suspend the machine. */
bool key_is_power(struct key key);

#endif

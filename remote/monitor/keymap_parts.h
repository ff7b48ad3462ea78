/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keymap_parts.h - what the two files of keymap share. Not for others. */
#ifndef ROTARY_MONITOR_KEYMAP_PARTS_H
#define ROTARY_MONITOR_KEYMAP_PARTS_H

#include "remote/monitor/keymap.h"

#include <linux/input-event-codes.h>

enum {
	KEYMAP_REL_BASE = KEY_CNT,
	KEYMAP_ABS_BASE = KEYMAP_REL_BASE + REL_CNT,
	KEYMAP_KEYS = KEYMAP_ABS_BASE + ABS_CNT,
	KEYMAP_DEVICES_MAX = 32,
};

/* A [device] section: what it asks of a device, and what that device gets. */
struct keymap_device {
	char *name; /* a glob */
	char *phys; /* a glob, or NULL */
	int bus;    /* -1: any */
	int vendor;
	int product;
	enum keymap_kind kind;
	enum keymap_grab grab;
	int rejoin_ms; /* -1: the preset */
	bool has_releases;
};

struct keymap {
	unsigned references;
	char *path;
	struct keymap_device devices[KEYMAP_DEVICES_MAX];
	int device_count;
	uint16_t folds[KEYMAP_KEYS]; /* index + 1 of the key meant; 0: itself */
	struct keymap_bound *bounds[KEYMAP_MODE_COUNT][KEYMAP_KEYS];
};

/* -1 when the kernel has no such key. */
int keymap_index(struct key key);
struct key keymap_key_at(int index);

#endif

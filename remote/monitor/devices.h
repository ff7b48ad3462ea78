/* SPDX-License-Identifier: GPL-3.0-or-later */
/* devices.h - all input devices: found, opened, read, lost.
 *
 * Nodes are found by scanning /dev/input, by inotify on it and by a monitor of
 * udev. A device keeps one number from being opened to being gone.
 * Threads: one. RT: MAY_BLOCK as opening a node does.
 * Overload: DEVICES_MAX devices; one more is told of and not opened. */
#ifndef ROTARY_MONITOR_DEVICES_H
#define ROTARY_MONITOR_DEVICES_H

#include "remote/monitor/core.h"
#include "remote/monitor/device.h"

#include <poll.h>

enum { DEVICES_MAX = CORE_DEVICE_VIRTUAL, DEVICES_POLL_MAX = DEVICES_MAX + 2 };

struct devices;

struct devices_hooks {
	/* It is there; false: it is not for us, close it. */
	bool (*opened)(void *context, unsigned number, struct device *device);
	void (*closed)(void *context, unsigned number);
	void (*event)(void *context, unsigned number,
		      const struct device_event *event);
	void *context;
};

NODISCARD int devices_create(const struct devices_hooks *hooks,
			     struct devices **ret_devices);
void devices_destroy(struct devices *devices);

/* Opens what is there. Also tries again what nobody wanted before. */
void devices_scan(struct devices *devices, int64_t now_ns);

/* NULL: that number is free. */
struct device *devices_at(const struct devices *devices, unsigned number);

/* Fills ret_polls (DEVICES_POLL_MAX at most); returns how many. */
size_t devices_add_polls(const struct devices *devices,
			 struct pollfd *ret_polls);
/* Reads whatever of these is ready. True: more is there already. */
bool devices_handle(struct devices *devices, const struct pollfd *polls,
		    size_t count, int64_t now_ns);
void devices_tick(struct devices *devices, int64_t now_ns);
int64_t devices_deadline(const struct devices *devices);

#endif

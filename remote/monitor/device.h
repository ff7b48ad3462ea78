/* SPDX-License-Identifier: GPL-3.0-or-later */
/* device.h - one input device: what it is, and its events.
 *
 * Threads: one. RT: reading does not wait. Errors: -errno. Logs what a grab
 * comes to. */
#ifndef ROTARY_MONITOR_DEVICE_H
#define ROTARY_MONITOR_DEVICE_H

#include "remote/monitor/keymap.h"

struct device;

/* Opens path. 0; -EMEDIUMTYPE: it is a mouse, a joystick, a lid, ...; -EACCES,
 * -ENOENT, -ENODEV and other -errno of opening it; -ENOMEM. */
NODISCARD int device_open(const char *path, struct device **ret_device);
/* Also lets go of it. */
void device_close(struct device *device);

const char *device_path(const struct device *device);
int device_fd(const struct device *device);
const struct keymap_identity *device_identity(const struct device *device);
/* True when path still is the node that was opened. */
bool device_is_at(const struct device *device, const char *path);

/* Whether its keys are kept from others. Done when no key is down, by
 * device_settle(); a keyboard that can type is never grabbed. */
void device_want_grab(struct device *device, bool wanted);
bool device_is_grabbed(const struct device *device);
/* Grabs or lets go when it is wanted and can be. Returns when to try again;
 * INT64_MAX: with the next event. */
int64_t device_settle(struct device *device, int64_t now_ns);

/* now_ns of the kernel where it tells it. lost: the key is up, but nobody saw
 * it go. */
struct device_event {
	int64_t time_ns;
	struct key key;
	int value;
	bool lost;
};
typedef void device_handle(void *context, const struct device_event *event);

/* Hands out the events that are there, a bounded number. 0; 1: there are more;
 * -ENODEV and other -errno: it is gone. */
NODISCARD int device_read(struct device *device, int64_t now_ns,
			  device_handle *handle, void *context);

#endif

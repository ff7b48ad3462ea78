/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.h - tells of device nodes that come and go: by udev's monitor, which
 * knows when a node may be opened, and by inotify, which needs no udev.
 * Threads: one. RT: does not wait. */
#ifndef ROTARY_MONITOR_WATCH_H
#define ROTARY_MONITOR_WATCH_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct watch;

/* path: /dev/input/eventN. */
struct watch_hooks {
	void (*came)(void *context, const char *path);
	void (*gone)(void *context, const char *path);
	/* Something was missed: look at all. */
	void (*missed)(void *context);
	void *context;
};

/* 0, -errno: neither of the two can be had. */
NODISCARD int watch_create(const struct watch_hooks *hooks,
			   struct watch **ret_watch);
void watch_destroy(struct watch *watch);

/* -1: there is none. */
int watch_inotify_fd(const struct watch *watch);
int watch_udev_fd(const struct watch *watch);
void watch_handle_inotify(struct watch *watch);
void watch_handle_udev(struct watch *watch);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.c - the two ways to hear of device nodes.
 *
 * Both are used at once where both are there: whoever hears the same twice
 * does not mind, and inotify is there before udev has set a node's rights. In
 * a machine without any input /dev/input does not exist: then /dev is watched
 * until it does. */
#include "remote/monitor/watch.h"

#include <errno.h>
#include <libudev.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static const char folder[] = "/dev/input";

struct watch {
	struct watch_hooks hooks;
	int inotify;
	int input_watch; /* of /dev/input; -1: it is not there */
	int dev_watch;
	struct udev *udev;
	struct udev_monitor *monitor;
};

static bool
is_event_node(const char *name)
{
	return strncmp(name, "event", 5) == 0 && name[5] >= '0' &&
	       name[5] <= '9';
}

static void
watch_folder(struct watch *watch)
{
	watch->input_watch = inotify_add_watch(
		watch->inotify, folder,
		IN_CREATE | IN_DELETE | IN_ATTRIB | IN_MOVED_TO | IN_ONLYDIR);
}

static int
begin_inotify(struct watch *watch)
{
	watch->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->inotify < 0)
		return -errno;
	watch->dev_watch = inotify_add_watch(watch->inotify, "/dev",
					     IN_CREATE | IN_ONLYDIR);
	watch_folder(watch);
	return 0;
}

static int
begin_udev(struct watch *watch)
{
	watch->udev = udev_new();
	if (watch->udev == NULL)
		return -ENOMEM;
	watch->monitor = udev_monitor_new_from_netlink(watch->udev, "udev");
	if (watch->monitor == NULL)
		return -ENOTSUP;
	if (udev_monitor_filter_add_match_subsystem_devtype(
		    watch->monitor, "input", NULL) < 0 ||
	    udev_monitor_enable_receiving(watch->monitor) < 0) {
		udev_monitor_unref(watch->monitor);
		watch->monitor = NULL;
		return -ENOTSUP;
	}
	return 0;
}

int
watch_create(const struct watch_hooks *hooks, struct watch **ret_watch)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	int by_udev = 0, by_inotify = 0;

	if (watch == NULL)
		return -ENOMEM;
	watch->hooks = *hooks;
	by_inotify = begin_inotify(watch);
	by_udev = begin_udev(watch);
	if (by_inotify < 0 && by_udev < 0) {
		watch_destroy(watch);
		return by_inotify;
	}
	*ret_watch = watch;
	return 0;
}

void
watch_destroy(struct watch *watch)
{
	if (watch == NULL)
		return;
	if (watch->inotify >= 0)
		close(watch->inotify);
	if (watch->monitor != NULL)
		udev_monitor_unref(watch->monitor);
	if (watch->udev != NULL)
		udev_unref(watch->udev);
	free(watch);
}

int
watch_inotify_fd(const struct watch *watch)
{
	return watch->inotify;
}

int
watch_udev_fd(const struct watch *watch)
{
	return watch->monitor != NULL ? udev_monitor_get_fd(watch->monitor)
				      : -1;
}

static void
take_inotify(struct watch *watch, const struct inotify_event *event)
{
	char path[NAME_MAX + 16];

	if ((event->mask & IN_Q_OVERFLOW) != 0) {
		watch->hooks.missed(watch->hooks.context);
		return;
	}
	if (event->wd == watch->dev_watch) {
		if (event->len > 0 && strcmp(event->name, "input") == 0) {
			watch_folder(watch);
			watch->hooks.missed(watch->hooks.context);
		}
		return;
	}
	if ((event->mask & IN_IGNORED) != 0) {
		watch->input_watch = -1;
		return;
	}
	if (event->len == 0 || !is_event_node(event->name))
		return;
	snprintf(path, sizeof(path), "%s/%s", folder, event->name);
	if ((event->mask & IN_DELETE) != 0)
		watch->hooks.gone(watch->hooks.context, path);
	else
		watch->hooks.came(watch->hooks.context, path);
}

void
watch_handle_inotify(struct watch *watch)
{
	_Alignas(struct inotify_event) char bytes[2048];
	ssize_t got = 0;

	while ((got = read(watch->inotify, bytes, sizeof(bytes))) > 0) {
		ssize_t i = 0;

		while (i < got) {
			const struct inotify_event *event =
				(const void *)(bytes + i);

			take_inotify(watch, event);
			i += (ssize_t)(sizeof(*event) + event->len);
		}
	}
}

void
watch_handle_udev(struct watch *watch)
{
	struct udev_device *device = NULL;

	while ((device = udev_monitor_receive_device(watch->monitor)) != NULL) {
		const char *path = udev_device_get_devnode(device);
		const char *action = udev_device_get_action(device);
		const char *slash = path != NULL ? strrchr(path, '/') : NULL;

		if (slash != NULL && action != NULL &&
		    is_event_node(slash + 1)) {
			if (strcmp(action, "remove") == 0)
				watch->hooks.gone(watch->hooks.context, path);
			else
				watch->hooks.came(watch->hooks.context, path);
		}
		udev_device_unref(device);
	}
}

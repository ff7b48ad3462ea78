/* SPDX-License-Identifier: GPL-3.0-or-later */
/* devices.c - the table of devices, and nodes that cannot be opened yet.
 *
 * A node comes before udev has given it its group, so opening is tried ten
 * times, 100 ms apart; udev's own word tries it once more. A node that comes
 * where one is open is another device if it is another inode: the old one is
 * closed first. A device that is gone is closed when its node is removed or
 * when reading says ENODEV, whichever is first; what was held on it is then
 * let go of by whoever hears closed(). */
#include "remote/monitor/devices.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "remote/monitor/watch.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING_MAX = 64, PATH_BYTES = 64, TRIES = 10 };

static const char topic[] = "remote";
static const int64_t try_again_ns = 100 * NS_PER_MS;
static const int64_t read_again_ns = 2 * NS_PER_S;

struct pending {
	char path[PATH_BYTES]; /* "": free */
	int tries;
	int64_t next_ns;
};

struct devices {
	struct devices_hooks hooks;
	struct watch *watch;
	struct device *list[DEVICES_MAX];
	int64_t settle_ns[DEVICES_MAX]; /* when a grab is tried again */
	struct pending pending[PENDING_MAX];
	int64_t now_ns;
	bool told_full;
	unsigned reading; /* whose events are handed out */
};

/* --- open and close */

static void
close_at(struct devices *devices, unsigned number)
{
	struct device *device = devices->list[number];

	log_info(topic, "%s (%s) is gone", device_identity(device)->name,
		 device_path(device));
	devices->list[number] = NULL;
	devices->hooks.closed(devices->hooks.context, number);
	device_close(device);
}

static int
find(const struct devices *devices, const char *path)
{
	int i = 0;

	for (i = 0; i < DEVICES_MAX; i++)
		if (devices->list[i] != NULL &&
		    strcmp(device_path(devices->list[i]), path) == 0)
			return i;
	return -1;
}

static int
find_free(const struct devices *devices)
{
	int i = 0;

	for (i = 0; i < DEVICES_MAX; i++)
		if (devices->list[i] == NULL)
			return i;
	return -1;
}

static struct pending *
find_pending(struct devices *devices, const char *path)
{
	int i = 0;

	for (i = 0; i < PENDING_MAX; i++)
		if (strcmp(devices->pending[i].path, path) == 0)
			return &devices->pending[i];
	return NULL;
}

static void
forget_pending(struct devices *devices, const char *path)
{
	struct pending *pending = find_pending(devices, path);

	if (pending != NULL)
		pending->path[0] = '\0';
}

static void
keep_pending(struct devices *devices, const char *path, int error)
{
	struct pending *pending = find_pending(devices, path);

	if (pending == NULL) {
		pending = find_pending(devices, "");
		if (pending == NULL || strlen(path) >= PATH_BYTES)
			return;
		snprintf(pending->path, sizeof(pending->path), "%s", path);
		pending->tries = 0;
	}
	pending->next_ns = devices->now_ns + try_again_ns;
	if (++pending->tries < TRIES)
		return;
	pending->path[0] = '\0';
	if (error == -EACCES)
		log_warn(topic,
			 "%s may not be read by this user: join the "
			 "group input, or run rotary-remote as a "
			 "service",
			 path);
	else
		log_warn(topic, "cannot open %s: %s", path,
			 text_of_error(error));
}

static void
open_path(struct devices *devices, const char *path)
{
	const int free_number = find_free(devices);
	struct device *device = NULL;
	int result = 0;

	if (free_number < 0) {
		if (!devices->told_full)
			log_warn(topic, "%d devices are open, %s is not",
				 DEVICES_MAX, path);
		devices->told_full = true;
		return;
	}
	result = device_open(path, &device);
	if (result == -EACCES || result == -ENOENT || result == -EBUSY ||
	    result == -ENXIO) {
		keep_pending(devices, path, result);
		return;
	}
	forget_pending(devices, path);
	if (result == -EMEDIUMTYPE || result == -ENODEV)
		return;
	if (result < 0) {
		log_warn(topic, "cannot open %s: %s", path,
			 text_of_error(result));
		return;
	}
	devices->list[free_number] = device;
	devices->settle_ns[free_number] = devices->now_ns;
	if (!devices->hooks.opened(devices->hooks.context,
				   (unsigned)free_number, device)) {
		devices->list[free_number] = NULL;
		device_close(device);
	}
}

static void
on_came(void *context, const char *path)
{
	struct devices *devices = context;
	const int number = find(devices, path);

	if (number >= 0 && device_is_at(devices->list[number], path))
		return;
	if (number >= 0)
		close_at(devices, (unsigned)number);
	open_path(devices, path);
}

static void
on_gone(void *context, const char *path)
{
	struct devices *devices = context;
	const int number = find(devices, path);

	forget_pending(devices, path);
	if (number >= 0)
		close_at(devices, (unsigned)number);
}

static void
on_missed(void *context)
{
	struct devices *devices = context;

	devices_scan(devices, devices->now_ns);
}

void
devices_scan(struct devices *devices, int64_t now_ns)
{
	DIR *folder = opendir("/dev/input");
	const struct dirent *entry = NULL;
	char path[PATH_BYTES + sizeof(entry->d_name)];
	int i = 0;

	devices->now_ns = now_ns;
	for (i = 0; i < DEVICES_MAX; i++)
		if (devices->list[i] != NULL &&
		    !device_is_at(devices->list[i],
				  device_path(devices->list[i])))
			close_at(devices, (unsigned)i);
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (strncmp(entry->d_name, "event", 5) != 0)
			continue;
		snprintf(path, sizeof(path), "/dev/input/%s", entry->d_name);
		on_came(devices, path);
	}
	if (folder != NULL)
		closedir(folder);
}

int
devices_create(const struct devices_hooks *hooks, struct devices **ret_devices)
{
	struct devices *devices = calloc(1, sizeof(*devices));
	const struct watch_hooks watch_hooks = {.came = on_came,
						.gone = on_gone,
						.missed = on_missed,
						.context = devices};
	int result = 0;

	if (devices == NULL)
		return -ENOMEM;
	devices->hooks = *hooks;
	result = watch_create(&watch_hooks, &devices->watch);
	if (result < 0) {
		free(devices);
		return result;
	}
	*ret_devices = devices;
	return 0;
}

void
devices_destroy(struct devices *devices)
{
	int i = 0;

	if (devices == NULL)
		return;
	for (i = 0; i < DEVICES_MAX; i++)
		device_close(devices->list[i]);
	watch_destroy(devices->watch);
	free(devices);
}

struct device *
devices_at(const struct devices *devices, unsigned number)
{
	return number < DEVICES_MAX ? devices->list[number] : NULL;
}

/* --- the loop */

size_t
devices_add_polls(const struct devices *devices, struct pollfd *ret_polls)
{
	const int fds[] = {watch_inotify_fd(devices->watch),
			   watch_udev_fd(devices->watch)};
	size_t count = 0, i = 0;

	for (i = 0; i < 2; i++)
		if (fds[i] >= 0)
			ret_polls[count++] =
				(struct pollfd){.fd = fds[i], .events = POLLIN};
	for (i = 0; i < DEVICES_MAX; i++)
		if (devices->list[i] != NULL)
			ret_polls[count++] = (struct pollfd){
				.fd = device_fd(devices->list[i]),
				.events = POLLIN};
	return count;
}

static void
on_event(void *context, const struct device_event *event)
{
	struct devices *devices = context;

	devices->hooks.event(devices->hooks.context, devices->reading, event);
}

/* A device that cannot be read, but is there, is tried again: else its keys
 * would be dead until it is plugged in anew. */
static void
lose(struct devices *devices, unsigned number, int error)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s", device_path(devices->list[number]));
	if (error != -ENODEV)
		log_warn(topic, "cannot read %s: %s", path,
			 text_of_error(error));
	close_at(devices, number);
	if (error == -ENODEV)
		return;
	keep_pending(devices, path, error);
	if (find_pending(devices, path) != NULL)
		find_pending(devices, path)->next_ns =
			devices->now_ns + read_again_ns;
}

/* True: more is there. A device that only ever says that it is broken would
 * keep the loop going round for ever. */
static bool
read_at(struct devices *devices, unsigned number, short revents)
{
	int result = 0;

	devices->reading = number;
	result = device_read(devices->list[number], devices->now_ns, on_event,
			     devices);
	if (result == 0 && (revents & POLLIN) == 0)
		result = -EIO;
	if (result >= 0)
		devices->settle_ns[number] =
			device_settle(devices->list[number], devices->now_ns);
	else
		lose(devices, number, result);
	return result > 0;
}

static bool
read_ready(struct devices *devices, const struct pollfd *ready)
{
	unsigned i = 0;

	for (i = 0; i < DEVICES_MAX; i++)
		if (devices->list[i] != NULL &&
		    device_fd(devices->list[i]) == ready->fd)
			return read_at(devices, i, ready->revents);
	return false;
}

bool
devices_handle(struct devices *devices, const struct pollfd *polls,
	       size_t count, int64_t now_ns)
{
	bool more = false;
	size_t i = 0;

	devices->now_ns = now_ns;
	/* Keys first: what a device still had to say comes before its end. */
	for (i = 0; i < count; i++)
		if (polls[i].revents != 0)
			more |= read_ready(devices, &polls[i]);
	for (i = 0; i < count; i++) {
		if (polls[i].revents == 0)
			continue;
		if (polls[i].fd == watch_inotify_fd(devices->watch))
			watch_handle_inotify(devices->watch);
		else if (polls[i].fd == watch_udev_fd(devices->watch))
			watch_handle_udev(devices->watch);
	}
	return more;
}

void
devices_tick(struct devices *devices, int64_t now_ns)
{
	int i = 0;

	devices->now_ns = now_ns;
	for (i = 0; i < PENDING_MAX; i++) {
		struct pending *pending = &devices->pending[i];

		if (pending->path[0] != '\0' && pending->next_ns <= now_ns) {
			char path[PATH_BYTES];

			memcpy(path, pending->path, sizeof(path));
			on_came(devices, path);
		}
	}
	for (i = 0; i < DEVICES_MAX; i++)
		if (devices->list[i] != NULL && devices->settle_ns[i] <= now_ns)
			devices->settle_ns[i] =
				device_settle(devices->list[i], now_ns);
}

int64_t
devices_deadline(const struct devices *devices)
{
	int64_t due_ns = INT64_MAX;
	int i = 0;

	for (i = 0; i < PENDING_MAX; i++)
		if (devices->pending[i].path[0] != '\0' &&
		    devices->pending[i].next_ns < due_ns)
			due_ns = devices->pending[i].next_ns;
	for (i = 0; i < DEVICES_MAX; i++)
		if (devices->list[i] != NULL && devices->settle_ns[i] < due_ns)
			due_ns = devices->settle_ns[i];
	return due_ns;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* device.c - an evdev node behind libevdev.
 *
 * When the kernel's buffer ran over, libevdev tells the difference between what
 * it believed and what is: a key that turns out to be up is lost (its hold is
 * over, nothing is done), a key that turns out to be down is not acted on.
 *
 * A grab is taken only when no key is down: else the release of that key would
 * go to nobody, and it would be stuck for everyone else. */
#include "remote/monitor/device.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <libevdev/libevdev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 128, ABS_SCALE = 100 };

static const char topic[] = "remote";
static const int64_t grab_again_ns = 5 * NS_PER_S;
static const int64_t oldest_ns = 2 * NS_PER_S;

struct device {
	char *path;
	int fd;
	struct libevdev *evdev;
	struct keymap_identity identity;
	bool has_clock; /* event times are of our clock */
	bool grab_wanted;
	bool grabbed;
	bool told_grab;
	bool syncing;
	int64_t grab_again_at_ns;
};

/* --- what it is */

static bool
has_key(const struct libevdev *evdev, unsigned code)
{
	return libevdev_has_event_code(evdev, EV_KEY, code) == 1;
}

static bool
has_axis(const struct libevdev *evdev, unsigned type, unsigned code)
{
	return libevdev_has_event_code(evdev, type, code) == 1;
}

static bool
can_type(const struct libevdev *evdev)
{
	static const unsigned letters[] = {KEY_A, KEY_E, KEY_Q, KEY_T,
					   KEY_Y, KEY_P, KEY_Z, KEY_M};
	size_t i = 0;

	for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (!has_key(evdev, letters[i]))
			return false;
	return true;
}

static bool
has_player_key(const struct libevdev *evdev)
{
	static const unsigned codes[] = {
		KEY_OK,        KEY_SELECT,   KEY_PLAYPAUSE, KEY_PLAY,
		KEY_PLAYCD,    KEY_VOLUMEUP, KEY_NEXTSONG,  KEY_NEXT,
		KEY_NUMERIC_1, KEY_KPENTER};
	size_t i = 0;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (has_key(evdev, codes[i]))
			return true;
	return has_key(evdev, KEY_ENTER) && has_key(evdev, KEY_UP);
}

/* Mice, touch screens, tablets, joysticks. */
static bool
points(const struct libevdev *evdev)
{
	const bool mouse =
		has_key(evdev, BTN_LEFT) && has_axis(evdev, EV_REL, REL_X);
	const bool touch = (has_key(evdev, BTN_TOUCH) ||
			    has_key(evdev, BTN_TOOL_FINGER)) &&
			   has_axis(evdev, EV_ABS, ABS_X);
	const bool stick =
		(has_key(evdev, BTN_GAMEPAD) || has_key(evdev, BTN_JOYSTICK)) &&
		has_axis(evdev, EV_ABS, ABS_X);

	return mouse || touch || stick;
}

/* A wheel, a dial or a fader. */
static bool
turns(const struct libevdev *evdev)
{
	return has_axis(evdev, EV_REL, REL_DIAL) ||
	       has_axis(evdev, EV_REL, REL_WHEEL) ||
	       has_axis(evdev, EV_REL, REL_X) ||
	       has_axis(evdev, EV_REL, REL_Y) ||
	       has_axis(evdev, EV_ABS, ABS_VOLUME);
}

static bool
is_wanted(const struct libevdev *evdev)
{
	if (points(evdev))
		return has_key(evdev, KEY_OK) || has_key(evdev, KEY_SELECT);
	return has_player_key(evdev) || turns(evdev);
}

/* Receivers of infrared are below /sys/.../rc/rcN. */
static bool
is_receiver(const char *path)
{
	char link[256], *real = NULL;
	bool found = false;
	const char *slash = strrchr(path, '/');

	snprintf(link, sizeof(link), "/sys/class/input/%s",
		 slash != NULL ? slash + 1 : path);
	real = realpath(link, NULL);
	found = real != NULL && strstr(real, "/rc/rc") != NULL;
	free(real);
	return found;
}

static void
identify(struct device *device)
{
	const struct libevdev *evdev = device->evdev;
	struct keymap_identity *identity = &device->identity;

	identity->name = libevdev_get_name(evdev);
	identity->phys = libevdev_get_phys(evdev);
	if (identity->name == NULL)
		identity->name = "";
	if (identity->phys == NULL)
		identity->phys = "";
	identity->bus = libevdev_get_id_bustype(evdev);
	identity->vendor = libevdev_get_id_vendor(evdev);
	identity->product = libevdev_get_id_product(evdev);
	identity->kind = can_type(evdev) ? KEYMAP_KIND_KEYBOARD
			 : turns(evdev) && !has_key(evdev, KEY_UP) &&
					 !has_key(evdev, KEY_OK)
				 ? KEYMAP_KIND_KNOB
				 : KEYMAP_KIND_REMOTE;
	identity->is_rc = is_receiver(device->path);
}

/* A receiver's keymap may be loaded or changed at any time (ir-keytable says so
 * to nobody), and libevdev passes over what was not there when it looked. */
static void
expect_all_keys(struct device *device)
{
	unsigned code = 0;

	for (code = 1; code < KEY_MAX; code++)
		(void)libevdev_enable_event_code(device->evdev, EV_KEY, code,
						 NULL);
}

int
device_open(const char *path, struct device **ret_device)
{
	struct device *device = calloc(1, sizeof(*device));
	int result = 0;

	if (device == NULL)
		return -ENOMEM;
	device->path = strdup(path);
	/* Nothing is written: the keyboard's lights are not ours. */
	device->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (device->fd < 0)
		result = -errno;
	else
		result = libevdev_new_from_fd(device->fd, &device->evdev);
	if (result == 0 && device->path == NULL)
		result = -ENOMEM;
	if (result == 0 && !is_wanted(device->evdev) && !is_receiver(path))
		result = -EMEDIUMTYPE;
	if (result < 0) {
		device_close(device);
		return result;
	}
	device->has_clock =
		libevdev_set_clock_id(device->evdev, CLOCK_MONOTONIC) == 0;
	identify(device);
	if (device->identity.is_rc)
		expect_all_keys(device);
	*ret_device = device;
	return 0;
}

void
device_close(struct device *device)
{
	if (device == NULL)
		return;
	if (device->grabbed)
		libevdev_grab(device->evdev, LIBEVDEV_UNGRAB);
	libevdev_free(device->evdev);
	if (device->fd >= 0)
		close(device->fd);
	free(device->path);
	free(device);
}

const char *
device_path(const struct device *device)
{
	return device->path;
}

int
device_fd(const struct device *device)
{
	return device->fd;
}

const struct keymap_identity *
device_identity(const struct device *device)
{
	return &device->identity;
}

bool
device_is_at(const struct device *device, const char *path)
{
	struct stat ours, there;

	return fstat(device->fd, &ours) == 0 && stat(path, &there) == 0 &&
	       ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

/* --- the grab */

void
device_want_grab(struct device *device, bool wanted)
{
	device->grab_wanted =
		wanted && device->identity.kind != KEYMAP_KIND_KEYBOARD;
	device->grab_again_at_ns = 0;
	device->told_grab = false;
}

bool
device_is_grabbed(const struct device *device)
{
	return device->grabbed;
}

static bool
is_any_key_down(const struct device *device)
{
	unsigned code = 0;

	for (code = 0; code < KEY_MAX; code++)
		if (libevdev_get_event_value(device->evdev, EV_KEY, code) != 0)
			return true;
	return false;
}

int64_t
device_settle(struct device *device, int64_t now_ns)
{
	int result = 0;

	if (device->grabbed == device->grab_wanted)
		return INT64_MAX;
	if (now_ns < device->grab_again_at_ns)
		return device->grab_again_at_ns;
	if (is_any_key_down(device))
		return INT64_MAX;
	result = libevdev_grab(device->evdev, device->grab_wanted
						      ? LIBEVDEV_GRAB
						      : LIBEVDEV_UNGRAB);
	if (result == 0) {
		device->grabbed = device->grab_wanted;
		log_debug(topic, "%s: %s", device->identity.name,
			  device->grabbed ? "grabbed" : "let go");
		return INT64_MAX;
	}
	if (!device->told_grab)
		log_warn(topic, "%s (%s) cannot be grabbed: %s",
			 device->identity.name, device->path,
			 result == -EBUSY ? "another program has done so, and "
					    "gets its keys"
					  : text_of_error(result));
	device->told_grab = true;
	device->grab_again_at_ns = now_ns + grab_again_ns;
	return device->grab_again_at_ns;
}

/* --- events */

/* A fader's place from 0 to 100. */
static int
scale(const struct device *device, unsigned code, int value)
{
	const int64_t min = libevdev_get_abs_minimum(device->evdev, code);
	const int64_t max = libevdev_get_abs_maximum(device->evdev, code);

	if (max <= min || value <= min)
		return 0;
	return value >= max ? ABS_SCALE
			    : (int)((value - min) * ABS_SCALE / (max - min));
}

static int64_t
event_time(const struct device *device, const struct input_event *event,
	   int64_t now_ns)
{
	const int64_t time_ns = event->input_event_sec * NS_PER_S +
				event->input_event_usec * NS_PER_US;

	return device->has_clock && time_ns <= now_ns &&
			       now_ns - time_ns < oldest_ns
		       ? time_ns
		       : now_ns;
}

static void
hand_on(const struct device *device, const struct input_event *input,
	int64_t now_ns, device_handle *handle, void *context)
{
	struct device_event event = {.key = {input->type, input->code},
				     .value = input->value};

	if (input->type != EV_KEY && input->type != EV_REL &&
	    input->type != EV_ABS)
		return;
	if (input->type == EV_ABS)
		event.value = scale(device, input->code, input->value);
	event.time_ns = event_time(device, input, now_ns);
	if (device->syncing) {
		if (input->type != EV_KEY || input->value != 0)
			return;
		event.lost = true;
	}
	handle(context, &event);
}

int
device_read(struct device *device, int64_t now_ns, device_handle *handle,
	    void *context)
{
	struct input_event input;
	int i = 0, result = 0;

	for (i = 0; i < EVENTS_AT_ONCE; i++) {
		result = libevdev_next_event(
			device->evdev,
			device->syncing ? LIBEVDEV_READ_FLAG_SYNC
					: LIBEVDEV_READ_FLAG_NORMAL,
			&input);
		if (result == -EAGAIN && device->syncing) {
			log_debug(topic, "%s: events were lost",
				  device->identity.name);
			device->syncing = false;
			continue;
		}
		if (result == -EAGAIN || result == -EINTR)
			return 0;
		if (result < 0)
			return result;
		/* The event that says so is itself none of a key. */
		if (result == LIBEVDEV_READ_STATUS_SYNC && !device->syncing) {
			device->syncing = true;
			continue;
		}
		hand_on(device, &input, now_ns, handle, context);
	}
	return 1;
}

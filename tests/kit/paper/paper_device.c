/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paper_device.c - writes what umockdev wants to know of a device.
 *
 * The answer to each ioctl has the size that libevdev asks for, or libevdev
 * does not take the device. */
#include "tests/kit/paper/paper_device.h"

#include <fcntl.h>
#include <glib.h>
#include <linux/input.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <umockdev.h>
#include <unistd.h>

enum { KEY_BYTES = 96, SMALL_BYTES = 8, NAME_BYTES = 255 };
/* Of the 4095 bytes that a terminal keeps; how long a failure takes, in ms. */
enum { WAITING_MAX = 2048, TRIES_MAX = 60000 };

static void
add_hex(GString *text, const uint8_t *bytes, size_t count)
{
	size_t i = 0;

	for (i = 0; i < count; i++)
		g_string_append_printf(text, "%02X", bytes[i]);
}

static void
add_answer(GString *text, const char *name, int result, const void *bytes,
	   size_t count)
{
	g_string_append_printf(text, "%s %d ", name, result);
	add_hex(text, bytes, count);
	g_string_append_c(text, '\n');
}

static void
set_bit(uint8_t *bits, unsigned bit)
{
	bits[bit / 8] = (uint8_t)(bits[bit / 8] | 1U << bit % 8);
}

static void
fill_keys(const struct paper_device *device, uint8_t *bits)
{
	size_t i = 0;

	if (device->has_all_keys)
		memset(bits, 0xff, KEY_BYTES);
	for (i = 0; i < PAPER_KEYS_MAX && device->keys[i] != 0; i++)
		set_bit(bits, device->keys[i]);
	for (i = KEY_Q; device->can_type && i <= KEY_M; i++)
		set_bit(bits, (unsigned)i);
}

static void
add_text_answer(GString *text, const char *name, const char *value)
{
	char bytes[NAME_BYTES] = {0};

	snprintf(bytes, sizeof(bytes), "%s", value);
	add_answer(text, name, (int)strlen(value) + 1, bytes, sizeof(bytes));
}

static char *
make_ioctls(const struct paper_device *device)
{
	static const uint8_t version[4] = {0, 1, 1, 0};
	static const uint8_t id[8] = {0x19, 0, 1, 0, 1, 0, 0, 1};
	static const uint8_t rep[8] = {0xf4, 1, 0, 0, 0x7d, 0, 0, 0};
	static const char *const empty[] = {"EVIOCGPROP(0)", "EVIOCGBIT(3)",
					    "EVIOCGBIT(5)",  "EVIOCGBIT(17)",
					    "EVIOCGBIT(18)", "EVIOCGLED(0)",
					    "EVIOCGSW(0)"};
	uint8_t keys[KEY_BYTES] = {0}, none[KEY_BYTES] = {0};
	uint8_t kinds[SMALL_BYTES] = {0}, rel[SMALL_BYTES] = {0};
	uint8_t msc[SMALL_BYTES] = {1 << MSC_SCAN};
	GString *text = g_string_new(NULL);
	size_t i = 0;

	fill_keys(device, keys);
	set_bit(kinds, EV_SYN);
	set_bit(kinds, EV_KEY);
	set_bit(kinds, EV_MSC);
	if (device->rel != 0)
		set_bit(kinds, EV_REL);
	rel[0] = (uint8_t)(device->rel & 0xff);
	rel[1] = (uint8_t)(device->rel >> 8);
	g_string_append_printf(text, "@DEV /dev/input/event%d\n",
			       device->number);
	add_answer(text, "EVIOCGVERSION", 0, version, sizeof(version));
	add_answer(text, "EVIOCGID", 0, id, sizeof(id));
	add_text_answer(text, "EVIOCGNAME(0)", device->name);
	add_text_answer(text, "EVIOCGPHYS(0)", "paper/input0");
	add_text_answer(text, "EVIOCGUNIQ(0)", "");
	add_answer(text, "EVIOCGBIT(0)", 8, kinds, sizeof(kinds));
	add_answer(text, "EVIOCGBIT(1)", KEY_BYTES, keys, sizeof(keys));
	add_answer(text, "EVIOCGBIT(2)", 8, rel, sizeof(rel));
	add_answer(text, "EVIOCGBIT(4)", 8, msc, sizeof(msc));
	add_answer(text, "EVIOCGBIT(21)", 16, none, 16);
	add_answer(text, "EVIOCGKEY(0)", KEY_BYTES, none, sizeof(none));
	add_answer(text, "EVIOCGREP", 0, rep, sizeof(rep));
	for (i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
		add_answer(text, empty[i], 8, none, SMALL_BYTES);
	return g_string_free(text, FALSE);
}

static char *
make_path(const struct paper_device *device)
{
	return device->is_rc
		       ? g_strdup_printf("/devices/platform/ir%d/rc/rc%d/"
					 "input%d",
					 device->number, device->number,
					 device->number)
		       : g_strdup_printf("/devices/platform/keys%d/input%d",
					 device->number, device->number);
}

static char *
make_description(const struct paper_device *device)
{
	char *path = make_path(device);
	char *text = g_strdup_printf(
		"P: %s/event%d\nN: input/event%d\n"
		"E: DEVNAME=/dev/input/event%d\nE: ID_INPUT=1\n"
		"E: ID_INPUT_KEY=1\nE: MAJOR=13\nE: MINOR=%d\n"
		"E: SUBSYSTEM=input\nA: dev=13:%d\nL: device=../../input%d\n\n"
		"P: %s\nE: ID_INPUT=1\nE: ID_INPUT_KEY=1\nE: NAME=\"%s\"\n"
		"E: SUBSYSTEM=input\nA: name=%s\n",
		path, device->number, device->number, device->number,
		64 + device->number, 64 + device->number, device->number, path,
		device->name, device->name);

	g_free(path);
	return text;
}

void
paper_device_add(UMockdevTestbed *testbed, const struct paper_device *device)
{
	char *description = make_description(device);
	char *ioctls = make_ioctls(device);
	char *node = g_strdup_printf("/dev/input/event%d", device->number);
	char file[] = "/tmp/rotary-paper-XXXXXX";
	const int fd = mkstemp(file);
	GError *error = NULL;

	if (fd < 0 ||
	    write(fd, ioctls, strlen(ioctls)) != (ssize_t)strlen(ioctls))
		abort();
	close(fd);
	/* The answers first: inotify tells of the node at once. */
	if (!umockdev_testbed_load_ioctl(testbed, node, file, &error) ||
	    !umockdev_testbed_add_from_string(testbed, description, &error)) {
		fprintf(stderr, "umockdev: %s\n", error->message);
		abort();
	}
	unlink(file);
	g_free(description);
	g_free(ioctls);
	g_free(node);
}

void
paper_device_remove(UMockdevTestbed *testbed, const struct paper_device *device)
{
	char *path = make_path(device);
	char *event = g_strdup_printf("/sys%s/event%d", path, device->number);
	char *parent = g_strdup_printf("/sys%s", path);

	umockdev_testbed_uevent(testbed, event, "remove");
	umockdev_testbed_remove_device(testbed, event);
	umockdev_testbed_remove_device(testbed, parent);
	g_free(path);
	g_free(event);
	g_free(parent);
}

/* The stream is a terminal's: when it is full it cuts an event in two, which no
 * evdev node does, and libevdev takes that for a broken device. */
static void
await_room(int fd)
{
	const struct timespec pause = {.tv_nsec = 1000 * 1000};
	const int reader = open(ptsname(fd), O_RDONLY | O_NOCTTY | O_CLOEXEC);
	int waiting = 0, tries = 0;

	while (reader >= 0 && tries++ < TRIES_MAX &&
	       ioctl(reader, FIONREAD, &waiting) == 0 && waiting > WAITING_MAX)
		nanosleep(&pause, NULL);
	if (reader < 0 || waiting > WAITING_MAX) {
		fputs("nobody reads the device\n", stderr);
		abort();
	}
	close(reader);
}

static void
send_events(UMockdevTestbed *testbed, const struct paper_device *device,
	    const struct input_event *events, size_t count)
{
	char *node = g_strdup_printf("/dev/input/event%d", device->number);
	const int fd = umockdev_testbed_get_dev_fd(testbed, node);
	const size_t bytes = count * sizeof(events[0]);

	if (fd < 0)
		abort();
	await_room(fd);
	if (write(fd, events, bytes) != (ssize_t)bytes)
		abort();
	g_free(node);
}

void
paper_device_send_half(UMockdevTestbed *testbed,
		       const struct paper_device *device, uint16_t type,
		       uint16_t code, int32_t value)
{
	const struct input_event event = {
		.type = type, .code = code, .value = value};

	send_events(testbed, device, &event, 1);
}

void
paper_device_send(UMockdevTestbed *testbed, const struct paper_device *device,
		  uint16_t type, uint16_t code, int32_t value)
{
	const struct input_event events[] = {
		{.type = type, .code = code, .value = value},
		{.type = EV_SYN, .code = SYN_REPORT}};

	send_events(testbed, device, events, 2);
}

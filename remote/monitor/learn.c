/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learn.c - --learn FILE.
 *
 * The map that it writes includes default.map, claims the one device whose
 * keys were pressed, and holds an alias for each key that is not what it is
 * called: what OK does is default.map's to say. A question is skipped by
 * waiting, and all of it ended by an interrupt, which writes nothing. */
#include "remote/monitor/learn.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "remote/monitor/devices.h"
#include "remote/monitor/options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char topic[] = "remote";
static const int64_t patience_ns = 8 * NS_PER_S;
/* A key held a little too long is not the next answer. */
static const int64_t pause_ns = 400 * NS_PER_MS;

static const char *const questions[] = {
	"OK",       "UP",       "DOWN",       "LEFT", "RIGHT",
	"BACK",     "MENU",     "PLAYPAUSE",  "STOP", "NEXT",
	"PREVIOUS", "VOLUMEUP", "VOLUMEDOWN", "MUTE", "INFO",
	"RED",      "GREEN",    "YELLOW",     "BLUE", "POWER",
};
enum { QUESTION_COUNT = sizeof(questions) / sizeof(questions[0]) };

struct learning {
	struct devices *devices;
	struct text name; /* of the device that answers */
	bool answered;
	struct key answer;
	struct key known[QUESTION_COUNT];
	int known_count;
	int64_t listen_from_ns;
	struct text aliases;
};

static bool
on_opened(void *context, unsigned number, struct device *device)
{
	(void)context;
	(void)number;
	device_want_grab(device, true);
	printf("listening to %s\n", device_identity(device)->name);
	return true;
}

static void
on_closed(void *context, unsigned number)
{
	(void)context;
	(void)number;
}

static bool
is_known(const struct learning *learning, struct key key)
{
	int i = 0;

	for (i = 0; i < learning->known_count; i++)
		if (learning->known[i].code == key.code)
			return true;
	return false;
}

/* The first key that is pressed says which device is meant. */
static void
on_event(void *context, unsigned number, const struct device_event *event)
{
	struct learning *learning = context;
	const char *name =
		device_identity(devices_at(learning->devices, number))->name;

	if (key_is_axis(event->key) || event->value != 1 ||
	    learning->answered || event->time_ns < learning->listen_from_ns)
		return;
	if (learning->name.length == 0)
		text_add_clean(&learning->name, name, strlen(name), 200);
	if (strcmp(text_string(&learning->name), name) != 0)
		return;
	if (is_known(learning, event->key)) {
		printf("that key has been named already\n");
		return;
	}
	learning->answer = event->key;
	learning->answered = true;
}

static void
listen(struct learning *learning)
{
	const int64_t end_ns = clock_now_ns() + patience_ns;
	struct pollfd polls[DEVICES_POLL_MAX];
	int64_t now_ns = clock_now_ns();

	learning->answered = false;
	while (!learning->answered && now_ns < end_ns) {
		const size_t count =
			devices_add_polls(learning->devices, polls);
		const struct timespec timeout = {.tv_nsec = 100 * NS_PER_MS};

		if (ppoll(polls, count, &timeout, NULL) < 0)
			return;
		now_ns = clock_now_ns();
		devices_handle(learning->devices, polls, count, now_ns);
		devices_tick(learning->devices, now_ns);
	}
	learning->listen_from_ns = now_ns + pause_ns;
}

static void
ask(struct learning *learning, const char *question)
{
	struct text name = {0};

	printf("press %s, or wait to skip it\n", question);
	listen(learning);
	if (!learning->answered) {
		printf("  skipped\n");
		return;
	}
	learning->known[learning->known_count++] = learning->answer;
	key_add_name(&name, learning->answer);
	printf("  it is %s\n", text_string(&name));
	if (strcmp(text_string(&name), question) != 0)
		text_printf(&learning->aliases, "%s = %s\n", question,
			    text_string(&name));
	text_finish(&name);
}

static int
write_map(const struct learning *learning, const char *path)
{
	struct text map = {0};
	const int file =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	ssize_t written = 0;

	if (file < 0)
		return -errno;
	text_printf(&map,
		    "# Learned by rotary-remote --learn.\n"
		    "include = default.map\n\n[device %s]\n\n[aliases]\n%s",
		    text_string(&learning->name),
		    text_string(&learning->aliases));
	written = write(file, text_string(&map), map.length);
	if (written != (ssize_t)map.length || close(file) < 0) {
		text_finish(&map);
		return -EIO;
	}
	text_finish(&map);
	printf("wrote %s; put it into a folder of key maps "
	       "(rotary-remote --check lists them)\n",
	       path);
	return 0;
}

/* Our threads have all signals blocked, for a loop that reads them. There is
 * none here: ^C ends it, and nothing has been written. */
static void
let_signals_end_it(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int
learn_run(const struct conf *options)
{
	const char *path = conf_argument(options);
	struct learning learning = {0};
	const struct devices_hooks hooks = {.opened = on_opened,
					    .closed = on_closed,
					    .event = on_event,
					    .context = &learning};
	size_t i = 0;
	int result = 0;

	if (access(path, F_OK) == 0) {
		log_err(topic, "%s is there already, and stays as it is", path);
		return -EEXIST;
	}
	let_signals_end_it();
	/* Each line at once, also into a pipe. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	result = devices_create(&hooks, &learning.devices);
	if (result == 0) {
		devices_scan(learning.devices, clock_now_ns());
		for (i = 0; i < QUESTION_COUNT; i++)
			ask(&learning, questions[i]);
		result = learning.known_count > 0 ? write_map(&learning, path)
						  : -ENODATA;
	}
	if (result < 0)
		log_err(topic, "nothing is written: %s",
			result == -ENODATA ? "no key came"
					   : text_of_error(result));
	devices_destroy(learning.devices);
	text_finish(&learning.name);
	text_finish(&learning.aliases);
	return result;
}

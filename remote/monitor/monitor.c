/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monitor.c - one loop over devices, daemon, programs, key maps and signals.
 *
 * In each turn keys come first and what they cause is written at once; the
 * daemon's answers, new devices and the rest come after. There is no other
 * state than that of the parts: a turn asks each when it wants to be called
 * again. All time is CLOCK_MONOTONIC; that the machine has slept shows in how
 * far CLOCK_BOOTTIME has run ahead of it. */
#include "remote/monitor/monitor.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "remote/monitor/monitor_parts.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { PRIORITY = 5, RUNAWAY_US = 2000000 };
enum { POLLS_MAX = DEVICES_POLL_MAX + PROGRAMS_MAX + 3 };

static const char topic[] = "remote";
static const int64_t quiet_ns = 5 * NS_PER_S;
static const int64_t gather_changes_ns = 200 * NS_PER_MS;

/* --- devices and their maps */

static bool
wants_grab(const struct monitor *monitor,
	   const struct keymap_settings *settings)
{
	enum { AUTO, YES, NO };

	if (settings->grab != KEYMAP_GRAB_AUTO)
		return settings->grab == KEYMAP_GRAB_YES;
	return conf_choice(monitor->options, OPTION_GRAB) != NO;
}

/* The map for a device; false: none claims it. */
static bool
choose_map(struct monitor *monitor, unsigned number, struct device *device)
{
	const struct keymap_identity *identity = device_identity(device);
	struct keymap_settings settings;
	struct keymap *map = keymaps_choose(monitor->maps, identity, &settings);

	monitor->map_paths[number] = map != NULL ? keymap_path(map) : NULL;
	if (map == NULL) {
		core_drop_device(monitor->core, number);
		device_want_grab(device, false);
		return false;
	}
	core_set_device(monitor->core, number, map, &settings);
	/* A test leaves a keyboard's keys to whoever types. */
	device_want_grab(device, wants_grab(monitor, &settings));
	return true;
}

static bool
on_opened(void *context, unsigned number, struct device *device)
{
	struct monitor *monitor = context;
	const bool claimed = choose_map(monitor, number, device);

	if (monitor->is_test)
		monitor_show_device(monitor, number,
				    monitor->map_paths[number]);
	else if (claimed)
		log_info(topic, "%s (%s) by %s", device_identity(device)->name,
			 device_path(device), monitor->map_paths[number]);
	return claimed;
}

static void
on_closed(void *context, unsigned number)
{
	struct monitor *monitor = context;

	core_drop_device(monitor->core, number);
	if (monitor->is_test)
		monitor_show_gone(monitor, number);
}

static void
on_event(void *context, unsigned number, const struct device_event *event)
{
	struct monitor *monitor = context;

	if (monitor->is_test)
		monitor_show_event(monitor, number, event);
	if (event->lost)
		core_lose_key(monitor->core, number, event->key);
	else
		core_event(monitor->core, event->time_ns, number, event->key,
			   event->value);
}

static void
set_virtual(struct monitor *monitor)
{
	const struct keymap_settings settings = {.has_releases = true};
	struct keymap *map = keymaps_default(monitor->maps);

	if (map != NULL)
		core_set_device(monitor->core, CORE_DEVICE_VIRTUAL, map,
				&settings);
	else
		core_drop_device(monitor->core, CORE_DEVICE_VIRTUAL);
}

/* --- key maps */

static void
watch_maps(struct monitor *monitor)
{
	int i = 0;

	/* Those that are not there cannot be watched; SIGHUP comes again. */
	for (i = 0; keymaps_folder(monitor->maps, i) != NULL; i++)
		(void)inotify_add_watch(
			monitor->map_watch, keymaps_folder(monitor->maps, i),
			IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM |
				IN_DELETE | IN_ONLYDIR);
}

static void
reload(struct monitor *monitor)
{
	unsigned i = 0;
	int wrong = 0;

	monitor->reload_ns = INT64_MAX;
	wrong = keymaps_read(monitor->maps);
	log_info(topic, "key maps are read again%s",
		 wrong > 0 ? ", not all of them" : "");
	for (i = 0; i < DEVICES_MAX; i++)
		if (devices_at(monitor->devices, i) != NULL)
			choose_map(monitor, i, devices_at(monitor->devices, i));
	set_virtual(monitor);
	watch_maps(monitor);
	devices_scan(monitor->devices, monitor->now_ns);
}

/* An editor writes a file in several steps. */
static void
take_map_changes(struct monitor *monitor)
{
	char bytes[2048];

	while (read(monitor->map_watch, bytes, sizeof(bytes)) > 0)
		;
	if (monitor->reload_ns == INT64_MAX)
		monitor->reload_ns = monitor->now_ns + gather_changes_ns;
}

/* --- signals and sleep */

static void
take_signals(struct monitor *monitor)
{
	struct signalfd_siginfo info;

	while (read(monitor->signals, &info, sizeof(info)) ==
	       (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload(monitor);
		else if (info.ssi_signo != SIGCHLD)
			monitor->ends = true;
	}
}

static int64_t
slept_ns(void)
{
	struct timespec boot = {0};

	clock_gettime(CLOCK_BOOTTIME, &boot);
	return boot.tv_sec * NS_PER_S + boot.tv_nsec - clock_now_ns();
}

/* The key that woke the machine comes again when we do. */
static void
notice_sleep(struct monitor *monitor)
{
	const int64_t asleep_ns = slept_ns();

	if (asleep_ns - monitor->asleep_ns > NS_PER_S) {
		log_info(topic, "the machine has slept");
		core_quiet_power(monitor->core, monitor->now_ns + quiet_ns);
	}
	monitor->asleep_ns = asleep_ns;
}

/* --- the loop */

static int64_t
earlier(int64_t one_ns, int64_t other_ns)
{
	return one_ns < other_ns ? one_ns : other_ns;
}

static int64_t
next_deadline(const struct monitor *monitor)
{
	int64_t due_ns = earlier(core_deadline(monitor->core),
				 devices_deadline(monitor->devices));

	due_ns = earlier(due_ns, programs_deadline(&monitor->programs));
	due_ns = earlier(due_ns, monitor->reload_ns);
	if (monitor->wire != NULL)
		due_ns = earlier(due_ns, wire_deadline(monitor->wire));
	return due_ns;
}

static void
wait_for(struct pollfd *polls, size_t count, int64_t due_ns)
{
	const int64_t now_ns = clock_now_ns();
	const int64_t left_ns = due_ns > now_ns ? due_ns - now_ns : 0;
	struct timespec timeout = {0};

	if (left_ns > 0) {
		timeout.tv_sec = left_ns / NS_PER_S;
		timeout.tv_nsec = left_ns % NS_PER_S;
	}
	if (ppoll(polls, count, due_ns == INT64_MAX ? NULL : &timeout, NULL) <
	    0)
		for (; count > 0; count--)
			polls[count - 1].revents = 0;
}

static size_t
add_polls(const struct monitor *monitor, struct pollfd *polls,
	  size_t *ret_devices)
{
	size_t count = 0;

	polls[count++] =
		(struct pollfd){.fd = monitor->signals, .events = POLLIN};
	polls[count++] =
		(struct pollfd){.fd = monitor->map_watch, .events = POLLIN};
	polls[count++] = (struct pollfd){
		.fd = monitor->wire != NULL ? wire_fd(monitor->wire) : -1,
		.events = (short)(monitor->wire != NULL
					  ? wire_events(monitor->wire)
					  : 0)};
	count += programs_add_polls(&monitor->programs, polls + count);
	*ret_devices = count;
	return count + devices_add_polls(monitor->devices, polls + count);
}

static void
talk(struct monitor *monitor, bool readable)
{
	if (monitor->wire == NULL)
		return;
	/* What keys have caused goes out before anything else is done. */
	wire_flush(monitor->wire, monitor->now_ns);
	if (readable && wire_fd(monitor->wire) >= 0)
		wire_handle(monitor->wire, monitor->now_ns);
	wire_tick(monitor->wire, monitor->now_ns);
	wire_flush(monitor->wire, monitor->now_ns);
	if (monitor->was_connected && !wire_is_connected(monitor->wire) &&
	    core_mode(monitor->core) != KEYMAP_MODE_PLAY)
		core_set_mode(monitor->core, KEYMAP_MODE_PLAY);
	monitor->was_connected = wire_is_connected(monitor->wire);
}

static void
run(struct monitor *monitor)
{
	struct pollfd polls[POLLS_MAX];
	size_t count = 0, first_device = 0;
	bool more = false;

	while (!monitor->ends) {
		count = add_polls(monitor, polls, &first_device);
		wait_for(polls, count, more ? 0 : next_deadline(monitor));
		monitor->now_ns = clock_now_ns();
		notice_sleep(monitor);
		more = devices_handle(monitor->devices, polls + first_device,
				      count - first_device, monitor->now_ns);
		/* Keys that wait to be read come before timers. */
		if (!more)
			core_tick(monitor->core, monitor->now_ns);
		talk(monitor, polls[2].revents != 0);
		if (polls[0].revents != 0)
			take_signals(monitor);
		if (polls[1].revents != 0)
			take_map_changes(monitor);
		if (monitor->reload_ns <= monitor->now_ns)
			reload(monitor);
		programs_tick(&monitor->programs, monitor->now_ns);
		devices_tick(monitor->devices, monitor->now_ns);
	}
}

/* --- life */

static int
begin_signals(struct monitor *monitor)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	monitor->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	monitor->map_watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return monitor->signals < 0 || monitor->map_watch < 0 ? -errno : 0;
}

static int
begin_core(struct monitor *monitor)
{
	const struct conf *options = monitor->options;
	const struct core_options core_options = {
		.gestures =
			{
				.hold_ns = conf_int(options, OPTION_HOLD_MS) *
					   NS_PER_MS,
				.long_ns = conf_int(options, OPTION_LONG_MS) *
					   NS_PER_MS,
				.repeat_ns =
					conf_int(options, OPTION_REPEAT_MS) *
					NS_PER_MS,
				.double_ns =
					conf_int(options, OPTION_DOUBLE_MS) *
					NS_PER_MS,
				.max_ns = 30 * NS_PER_S,
			},
		.menu_timeout_ns =
			conf_int(options, OPTION_MENU_TIMEOUT_S) * NS_PER_S,
	};

	return core_create(&core_options, monitor_take_output, monitor,
			   &monitor->core);
}

/* A key is little work, and is wanted at once, whatever else the machine does.
 * Below the player's own threads; and a loop that runs wild, which must not
 * be, is ended by the kernel. */
static void
promote(struct monitor *monitor)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_RTTIME, &limit) == 0 &&
	    (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > RUNAWAY_US)) {
		limit.rlim_cur = RUNAWAY_US;
		(void)setrlimit(RLIMIT_RTTIME, &limit);
	}
	rt_figures_begin(&monitor->figures, "remote");
	if (rt_promote(&monitor->figures, PRIORITY) > RT_RUNG_RTKIT)
		log_debug(topic, "no real-time priority: %s",
			  monitor->figures.cause);
}

static int
begin(struct monitor *monitor)
{
	const struct devices_hooks device_hooks = {.opened = on_opened,
						   .closed = on_closed,
						   .event = on_event,
						   .context = monitor};
	const struct wire_hooks wire_hooks = {.message = monitor_take_message,
					      .refused = monitor_take_refusal,
					      .context = monitor};
	int result = begin_signals(monitor);

	if (result == 0)
		result = keymaps_create(
			conf_text(monitor->options, OPTION_KEYMAPS),
			conf_bool(monitor->options, OPTION_EXEC),
			&monitor->maps);
	if (result == 0)
		result = begin_core(monitor);
	if (result == 0)
		result = devices_create(&device_hooks, &monitor->devices);
	if (result == 0 && !monitor->is_test)
		result = wire_create(conf_text(monitor->options, OPTION_SOCKET),
				     &wire_hooks, &monitor->wire);
	if (result < 0)
		return result;
	(void)keymaps_read(monitor->maps);
	watch_maps(monitor);
	set_virtual(monitor);
	if (!monitor->is_test)
		promote(monitor);
	monitor->now_ns = clock_now_ns();
	monitor->asleep_ns = slept_ns();
	core_tick(monitor->core, monitor->now_ns);
	core_quiet_power(monitor->core, monitor->now_ns + quiet_ns);
	devices_scan(monitor->devices, monitor->now_ns);
	return 0;
}

static void
end(struct monitor *monitor)
{
	programs_finish(&monitor->programs);
	refusals_finish(&monitor->nonsense);
	devices_destroy(monitor->devices);
	core_destroy(monitor->core);
	wire_destroy(monitor->wire);
	keymaps_destroy(monitor->maps);
	if (monitor->signals >= 0)
		close(monitor->signals);
	if (monitor->map_watch >= 0)
		close(monitor->map_watch);
}

int
monitor_run(const struct conf *options, bool is_test)
{
	/* The figures make it large. */
	static struct monitor monitor;
	int result = 0;

	monitor.options = options;
	monitor.is_test = is_test;
	monitor.signals = -1;
	monitor.map_watch = -1;
	monitor.reload_ns = INT64_MAX;
	result = begin(&monitor);
	if (result == 0)
		run(&monitor);
	else
		log_err(topic, "cannot start: %s", text_of_error(result));
	end(&monitor);
	return result;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monitor_parts.h - what the files of the loop share. Not for others. */
#ifndef ROTARY_MONITOR_MONITOR_PARTS_H
#define ROTARY_MONITOR_MONITOR_PARTS_H

#include "lib/rt/rt.h"
#include "remote/monitor/core.h"
#include "remote/monitor/devices.h"
#include "remote/monitor/keymaps.h"
#include "remote/monitor/options.h"
#include "remote/monitor/programs.h"
#include "remote/monitor/refusals.h"
#include "remote/monitor/wire.h"

struct monitor {
	const struct conf *options;
	bool is_test;
	struct keymaps *maps;
	struct core *core;
	struct devices *devices;
	struct wire *wire; /* NULL in a test */
	struct programs programs;
	struct refusals nonsense; /* on the channel */
	struct rt_figures figures;
	int signals;
	int map_watch; /* inotify */
	int64_t reload_ns;
	int64_t now_ns;
	int64_t asleep_ns; /* that this machine has slept so far */
	bool was_connected;
	bool ends;
	/* For --test: when the key that is down went down. */
	int64_t down_ns;
	/* The map that was chosen for each device. */
	const char *map_paths[CORE_DEVICES_MAX];
};

/* monitor_output.c: what the core wants done. */
void monitor_take_output(void *context, const struct core_output *output);
/* What the channel says: "key NAME [GESTURE]". */
void monitor_take_message(void *context, const char *words);
void monitor_take_refusal(void *context, const char *line);

/* monitor_show.c: the lines of --test. */
void monitor_show_device(const struct monitor *monitor, unsigned number,
			 const char *map_path);
void monitor_show_gone(const struct monitor *monitor, unsigned number);
void monitor_show_event(struct monitor *monitor, unsigned number,
			const struct device_event *event);
void monitor_show_output(const struct core_output *output);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rotary-remote: remotes, keypads and knobs. This file only reads the command
 * line. */
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/base/thread.h"
#include "remote/monitor/learn.h"
#include "remote/monitor/monitor.h"
#include "remote/monitor/options.h"

#include <stdio.h>

static int
show_help(void)
{
	struct text text = {0};

	options_add_help(&text);
	fputs(text_string(&text), stdout);
	text_finish(&text);
	return 0;
}

static int
act(const struct options *options)
{
	switch (options->action) {
	case OPTIONS_HELP:
		return show_help();
	case OPTIONS_VERSION:
		puts("rotary-remote " ROTARY_VERSION);
		return 0;
	case OPTIONS_CHECK:
		return monitor_check(options);
	case OPTIONS_LEARN:
		return learn_run(options);
	case OPTIONS_RUN:
	case OPTIONS_TEST:
		break;
	}
	return monitor_run(options);
}

int
main(int argc, char *argv[])
{
	struct options *options = NULL;
	struct text error = {0};
	int status = 0;

	thread_adopt(THREAD_ROLE_CONTROL, "rotary-remote");
	log_init(LOG_LEVEL_INFO);
	if (options_load(argc, argv, &options, &error) < 0) {
		log_err("rotary-remote", "%s", text_string(&error));
		status = 2;
	} else {
		log_set_level((enum log_level)options_int(options, OPTION_LOG));
		status = act(options) < 0 ? 1 : 0;
	}
	options_destroy(options);
	text_finish(&error);
	return status;
}

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

	conf_add_help(&options_schema, &text);
	fputs(text_string(&text), stdout);
	text_finish(&text);
	return 0;
}

static int
act(int action, const struct conf *options)
{
	switch (action) {
	case CONF_SHOW_HELP:
		return show_help();
	case CONF_SHOW_VERSION:
		puts("rotary-remote " ROTARY_VERSION);
		return 0;
	case CONF_CHECK:
		return monitor_check(options);
	case OPTIONS_LEARN:
		return learn_run(options);
	default:
		return monitor_run(options, action == OPTIONS_TEST);
	}
}

int
main(int argc, char *argv[])
{
	struct conf *options = NULL;
	struct text error = {0};
	int action = CONF_RUN, status = 0;

	thread_adopt(THREAD_ROLE_CONTROL, "rotary-remote");
	log_init(LOG_LEVEL_INFO);
	if (conf_load(&options_schema, argc, argv, &options, &action, &error) <
	    0) {
		log_err("rotary-remote", "%s", text_string(&error));
		status = 2;
	} else {
		log_set_level((enum log_level)conf_choice(options, OPTION_LOG));
		status = act(action, options) < 0 ? 1 : 0;
	}
	conf_destroy(options);
	text_finish(&error);
	return status;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rotaryd: the player. This file only reads the command line. */
#include "daemon/app.h"
#include "lib/base/conf.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/base/thread.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

/* Threads share two arenas, and large blocks go straight back to the kernel:
 * a box with little memory is where we live. */
static void
tame_malloc(void)
{
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	mallopt(M_TRIM_THRESHOLD, 128 * 1024);
}

static int
show_help(void)
{
	struct text text = {0};

	conf_add_help(&conf_rotaryd, &text);
	fputs(text_string(&text), stdout);
	text_finish(&text);
	return 0;
}

static int
show_version(void)
{
	puts("rotaryd " ROTARY_VERSION);
	return 0;
}

static void
show_output(const struct conf *conf)
{
	const char *name = conf_name(conf);
	const char *device = conf_text(conf, CONF_OUTPUT_DEVICE);

	printf("output%s%s: %s%s%s\n", name != NULL ? " " : "",
	       name != NULL ? name : "", conf_text(conf, CONF_OUTPUT_DRIVER),
	       device[0] != '\0' ? ":" : "", device);
}

/* What the configuration comes to, for people and for scripts. */
static int
show_places(const struct conf *conf)
{
	const char *file = conf_file(conf);
	int i = 0;

	printf("configuration: %s\n", file != NULL ? file : "(none)");
	printf("socket: %s\n", conf_text(conf, CONF_SERVER_SOCKET));
	printf("music: %s\n", conf_text(conf, CONF_LIBRARY_MUSIC));
	printf("state: %s\n", conf_text(conf, CONF_LIBRARY_STATE));
	show_output(conf);
	for (i = 0; i < conf_further_count(conf); i++)
		show_output(conf_further_at(conf, i));
	return 0;
}

static int
act(int action, const struct conf *conf)
{
	switch (action) {
	case CONF_SHOW_HELP:
		return show_help();
	case CONF_SHOW_VERSION:
		return show_version();
	case CONF_CHECK:
		return show_places(conf);
	default:
		break;
	}
	return app_run(conf);
}

int
main(int argc, char *argv[])
{
	struct text error = {0};
	struct conf *conf = NULL;
	int action = CONF_RUN, status = 0;

	tame_malloc();
	thread_adopt(THREAD_ROLE_CONTROL, "rotaryd");
	log_init(LOG_LEVEL_INFO);
	if (conf_load(&conf_rotaryd, argc, argv, &conf, &action, &error) < 0) {
		log_err("rotaryd", "%s", text_string(&error));
		status = 2;
	} else {
		status = act(action, conf);
	}
	conf_destroy(conf);
	text_finish(&error);
	return status;
}

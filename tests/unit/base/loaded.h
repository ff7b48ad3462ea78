/* SPDX-License-Identifier: GPL-3.0-or-later */
/* loaded.h - for tests of rotaryd's configuration: loads it from the user's
 * file, which is one of the test's own, and from arguments. After cmocka.h.
 * One thread. */
#ifndef ROTARY_TEST_BASE_LOADED_H
#define ROTARY_TEST_BASE_LOADED_H

#include "lib/base/conf.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 256, ARGUMENTS = 12 };

/* A file that is not taken, and an argument. */
struct bad_file {
	const char *contents;
	unsigned line;   /* that the message names */
	const char *why; /* a part of the message */
};

struct bad_argument {
	const char *argument;
	const char *why;
};

static char folder[] = "/tmp/rotary-conf-XXXXXX";
static char file_path[PATH_BYTES + 16];
static struct text message;
static struct conf *conf; /* what was loaded last, or NULL */
static int action;

static int
set_up_group(void **state)
{
	char path[PATH_BYTES];

	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/rotary", folder);
	snprintf(file_path, sizeof(file_path), "%s/rotary.conf", path);
	setenv("XDG_CONFIG_HOME", folder, 1);
	setenv("HOME", "/home/ann", 1);
	setenv("RUNTIME_DIRECTORY", "/run/rotary", 1);
	setenv("STATE_DIRECTORY", "/var/lib/rotary", 1);
	return mkdir(path, 0700);
}

static int
tear_down_group(void **state)
{
	char path[PATH_BYTES];

	(void)state;
	text_finish(&message);
	snprintf(path, sizeof(path), "%s/rotary", folder);
	unlink(file_path);
	rmdir(path);
	return rmdir(folder);
}

static int
tear_down(void **state)
{
	(void)state;
	conf_destroy(conf);
	conf = NULL;
	unlink(file_path);
	return 0;
}

static void
write_bytes(const void *bytes, size_t length)
{
	FILE *file = fopen(file_path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

/* Loads with these arguments, NULL-terminated, and the file's contents, or
 * without a file of the user's when contents is NULL. */
static int
load(const char *contents, const char *const arguments[])
{
	char *argv[ARGUMENTS + 1] = {0};
	int argc = 1, i, result;

	if (contents != NULL)
		write_bytes(contents, strlen(contents));
	argv[0] = strdup("rotaryd");
	for (; arguments != NULL && arguments[argc - 1] != NULL; argc++) {
		assert_true(argc < ARGUMENTS);
		argv[argc] = strdup(arguments[argc - 1]);
	}
	conf_destroy(conf);
	conf = NULL;
	result = conf_load(&conf_rotaryd, argc, argv, &conf, &action, &message);
	for (i = 0; i < argc; i++)
		free(argv[i]);
	return result;
}

static void
assert_bad_files(const struct bad_file *files, size_t count)
{
	char expected[PATH_BYTES * 2];
	size_t i;

	for (i = 0; i < count; i++) {
		assert_int_equal(load(files[i].contents, NULL), -EINVAL);
		snprintf(expected, sizeof(expected), "%s:%u: ", file_path,
			 files[i].line);
		if (strncmp(text_string(&message), expected,
			    strlen(expected)) != 0 ||
		    strstr(text_string(&message), files[i].why) == NULL)
			fail_msg("case %zu: %s", i, text_string(&message));
		assert_null(conf);
	}
}

/* Beside the file, when contents is not NULL. */
static void
assert_bad_arguments(const char *contents, const struct bad_argument *bad,
		     size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const char *const arguments[] = {bad[i].argument, NULL};

		assert_int_equal(load(contents, arguments), -EINVAL);
		if (strstr(text_string(&message), bad[i].why) == NULL)
			fail_msg("%s: %s", bad[i].argument,
				 text_string(&message));
	}
}

#endif

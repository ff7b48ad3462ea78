/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_options.c - the options of rotary-remote, and that the sample file and
 * the manual page are what the table says. */
#include "lib/base/text.h"
#include "remote/monitor/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct text error;
static int action;

static int
load(const char *words, struct conf **ret_options)
{
	char *argv[8] = {0}, *copy = strdup(words), *save = NULL;
	char program[] = "rotary-remote";
	int argc = 1, result = 0;

	argv[0] = program;
	for (argv[argc] = strtok_r(copy, " ", &save); argv[argc] != NULL;
	     argv[argc] = strtok_r(NULL, " ", &save))
		argc++;
	result = conf_load(&options_schema, argc, argv, ret_options, &action,
			   &error);
	free(copy);
	return result;
}

static void
test_command_line(void **state)
{
	struct conf *options = NULL;

	(void)state;
	assert_int_equal(load("--config /dev/null/x --hold_ms 700", &options),
			 -ENOENT);
	assert_int_equal(
		load("--hold_ms 700 --exec=yes --grab=no --test", &options), 0);
	assert_int_equal(conf_int(options, OPTION_HOLD_MS), 700);
	assert_int_equal(conf_int(options, OPTION_LONG_MS), 3000);
	assert_int_equal(conf_bool(options, OPTION_EXEC), true);
	assert_int_equal(conf_choice(options, OPTION_GRAB), 2);
	assert_int_equal(action, OPTIONS_TEST);
	conf_destroy(options);
	assert_int_equal(load("--hold_ms 7", &options), -EINVAL);
	assert_non_null(strstr(text_string(&error), "from 200 to 5000 (ms)"));
	assert_int_equal(load("--hold", &options), -EINVAL);
	assert_int_equal(load("--hold_ms", &options), -EINVAL);
	assert_int_equal(load("--grab=perhaps", &options), -EINVAL);
	assert_int_equal(load("keys", &options), -EINVAL);
	assert_int_equal(load("--learn", &options), -EINVAL);
}

static int
load_file(const char *words, const char *more, struct conf **ret_options)
{
	char path[] = "/tmp/rotary-conf-XXXXXX", line[128];
	const int file = mkstemp(path);
	int result = 0;

	assert_int_equal(write(file, words, strlen(words)), strlen(words));
	close(file);
	snprintf(line, sizeof(line), "--config %s %s", path, more);
	result = load(line, ret_options);
	unlink(path);
	return result;
}

static void
test_file(void **state)
{
	struct conf *options = NULL;

	(void)state;
	assert_int_equal(load_file("[remote]\nhold_ms = 800 ; slow\nlog = "
				   "debug\n",
				   "--log=error", &options),
			 0);
	assert_int_equal(conf_int(options, OPTION_HOLD_MS), 800);
	/* The command line wins. */
	assert_int_equal(conf_choice(options, OPTION_LOG), 0);
	conf_destroy(options);
	assert_int_equal(load_file("[remote]\nhold = 800\n", "", &options),
			 -EINVAL);
	assert_non_null(
		strstr(text_string(&error), ":2: there is no option hold"));
	assert_int_equal(load_file("[keys]\n", "", &options), -EINVAL);
	/* Wrong is wrong, also where the command line wins. */
	assert_int_equal(
		load_file("[remote]\nlog = loud\n", "--log=error", &options),
		-EINVAL);
}

static void
read_tree(const char *name, struct text *ret_text)
{
	char path[512], bytes[1024];
	FILE *file;
	size_t got;

	snprintf(path, sizeof(path), "%s/%s", ROTARY_SOURCE, name);
	file = fopen(path, "re");
	assert_non_null(file);
	while ((got = fread(bytes, 1, sizeof(bytes), file)) > 0)
		text_add_bytes(ret_text, bytes, got);
	fclose(file);
}

/* To renew them: ROTARY_PRINT=sample or manual, this test, and a pipe. */
static void
test_files_follow_the_table(void **state)
{
	const char *print = getenv("ROTARY_PRINT");
	struct text made = {0}, manual = {0}, file = {0}, page = {0};

	(void)state;
	conf_add_sample(&options_schema, &made);
	conf_add_manual(&options_schema, &manual);
	if (print != NULL)
		fputs(text_string(strcmp(print, "sample") == 0 ? &made
							       : &manual),
		      stdout);
	read_tree("config/remote.conf", &file);
	assert_string_equal(text_string(&file), text_string(&made));
	read_tree("docs/man/remote.conf.5", &page);
	assert_non_null(strstr(text_string(&page), text_string(&manual)));
	text_finish(&made);
	text_finish(&manual);
	text_finish(&file);
	text_finish(&page);
}

static int
forget(void **state)
{
	(void)state;
	text_finish(&error);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command_line),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_files_follow_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, forget);
}

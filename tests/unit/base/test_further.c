/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_further.c - further outputs, [output NAME], in rotaryd's configuration:
 * what they get, their order, and what is wrong with them, by file and line. */
#include "lib/base/conf.h"
#include "lib/base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARGUMENTS = 12 };

static char path[] = "/tmp/rotary-further-XXXXXX";
static struct text message;
static struct conf *conf;

static int
set_up_group(void **state)
{
	const int file = mkstemp(path);

	(void)state;
	return file < 0 ? -1 : close(file);
}

static int
tear_down_group(void **state)
{
	(void)state;
	text_finish(&message);
	return unlink(path);
}

static int
tear_down(void **state)
{
	(void)state;
	conf_destroy(conf);
	conf = NULL;
	return 0;
}

/* Loads a file of these contents, and these arguments, NULL at the end. */
static int
load(const char *contents, const char *const arguments[])
{
	char *argv[ARGUMENTS] = {strdup("rotaryd"), strdup("--config"),
				 strdup(path)};
	int argc = 3, action = 0, result = 0, i = 0;
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(contents, file) >= 0);
	assert_int_equal(fclose(file), 0);
	for (; arguments != NULL && arguments[argc - 3] != NULL; argc++) {
		assert_true(argc < ARGUMENTS);
		argv[argc] = strdup(arguments[argc - 3]);
	}
	conf_destroy(conf);
	conf = NULL;
	result = conf_load(&conf_rotaryd, argc, argv, &conf, &action, &message);
	for (i = 0; i < argc; i++)
		free(argv[i]);
	return result;
}

static void
test_options(void **state)
{
	static const char *const GIVEN[] = {
		"--output.Last one.driver=null", "--output.a.b.rate", "48000",
		"--output.Kitchen.buffer_ms=99", NULL};
	const struct conf *output;

	(void)state;
	assert_int_equal(load("[output]\ndriver = null\nspeech = no\n"
			      "[output   Kitchen ] # there\n"
			      "driver = pipe\ndevice = /run/k\nbuffer_ms = 7\n"
			      "[log]\nlevel = debug\n"
			      "[output K\xc3\xbc"
			      "che]\ndriver = pipe\n"
			      "speech = yes\n",
			      GIVEN),
			 0);
	/* Those of the file first. */
	assert_int_equal(conf_further_count(conf), 4);
	output = conf_further_at(conf, 0);
	assert_string_equal(conf_name(output), "Kitchen");
	assert_int_equal(conf_choice(output, CONF_OUTPUT_DRIVER), 4);
	assert_string_equal(conf_text(output, CONF_OUTPUT_DEVICE), "/run/k");
	assert_int_equal(conf_int(output, CONF_OUTPUT_BUFFER_MS), 99);
	assert_int_equal(conf_int(output, CONF_OUTPUT_PERIOD_MS), 20);
	assert_false(conf_bool(output, CONF_OUTPUT_SPEECH));
	output = conf_further_at(conf, 1);
	assert_string_equal(conf_name(output), "K\xc3\xbc"
					       "che");
	assert_true(conf_bool(output, CONF_OUTPUT_SPEECH));
	assert_string_equal(conf_name(conf_further_at(conf, 2)), "Last one");
	assert_string_equal(conf_name(conf_further_at(conf, 3)), "a.b");
	assert_int_equal(conf_int(conf_further_at(conf, 3), CONF_OUTPUT_RATE),
			 48000);
	/* They leave [output] alone. */
	assert_null(conf_name(conf));
	assert_int_equal(conf_choice(conf, CONF_OUTPUT_DRIVER), 2);
	assert_int_equal(conf_int(conf, CONF_OUTPUT_BUFFER_MS), 500);
	assert_false(conf_bool(conf, CONF_OUTPUT_SPEECH));
	assert_int_equal(load("", NULL), 0);
	assert_int_equal(conf_further_count(conf), 0);
	assert_true(conf_bool(conf, CONF_OUTPUT_SPEECH));
}

static void
test_bad_files(void **state)
{
	static const struct {
		const char *contents;
		unsigned line;
		const char *why; /* a part of the message */
	} CASES[] = {
		{"[output Kitchen]\ndriver=loud\n", 2,
		 "output Kitchen.driver must be"},
		{"[output Kitchen]\nrates=1\n", 2, "no option output.rates"},
		{"[output Kitchen]\ndriver=null\ndriver=null\n", 3,
		 "output Kitchen.driver is set a second time"},
		{"[output K]\ndriver=null\n[log]\n[output K]\n", 4,
		 "[output K] begins a second time"},
		{"[output a=b]\n", 1, "is of 1 to 63 bytes"},
		{"[log]\n[output a\\b]\n", 2, "not \"a\\b\""},
		{"[outputs K]\n", 1, "no section [outputs K]"},
		{"[log K]\n", 1, "no section [log K]"},
		/* What two of them come to. */
		{"[output]\ndriver=alsa\n[output K]\n", 3,
		 "[output K] and [output] have the same device, \"default\""},
		{"[output K]\ndriver=alsa\ndevice=hw:1\n[output L]\n"
		 "driver=auto\ndevice=hw:1\n",
		 4, "[output L] and [output K] have the same device"},
		{"[output K]\ndriver=pipe\n[output L]\ndriver=pipe\n"
		 "device=-\n",
		 3, "have the same device, \"-\""},
		{"[output alsa]\ndriver=null\n", 1, "give this one another"},
		{"[output]\ndriver=wav\n[output wav]\ndriver=null\n", 3,
		 "give this one another"},
		{"[output 1]\ndriver=null\n[output 2]\ndriver=null\n"
		 "[output 3]\ndriver=null\n[output 4]\ndriver=null\n"
		 "[output 5]\ndriver=null\n[output 6]\ndriver=null\n"
		 "[output 7]\ndriver=null\n[output 8]\ndriver=null\n",
		 15, "there may be 7 further sections"},
	};
	char expected[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		assert_int_equal(load(CASES[i].contents, NULL), -EINVAL);
		snprintf(expected, sizeof(expected), "%s:%u: ", path,
			 CASES[i].line);
		if (strncmp(text_string(&message), expected,
			    strlen(expected)) != 0 ||
		    strstr(text_string(&message), CASES[i].why) == NULL)
			fail_msg("case %zu: %s", i, text_string(&message));
		assert_null(conf);
	}
}

static void
test_bad_arguments(void **state)
{
	static const struct {
		const char *argument;
		const char *why;
	} CASES[] = {
		{"--output.K.foo=1", "--output.K.foo is no option"},
		{"--log.K.level=info", "--log.K.level is no option"},
		{"--output..rate=1", "is of 1 to 63 bytes"},
		{"--output.K.rate=x", "output K.rate must be follow"},
		{"--output.K.rate", "--output.K.rate needs a value"},
		{"--output.K.device=", "[output K] and [output] have"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const char *const arguments[] = {CASES[i].argument, NULL};

		assert_int_equal(load("", arguments), -EINVAL);
		if (strstr(text_string(&message), CASES[i].why) == NULL)
			fail_msg("%s: %s", CASES[i].argument,
				 text_string(&message));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_options, tear_down),
		cmocka_unit_test_teardown(test_bad_files, tear_down),
		cmocka_unit_test_teardown(test_bad_arguments, tear_down),
	};

	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}

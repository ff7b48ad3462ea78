/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_further.c - further outputs, [output NAME], in rotaryd's configuration:
 * what they get, their order, and what is wrong with them, by file and line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/base/loaded.h"

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
	static const struct bad_file CASES[] = {
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

	(void)state;
	assert_bad_files(CASES, sizeof(CASES) / sizeof(CASES[0]));
}

static void
test_bad_arguments(void **state)
{
	static const struct bad_argument CASES[] = {
		{"--output.K.foo=1", "--output.K.foo is no option"},
		{"--log.K.level=info", "--log.K.level is no option"},
		{"--output..rate=1", "is of 1 to 63 bytes"},
		{"--output.K.rate=x", "output K.rate must be follow"},
		{"--output.K.rate", "--output.K.rate needs a value"},
		{"--output.K.device=", "[output K] and [output] have"},
	};

	(void)state;
	assert_bad_arguments("", CASES, sizeof(CASES) / sizeof(CASES[0]));
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_conf.c - files and command lines, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/base/loaded.h"

static int
load_one(const char *argument)
{
	const char *const arguments[] = {argument, NULL};

	return load(NULL, arguments);
}

static void
test_presets(void **state)
{
	(void)state;
	assert_int_equal(load("", NULL), 0);
	assert_int_equal(action, CONF_RUN);
	assert_string_equal(conf_text(conf, CONF_SERVER_SOCKET),
			    "/run/rotary/socket");
	assert_string_equal(conf_text(conf, CONF_LIBRARY_STATE),
			    "/var/lib/rotary");
	assert_string_equal(conf_text(conf, CONF_LIBRARY_MUSIC), "/srv/music");
	assert_int_equal(conf_int(conf, CONF_OUTPUT_RATE), 0);
	assert_int_equal(conf_int(conf, CONF_OUTPUT_BUFFER_MS), 500);
	assert_int_equal(conf_int(conf, CONF_REALTIME_DECODERS), 0);
	assert_int_equal(conf_choice(conf, CONF_REALTIME_FENCE), 1);
	assert_true(conf_bool(conf, CONF_REALTIME_LOCK_MEMORY));
	assert_false(conf_is_set(conf, CONF_OUTPUT_BUFFER_MS));
	assert_string_equal(conf_file(conf), file_path);
}

static void
test_file(void **state)
{
	(void)state;
	assert_int_equal(load("\xef\xbb\xbf# comment\r\n"
			      "[library]\r\n"
			      "  music = ~/my music   ; not this\r\n"
			      "\tfollow_links=OFF\n"
			      "\n"
			      "[output] # and this\n"
			      "rate = 44100\n"
			      "device = hw:CARD=Set,DEV=0\n"
			      "driver = null", /* no newline at the end */
			      NULL),
			 0);
	assert_string_equal(conf_text(conf, CONF_LIBRARY_MUSIC),
			    "/home/ann/my music");
	assert_false(conf_bool(conf, CONF_LIBRARY_FOLLOW_LINKS));
	assert_int_equal(conf_int(conf, CONF_OUTPUT_RATE), 44100);
	assert_string_equal(conf_text(conf, CONF_OUTPUT_DEVICE),
			    "hw:CARD=Set,DEV=0");
	assert_int_equal(conf_choice(conf, CONF_OUTPUT_DRIVER), 2);
	assert_true(conf_is_set(conf, CONF_OUTPUT_DRIVER));
	assert_false(conf_is_set(conf, CONF_SERVER_SOCKET));
}

static void
test_command_line_wins(void **state)
{
	static const char *const ARGUMENTS_GIVEN[] = {
		"--output.rate", "96000", "--output.buffer_ms=20", NULL};

	(void)state;
	assert_int_equal(
		load("[output]\nrate=44100\nperiod_ms=5\n", ARGUMENTS_GIVEN),
		0);
	assert_int_equal(conf_int(conf, CONF_OUTPUT_RATE), 96000);
	assert_int_equal(conf_int(conf, CONF_OUTPUT_BUFFER_MS), 20);
	assert_int_equal(conf_int(conf, CONF_OUTPUT_PERIOD_MS), 5);
	/* What it overrides must be right all the same. */
	assert_int_equal(load("[output]\nrate=fast\n", ARGUMENTS_GIVEN),
			 -EINVAL);
}

static void
test_bad_files(void **state)
{
	static const struct bad_file CASES[] = {
		{"[output]\nrate = fast\n", 2, "follow or a number from 8000"},
		{"[output]\n\n# x\nbufer_ms = 5\n", 4,
		 "no option output.bufer_ms"},
		{"[sound]\n", 1, "no section [sound]"},
		{"[output] x\n", 1, "on a line of its own"},
		{"[output\nrate = 1\n", 1, "on a line of its own"},
		{"[]\n", 1, "no name"},
		{"[output]\nrate\n", 2, "neither"},
		{"rate = 44100\n", 1, "no section []"},
		{"[output]\nbuffer_ms = 1\n", 2, "from 2 to 10000"},
		{"[output]\nbuffer_ms = 5 ms\n", 2, "not \"5 ms\""},
		{"[output]\nkeep_open = perhaps\n", 2, "yes or no"},
		{"[output]\ndriver = pulse\n", 2,
		 "one of auto, alsa, null, wav or pipe"},
		{"[output]\ndriver = auto|alsa\n", 2,
		 "auto, alsa, null, wav or"},
		{"[library]\nmusic = music\n", 2, "begins with / or ~/"},
		{"[library]\nmusic =\n", 2, "begins with / or ~/"},
		{"[log]\nlevel = info\n level = info\n", 3, "a second time"},
		{"[log]\nlevel = info\n[output]\n[log]\nlevel = info\n", 5,
		 "a second time"},
		{"[log]\n# \xff\n", 2, "not valid UTF-8"},
		/* The first error is the one that is told. */
		{"[log]\nlevel = x\nlevel = y\nz\n[q]\n", 2, "not \"x\""},
		{"[log]\nz\nlevel = x\n", 2, "neither"},
	};

	(void)state;
	assert_bad_files(CASES, sizeof(CASES) / sizeof(CASES[0]));
}

static void
test_long_lines(void **state)
{
	static char contents[4500];
	size_t length, accepted = 0;
	char *path;

	(void)state;
	for (length = 4000; length < 4300; length++) {
		int result;

		strcpy(contents, "[library]\nmusic = /");
		path = contents + strlen(contents);
		memset(path, 'x', length);
		strcpy(path + length, "\n[log]\nlevel = debug\n");
		result = load(contents, NULL);
		if (result == 0) {
			/* Taken whole, and so was what follows. */
			assert_int_equal(
				strlen(conf_text(conf, CONF_LIBRARY_MUSIC)),
				length + 1);
			assert_int_equal(conf_choice(conf, CONF_LOG_LEVEL), 3);
			assert_int_equal(accepted, length - 4000);
			accepted++;
			continue;
		}
		assert_int_equal(result, -EINVAL);
		assert_non_null(strstr(text_string(&message),
				       length > 4191 ? ":2: the line is longer"
						     : "at most 4095"));
	}
	/* Each path that can be is taken. */
	assert_int_equal(accepted, 95);
}

static void
test_no_text(void **state)
{
	static const char NUL[] = "[log]\nlevel = in\0fo\n";

	(void)state;
	write_bytes(NUL, sizeof(NUL) - 1);
	assert_int_equal(load(NULL, NULL), -EINVAL);
	assert_non_null(strstr(text_string(&message), ":2: "));
}

static void
test_which_file(void **state)
{
	char other[PATH_BYTES];
	const char *const named[] = {"--config", other, NULL};
	FILE *file;

	(void)state;
	snprintf(other, sizeof(other), "%s/other.conf", folder);
	assert_int_equal(load("[output]\nrate = 48000\n", named), -ENOENT);
	assert_non_null(strstr(text_string(&message), other));
	file = fopen(other, "w");
	assert_non_null(file);
	fputs("[output]\nbuffer_ms = 99\n", file);
	fclose(file);
	assert_int_equal(load("[output]\nrate = 48000\n", named), 0);
	assert_string_equal(conf_file(conf), other);
	assert_int_equal(conf_int(conf, CONF_OUTPUT_BUFFER_MS), 99);
	assert_int_equal(conf_int(conf, CONF_OUTPUT_RATE), 0); /* only one */
	unlink(other);
	/* A folder can be opened and not read; a FIFO would never end. */
	snprintf(other, sizeof(other), "%s", folder);
	assert_int_equal(load("", named), -EINVAL);
	assert_non_null(strstr(text_string(&message), "no regular file"));
	snprintf(other, sizeof(other), "%s/fifo", folder);
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_int_equal(load("", named), -EINVAL);
	assert_non_null(strstr(text_string(&message), "no regular file"));
	unlink(other);
}

static void
test_arguments(void **state)
{
	char here[PATH_BYTES], expected[PATH_BYTES * 2];

	(void)state;
	assert_int_equal(load_one("--help"), 0);
	assert_int_equal(action, CONF_SHOW_HELP);
	assert_int_equal(load_one("--version"), 0);
	assert_int_equal(action, CONF_SHOW_VERSION);
	assert_int_equal(load_one("--check-config"), 0);
	assert_int_equal(action, CONF_CHECK);
	assert_int_equal(load_one("--socket=/x/y"), 0);
	assert_string_equal(conf_text(conf, CONF_SERVER_SOCKET), "/x/y");
	assert_int_equal(load_one("--output=wav:/tmp/a:b.wav"), 0);
	assert_int_equal(conf_choice(conf, CONF_OUTPUT_DRIVER), 3);
	assert_string_equal(conf_text(conf, CONF_OUTPUT_DEVICE),
			    "/tmp/a:b.wav");
	/* Paths are relative to where the command was given. */
	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(expected, sizeof(expected), "%s/songs",
		 strcmp(here, "/") == 0 ? "" : here);
	assert_int_equal(load_one("--music=songs"), 0);
	assert_string_equal(conf_text(conf, CONF_LIBRARY_MUSIC), expected);
	/* A card's name is no name for null, but is one for alsa. */
	assert_int_equal(load("[output]\ndevice = hw:1\n",
			      (const char *const[]){"--output", "null", NULL}),
			 0);
	assert_string_equal(conf_text(conf, CONF_OUTPUT_DEVICE), "");
	assert_int_equal(load("[output]\ndevice = hw:1\n",
			      (const char *const[]){"--output", "alsa", NULL}),
			 0);
	assert_string_equal(conf_text(conf, CONF_OUTPUT_DEVICE), "hw:1");
}

static void
test_bad_arguments(void **state)
{
	static const struct bad_argument CASES[] = {
		{"--volume", "--volume is no option"},
		{"play", "play is no option"},
		{"-h", "-h is no option"},
		{"", " is no option"},
		{"--output.foo=1", "--output.foo is no option"},
		{"--output.rate", "--output.rate needs a value"},
		{"--music", "--music needs a value"},
		{"--help=yes", "--help takes no value"},
		{"--output.rate=1", "must be follow or a number"},
		{"--output=pulse:x", "must be one of"},
		{"--music=", "must be a path"},
	};

	(void)state;
	assert_bad_arguments(NULL, CASES, sizeof(CASES) / sizeof(CASES[0]));
}

static void
test_socket_path_limit(void **state)
{
	char argument[256] = "--socket=/";

	(void)state;
	/* sun_path holds 107 bytes and a NUL. */
	memset(argument + 10, 'x', 106);
	assert_int_equal(load_one(argument), 0);
	argument[116] = 'x';
	assert_int_equal(load_one(argument), -EINVAL);
	assert_non_null(strstr(text_string(&message), "at most 107 bytes"));
}

static void
read_file(const char *path, struct text *contents)
{
	FILE *file = fopen(path, "r");
	int character;

	assert_non_null(file);
	while ((character = getc(file)) != EOF)
		text_add_char(contents, (char)character);
	fclose(file);
}

static void
renew(const char *path, const struct text *contents)
{
	FILE *file;

	if (getenv("ROTARY_RENEW") == NULL)
		return;
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text_string(contents), file);
	fclose(file);
}

/* The sample in the tree is the table's, and, with every option's comment
 * sign taken away, a file that gives each option its default. */
static void
test_sample(void **state)
{
	struct text sample = {0}, kept = {0};
	int option;
	char *at;

	(void)state;
	conf_add_sample(&conf_rotaryd, &sample);
	renew(ROTARY_SOURCE "/config/rotary.conf", &sample);
	read_file(ROTARY_SOURCE "/config/rotary.conf", &kept);
	/* To renew it: ROTARY_RENEW=1 in this test's environment. */
	assert_string_equal(text_string(&kept), text_string(&sample));
	assert_int_equal(load(text_string(&sample), NULL), 0);
	for (option = 0; option < CONF_OPTION_COUNT; option++)
		assert_false(conf_is_set(conf, option));
	for (at = sample.bytes; (at = strstr(at, "\n#")) != NULL; at++)
		if (at[2] != ' ' && at[2] != '\n')
			at[1] = ' ';
	assert_int_equal(load(text_string(&sample), NULL), 0);
	for (option = 0; option < CONF_OPTION_COUNT; option++)
		assert_true(conf_is_set(conf, option));
	assert_int_equal(conf_int(conf, CONF_REALTIME_OUTPUT_PRIORITY), 45);
	text_finish(&kept);
	text_finish(&sample);
}

/* The list in rotary.conf(5) is the table's, between two marks. */
static void
test_manual(void **state)
{
	static const char PAGE[] = ROTARY_SOURCE "/docs/man/rotary.conf.5";
	static const char BEGIN[] = ".\\\" options begin\n";
	static const char END[] = ".\\\" options end\n";
	struct text manual = {0}, page = {0}, made = {0};
	const char *begin, *end;

	(void)state;
	conf_add_manual(&conf_rotaryd, &manual);
	read_file(PAGE, &page);
	begin = strstr(page.bytes, BEGIN);
	end = strstr(page.bytes, END);
	assert_non_null(begin);
	assert_non_null(end);
	begin += sizeof(BEGIN) - 1;
	text_add_bytes(&made, page.bytes, (size_t)(begin - page.bytes));
	text_add(&made, text_string(&manual));
	text_add(&made, end);
	renew(PAGE, &made);
	text_clear(&page);
	read_file(PAGE, &page);
	assert_string_equal(text_string(&page), text_string(&made));
	text_finish(&manual);
	text_finish(&page);
	text_finish(&made);
}

static void
test_help(void **state)
{
	struct text help = {0};
	char *line, *end;

	(void)state;
	conf_add_help(&conf_rotaryd, &help);
	assert_non_null(strstr(help.bytes, "--output.driver=auto\n"));
	assert_non_null(strstr(help.bytes, "--check-config"));
	assert_non_null(strstr(help.bytes, "--log.level=info\n"));
	for (line = help.bytes; *line != '\0'; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		assert_true(end - line < 80);
	}
	text_finish(&help);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_presets, tear_down),
		cmocka_unit_test_teardown(test_file, tear_down),
		cmocka_unit_test_teardown(test_command_line_wins, tear_down),
		cmocka_unit_test_teardown(test_bad_files, tear_down),
		cmocka_unit_test_teardown(test_long_lines, tear_down),
		cmocka_unit_test_teardown(test_no_text, tear_down),
		cmocka_unit_test_teardown(test_which_file, tear_down),
		cmocka_unit_test_teardown(test_arguments, tear_down),
		cmocka_unit_test_teardown(test_bad_arguments, tear_down),
		cmocka_unit_test_teardown(test_socket_path_limit, tear_down),
		cmocka_unit_test_teardown(test_sample, tear_down),
		cmocka_unit_test_teardown(test_manual, tear_down),
		cmocka_unit_test_teardown(test_help, tear_down),
	};

	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}

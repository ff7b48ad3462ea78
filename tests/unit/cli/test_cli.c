/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_cli.c - command lines: what is sent, what goes wrong and with which exit
 * code, and that the documents know every verb. */
#include "lib/base/text.h"
#include "remote/cli/verbs.h"
#include "tests/unit/cli/console.h"

static void
test_commands(void **state)
{
	static const struct {
		const char *words;
		const char *request;
	} CASES[] = {
		{"play|3", "play 2\n"},
		{"pause", "pause 1\n"},
		{"stop", "stop\n"},
		{"next", "next\n"},
		{"prev", "previous\n"},
		{"clear", "clear\n"},
		{"seek|90", "seekcur 90.000\n"},
		{"seek|1:30", "seekcur 90.000\n"},
		{"seek|+10", "seekcur +10.000\n"},
		{"seek|-1:00.5", "seekcur -60.500\n"},
		{"vol|40", "setvol 40\n"},
		{"vol|+5", "volume 5\n"},
		{"vol|-5", "volume -5\n"},
		{"crossfade|5", "crossfade 5\n"},
		{"crossfade|0", "crossfade 0\n"},
		{"toggle", "status\npause 1\n"},
		{"add|a b|c", "add \"a b\"\nadd \"c\"\n"},
		{"add|--|--x", "add \"--x\"\n"},
		{"key|ok", "sendmessage \"remote\" \"key ok\"\n"},
		{"key|KEY_RED|hold",
		 "sendmessage \"remote\" \"key KEY_RED hold\"\n"},
		{"raw|a  b", "a  b\n"},
		{"raw|find|a \"b\"", "find \"a \\\"b\\\"\"\n"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		assert_int_equal(run(NULL, CASES[i].words), CLI_OK);
		assert_string_equal(heard, CASES[i].request);
		assert_string_equal(out, "");
		assert_string_equal(err, "");
	}
}

static void
test_bad_lines(void **state)
{
	static const char *const LINES[] = {
		"",           "bogus",        "seek",          "seek|x",
		"seek|1:2:x", "vol|101",      "vol|loud",      "play|0",
		"play|x",     "play|1|2",     "--bogus|play",  "add",
		"help|bogus", "--socket",     "raw|a\nb",      "key|VOLUP",
		"key|",       "key|a b",      "key|OK|twice",  "key|OK|or",
		"key|OK|hol", "crossfade|-1", "crossfade|2.5", "crossfade|1|2",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(LINES) / sizeof(LINES[0]); i++) {
		assert_int_equal(run(NULL, LINES[i]), CLI_USAGE);
		assert_string_equal(out, "");
		assert_true(strlen(err) > 10);
		assert_string_equal(heard, "");
	}
}

static void
test_refused(void **state)
{
	static const struct answer REFUSE[] = {
		{"play", "ACK [50@0] {play} Bad \x1b[31msong index\n"},
		{NULL, NULL}};
	static const struct answer HANG_UP[] = {{"play", NULL}, {NULL, NULL}};

	(void)state;
	assert_int_equal(run(REFUSE, "play"), CLI_REFUSED);
	/* What comes from elsewhere does not command the terminal. */
	assert_string_equal(err, "rotary: the daemon refuses: Bad  [31msong "
				 "index\n");
	assert_int_equal(run(HANG_UP, "play"), CLI_NO_DAEMON);
	assert_non_null(strstr(err, "closed the connection"));
	assert_int_equal(run(NULL, "--socket=/nowhere/socket|play"),
			 CLI_NO_DAEMON);
	assert_non_null(strstr(err, "no daemon answers on /nowhere/socket: "
				    "start it with"));
}

static void
test_empty_queue(void **state)
{
	static const struct answer EMPTY[] = {
		{"status", "playlistlength: 0\nstate: stop\nOK\n"},
		{"currentsong", "OK\n"},
		{"playlistinfo", "OK\n"},
		{NULL, NULL}};

	(void)state;
	assert_int_equal(run(EMPTY, "play"), CLI_REFUSED);
	assert_non_null(strstr(err, "fill it with"));
	assert_int_equal(run(EMPTY, "toggle"), CLI_REFUSED);
	assert_string_equal(heard, "status\nplay\nstatus\n");
	assert_int_equal(run(EMPTY, "queue"), CLI_OK);
	assert_string_equal(out, "");
	assert_non_null(strstr(err, "fill it with"));
	assert_int_equal(run(EMPTY, "queue|--json"), CLI_OK);
	assert_string_equal(out, "[]\n");
	assert_int_equal(run(EMPTY, "status"), CLI_OK);
	assert_string_equal(out, "stopped\nvolume not adjustable\n");
	assert_int_equal(run(EMPTY, "vol"), CLI_OK);
	assert_string_equal(out, "not adjustable\n");
	assert_int_equal(run(EMPTY, "status|--json"), CLI_OK);
	assert_string_equal(out, "{\"playlistlength\":0,\"state\":\"stop\","
				 "\"song_info\":null}\n");
}

/* A file of this machine: the daemon hears its absolute path. */
static void
test_add_local_file(void **state)
{
	static const struct answer UNKNOWN[] = {
		{"add \"socket\"", "ACK [50@0] {add} No such directory\n"},
		{"add \"none\"", "ACK [50@0] {add} No such directory\n"},
		{"add \"denied\"", "ACK [4@0] {add} Access denied\n"},
		{NULL, NULL}};
	char here[256], expected[256];

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(run(UNKNOWN, "add|socket"), CLI_OK);
	snprintf(expected, sizeof(expected), "add \"socket\"\nadd \"%s\"\n",
		 path);
	assert_string_equal(heard, expected);
	/* One that is nowhere does not keep the next from being added. */
	assert_int_equal(run(UNKNOWN, "add|none|other"), CLI_REFUSED);
	assert_string_equal(heard, "add \"none\"\nadd \"other\"\n");
	assert_non_null(strstr(err, "\"none\" is neither"));
	assert_int_equal(run(UNKNOWN, "add|denied"), CLI_REFUSED);
	assert_non_null(strstr(err, "refuses \"denied\": Access denied"));
	assert_int_equal(chdir(here), 0);
}

static void
test_help_and_version(void **state)
{
	const struct verb *verb;
	char words[64], usage[64];
	int i;

	(void)state;
	assert_int_equal(run(NULL, "--version"), CLI_OK);
	assert_int_equal(strncmp(out, "rotary ", 7), 0);
	assert_int_equal(run(NULL, "--help"), CLI_OK);
	for (i = 0; (verb = verbs_at(i)) != NULL; i++) {
		snprintf(words, sizeof(words), "\n  %s ", verb->name);
		assert_non_null(strstr(out, words));
	}
	for (i = 0; (verb = verbs_at(i)) != NULL; i++) {
		snprintf(usage, sizeof(usage), "Usage: rotary %s", verb->name);
		snprintf(words, sizeof(words), "help|%s", verb->name);
		assert_int_equal(run(NULL, words), CLI_OK);
		assert_int_equal(strncmp(out, usage, strlen(usage)), 0);
		snprintf(words, sizeof(words), "%s|--help", verb->name);
		assert_int_equal(run(NULL, words), CLI_OK);
		assert_int_equal(strncmp(out, usage, strlen(usage)), 0);
	}
	assert_string_equal(heard, "");
}

static void
read_file(const char *name, struct text *contents)
{
	FILE *file = fopen(name, "r");
	int character;

	assert_non_null(file);
	text_clear(contents);
	while ((character = getc(file)) != EOF)
		text_add_char(contents, (char)character);
	fclose(file);
}

/* No verb is missing in the manual page and in the completion. */
static void
test_documents(void **state)
{
	const struct verb *verb;
	struct text page = {0}, completion = {0}, list = {0};
	char first[32], with[32], plain[32];
	const char *begin, *at;
	int i;

	(void)state;
	read_file(ROTARY_SOURCE "/docs/man/rotary.1", &page);
	read_file(ROTARY_SOURCE "/remote/cli/rotary.bash", &completion);
	begin = strstr(completion.bytes, "verbs=\"");
	assert_non_null(begin);
	text_add_char(&list, ' ');
	for (at = begin + 7; *at != '"'; at++)
		text_add_char(&list, *at == '\n' || *at == '\t' ? ' ' : *at);
	text_add_char(&list, ' ');
	for (i = 0; (verb = verbs_at(i)) != NULL; i++) {
		snprintf(plain, sizeof(plain), "\n.B %s\n", verb->name);
		snprintf(with, sizeof(with), "\n.BR %s ", verb->name);
		snprintf(first, sizeof(first), "\n.BI %s ", verb->name);
		if (strstr(page.bytes, plain) == NULL &&
		    strstr(page.bytes, with) == NULL &&
		    strstr(page.bytes, first) == NULL)
			fail_msg("rotary.1 lacks %s", verb->name);
		snprintf(plain, sizeof(plain), " %s ", verb->name);
		if (strstr(list.bytes, plain) == NULL)
			fail_msg("rotary.bash lacks %s", verb->name);
	}
	text_finish(&list);
	text_finish(&page);
	text_finish(&completion);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_empty_queue),
		cmocka_unit_test(test_add_local_file),
		cmocka_unit_test(test_help_and_version),
		cmocka_unit_test(test_documents),
	};

	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}

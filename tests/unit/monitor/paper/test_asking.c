/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_asking.c - rotary-remote when it speaks to people: --test prints what
 * the guide says that it prints, --learn asks and writes a map that works; run
 * by umockdev-wrapper. */
#include "lib/base/clock.h"
#include "tests/kit/paper/stage.h"

#include <linux/input-event-codes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LINE_BYTES = 512 };

static const struct paper_device remote = {
	.number = 3,
	.name = "gpio_ir_recv",
	.is_rc = true,
	.keys = {KEY_UP,         KEY_DOWN,   KEY_LEFT,     KEY_RIGHT,
		 KEY_ENTER,      KEY_ESC,    KEY_MENU,     KEY_PLAY,
		 KEY_STOP,       KEY_NEXT,   KEY_PREVIOUS, KEY_VOLUMEUP,
		 KEY_VOLUMEDOWN, KEY_MUTE,   KEY_INFO,     KEY_RED,
		 KEY_GREEN,      KEY_YELLOW, KEY_POWER,    KEY_OK},
};
static const struct paper_device other = {
	.number = 4, .name = "Other", .keys = {KEY_OK, KEY_UP}};

static struct stage stage;

/* --- the guide */

static FILE *
open_transcript(void)
{
	static const char command[] = "    $ rotary-remote --test\n";
	FILE *guide = fopen(ROTARY_SOURCE "/docs/remote.md", "re");
	char line[LINE_BYTES];

	assert_non_null(guide);
	do {
		if (fgets(line, sizeof(line), guide) == NULL)
			fail_msg("the guide has no transcript");
	} while (strcmp(line, command) != 0);
	return guide;
}

/* The next line of it, without the indentation of the page. */
static bool
read_guide(FILE *guide, char *line)
{
	char words[LINE_BYTES];

	if (fgets(words, sizeof(words), guide) == NULL ||
	    strncmp(words, "    ", 4) != 0)
		return false;
	words[strcspn(words, "\n")] = '\0';
	memmove(line, words + 4, strlen(words + 4) + 1);
	return true;
}

/* What is printed, without what is logged. */
static const char *
printed_line(void)
{
	const char *line = NULL;

	do
		line = stage_log_line(&stage);
	while (line[0] >= '0' && line[0] <= '9' && line[2] == ':');
	return line;
}

/* Where the maps are is short in the guide. */
static void
expect_device(const char *line)
{
	const char *dots = strstr(line, "…");
	const char *printed = printed_line();
	const size_t before = (size_t)(dots - line);

	assert_non_null(dots);
	assert_memory_equal(printed, line, before);
	dots += strlen("…");
	assert_true(strlen(printed) > before + strlen(dots));
	assert_string_equal(printed + strlen(printed) - strlen(dots), dots);
}

static uint16_t
find_code(const char *line)
{
	static const struct {
		const char *name;
		uint16_t code;
	} keys[] = {{": RIGHT ", KEY_RIGHT}, {": OK ", KEY_OK}};
	size_t i = 0;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strstr(line, keys[i].name) != NULL)
			return keys[i].code;
	fail_msg("this test knows no key of \"%s\"", line);
	return 0;
}

/* The time is another, and on a busy machine there may be more repeats. */
static void
expect_up(const char *line, const char *before)
{
	const char *number = strstr(line, "after ") + strlen("after ");
	const char *printed = NULL;

	do
		printed = printed_line();
	while (strcmp(printed, before) == 0 &&
	       strstr(before, ".repeat") != NULL);
	assert_memory_equal(printed, line, (size_t)(number - line));
	printed += number - line;
	assert_string_equal(printed + strspn(printed, "0123456789"),
			    number + strspn(number, "0123456789"));
}

static void
test_transcript_of_the_guide(void **state)
{
	const char *const options[] = {"--test", NULL};
	FILE *guide = open_transcript();
	char line[LINE_BYTES], before[LINE_BYTES] = "";
	int count = 0;

	(void)state;
	stage_run(&stage, &remote, options);
	while (read_guide(guide, line)) {
		if (strstr(line, "…") != NULL) {
			expect_device(line);
		} else if (strstr(line, " down") != NULL) {
			stage_key(&stage, &remote, find_code(line), 1);
			assert_string_equal(printed_line(), line);
		} else if (strstr(line, " up after ") != NULL) {
			stage_key(&stage, &remote, find_code(line), 0);
			expect_up(line, before);
		} else {
			assert_string_equal(printed_line(), line);
		}
		snprintf(before, sizeof(before), "%s", line);
		count++;
	}
	fclose(guide);
	assert_true(count > 10);
	stage_end(&stage);
}

/* --- learning */

struct answer {
	const char *question;
	uint16_t code; /* 0: none */
};
static const struct answer answers[] = {
	{"OK", KEY_ENTER},
	{"UP", KEY_UP},
	{"DOWN", KEY_DOWN},
	{"LEFT", KEY_LEFT},
	{"RIGHT", KEY_RIGHT},
	{"BACK", KEY_ESC},
	{"MENU", KEY_MENU},
	{"PLAYPAUSE", KEY_PLAY},
	{"STOP", KEY_STOP},
	{"NEXT", KEY_NEXT},
	{"PREVIOUS", KEY_PREVIOUS},
	{"VOLUMEUP", KEY_VOLUMEUP},
	{"VOLUMEDOWN", KEY_VOLUMEDOWN},
	{"MUTE", KEY_MUTE},
	{"INFO", KEY_INFO},
	{"RED", KEY_RED},
	{"GREEN", KEY_GREEN},
	{"YELLOW", KEY_YELLOW},
	{"BLUE", 0},
	{"POWER", KEY_POWER},
};

static void
press(const struct paper_device *device, uint16_t code)
{
	/* It does not listen for a moment after each answer. */
	stage_pass(&stage, NS_PER_S / 2);
	stage_key(&stage, device, code, 1);
	stage_key(&stage, device, code, 0);
}

static void
wait_question(const struct answer *answer)
{
	char words[64];

	snprintf(words, sizeof(words), "press %s, or wait", answer->question);
	stage_wait_log(&stage, words);
}

static void
answer_all(void)
{
	size_t i = 0;

	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		wait_question(&answers[i]);
		if (answers[i].code == 0) {
			stage_pass(&stage, 9 * NS_PER_S);
			stage_wait_log(&stage, "skipped");
			continue;
		}
		/* Nobody else is asked, and no key is two. */
		if (i == 3) {
			press(&other, KEY_OK);
			press(&remote, KEY_UP);
			stage_wait_log(&stage, "named already");
		}
		press(&remote, answers[i].code);
		stage_wait_log(&stage, "  it is ");
	}
}

static void
read_map(const char *path, char *bytes, size_t room)
{
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	bytes[fread(bytes, 1, room - 1, file)] = '\0';
	fclose(file);
}

static void
test_learning(void **state)
{
	char folder[] = "/tmp/rotary-learn-XXXXXX";
	char path[64], command[512], map[1024];
	const char *const options[] = {"--learn", path, NULL};

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/mine.map", folder);
	/* An interrupt ends it, and writes nothing. */
	stage_run(&stage, &remote, options);
	wait_question(&answers[0]);
	press(&remote, KEY_ENTER);
	wait_question(&answers[1]);
	kill(stage.pid, SIGINT);
	assert_true(WIFSIGNALED(stage_wait_end(&stage)));
	assert_int_equal(access(path, F_OK), -1);

	stage_run(&stage, &remote, options);
	stage_add(&stage, &other);
	answer_all();
	assert_int_equal(stage_wait_end(&stage), 0);
	read_map(path, map, sizeof(map));
	assert_string_equal(map, "# Learned by rotary-remote --learn.\n"
				 "include = default.map\n\n"
				 "[device gpio_ir_recv]\n\n[aliases]\n"
				 "OK = ENTER\nBACK = ESC\nPLAYPAUSE = PLAY\n");
	snprintf(command, sizeof(command), "%s --check --keymaps %s >/dev/null",
		 ROTARY_REMOTE, folder);
	assert_int_equal(system(command), 0);
	/* What is there stays. */
	stage_run(&stage, &remote, options);
	stage_wait_log(&stage, "is there already");
	assert_int_equal(WEXITSTATUS(stage_wait_end(&stage)), 1);
	unlink(path);
	rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transcript_of_the_guide),
		cmocka_unit_test(test_learning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_keymap.c - what a key map may say, and what it is told when it says
 * something else. */
#include "lib/base/text.h"
#include "remote/monitor/keymap.h"
#include "tests/kit/folder.h"

#include <errno.h>
#include <linux/input-event-codes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MAPS ROTARY_SOURCE "/config/keymaps/"

static char folder[] = "/tmp/rotary-map-XXXXXX";
static struct text error;

static int
find_map(void *context, const char *name, struct text *ret_path)
{
	(void)context;
	text_printf(ret_path, "%s/%s", folder, name);
	return access(text_string(ret_path), R_OK) == 0 ? 0 : -1;
}

static const struct keymap_rules no_exec = {.find = find_map};
static const struct keymap_rules with_exec = {.find = find_map, .exec = true};

static void
write_map(const char *name, const char *words)
{
	char path[128];

	folder_write(folder, name, words);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(chmod(path, 0644), 0);
}

static int
load(const char *name, const struct keymap_rules *rules,
     struct keymap **ret_map)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return keymap_load(path, rules, ret_map, &error);
}

static const char *
action_of(const struct keymap *map, enum keymap_mode mode, int code,
	  enum keymap_gesture gesture)
{
	const struct key key = {EV_KEY, (uint16_t)code};
	const struct keymap_bound *bound = keymap_find(map, mode, key);

	return bound != NULL && bound->actions[gesture] != NULL
		       ? bound->actions[gesture]->text
		       : "";
}

static void
test_lookups(void **state)
{
	struct keymap *map = NULL;

	(void)state;
	write_map("base.map", "[aliases]\nOK = ENTER SELECT\n[play]\n"
			      "OK = next\nOK.hold = stop\nVOLUMEUP = volume "
			      "+2\n");
	write_map("a.map", "include = base.map\n[device *]\n[play]\n"
			   "ENTER = clear ; of its own\nok = noop\n"
			   "[menu]\nOK = menu ok\n");
	assert_int_equal(load("a.map", &no_exec, &map), 0);
	assert_string_equal(
		action_of(map, KEYMAP_MODE_PLAY, KEY_OK, KEYMAP_SHORT), "noop");
	assert_string_equal(
		action_of(map, KEYMAP_MODE_PLAY, KEY_OK, KEYMAP_HOLD), "stop");
	assert_string_equal(
		action_of(map, KEYMAP_MODE_PLAY, KEY_SELECT, KEYMAP_HOLD),
		"stop");
	assert_string_equal(
		action_of(map, KEYMAP_MODE_PLAY, KEY_ENTER, KEYMAP_SHORT),
		"clear");
	assert_string_equal(
		action_of(map, KEYMAP_MODE_PLAY, KEY_ENTER, KEYMAP_HOLD), "");
	assert_string_equal(
		action_of(map, KEYMAP_MODE_MENU, KEY_ENTER, KEYMAP_SHORT),
		"menu ok");
	/* Volume works everywhere, a cursor key does not. */
	assert_string_equal(
		action_of(map, KEYMAP_MODE_TEXT, KEY_VOLUMEUP, KEYMAP_SHORT),
		"volume +2");
	assert_string_equal(
		action_of(map, KEYMAP_MODE_TEXT, KEY_OK, KEYMAP_SHORT), "");
	keymap_unref(map);
}

static void
test_devices(void **state)
{
	struct keymap_identity identity = {.name = "gpio_ir_recv",
					   .phys = "gpio/input0",
					   .bus = 0x19,
					   .vendor = 1,
					   .product = 2,
					   .is_rc = true};
	struct keymap_settings settings;
	struct keymap *map = NULL;

	(void)state;
	write_map("a.map", "[device other]\n[device gpio*]\nbus = 0x19\n"
			   "vendor = 1\nphys = gpio/*\nkind = remote\n"
			   "grab = no\n[device *knob*]\nrejoin_ms = 7\n"
			   "releases = no\n");
	assert_int_equal(load("a.map", &no_exec, &map), 0);
	assert_true(keymap_claims(map, &identity, &settings));
	assert_int_equal(settings.grab, KEYMAP_GRAB_NO);
	assert_int_equal(settings.rejoin_ms, 120);
	assert_true(settings.has_releases);
	identity.vendor = 3;
	assert_false(keymap_claims(map, &identity, &settings));
	identity.name = "a knob!";
	assert_true(keymap_claims(map, &identity, &settings));
	assert_int_equal(settings.rejoin_ms, 7);
	assert_false(settings.has_releases);
	identity.name = "";
	assert_false(keymap_claims(map, &identity, &settings));
	keymap_unref(map);
}

/* Each is one bad line; the message names file, line and what. */
static const struct bad {
	const char *words;
	const char *message;
} bad[] = {
	{"[play]\nOKAY = next\n", ".map:2: \"OKAY\" is no key"},
	{"[play]\nOK = nxt\n", ".map:2: \"nxt\" is no command"},
	{"[play]\nOK = idle\n", ".map:2: \"idle\" is no command"},
	{"[play]\nOK = close\n", ".map:2: \"close\" is no command"},
	{"[play]\nOK =\n", ".map:2: \"\" says not what to do"},
	{"[play]\nOK = next,\n", ".map:2: \"\" says not what to do"},
	{"[play]\nOK = say \"x\n", "has no closing quote"},
	{"[play]\nOK = menu\n", "needs to know what"},
	{"[play]\nOK = menu sideways\n", "\"sideways\" is not known"},
	{"[play]\nOK = menu digit 10\n", "needs one digit"},
	{"[play]\nOK = menu up up\n", "is a word too many"},
	{"[play]\nOK = mode disco\n", "\"disco\" is not known"},
	{"[play]\nOK = power off\n", "only allowed with .hold"},
	{"[play]\nOK.repeat = power off\n", "only allowed with .hold"},
	{"[play]\nOK = volume +1*value\n", "only known of an axis"},
	{"[play]\nOK = seekcur +1*grow\n", "only known of .repeat"},
	{"[play]\nREL_DIAL = volume +0*value\n", "a number from 1"},
	{"[play]\nREL_DIAL = volume +1*value 1*value\n", "a second"},
	{"[play]\nREL_DIAL.hold = next\n", "is an axis"},
	{"[play]\nOK.twice = next\n", "is none of .press"},
	{"[play]\nOK.short = next\n", "is none of .press"},
	{"[play]\nOK = next\nok = stop\n", "bound in line 2"},
	{"[disco]\n", ".map:1: \"disco\" is none of the sections"},
	{"[play\nOK = next\n", ".map:1: a section is"},
	{"[]\n", ".map:1: this section has no name"},
	{"OK = next\n", "stands before the first section"},
	{"[play]\nnonsense\n", ".map:2: this is neither"},
	{"[play]\n= next\n", ".map:2: this is neither"},
	{"[device]\n", "needs a name"},
	{"[device x]\ngrab = maybe\n", "\"maybe\" is not a word"},
	{"[device x]\nbus = -1\n", "\"-1\" is not a number"},
	{"[device x]\nbus = 0x10000\n", "is not a number"},
	{"[device x]\nrejoin_ms = 5s\n", "is not a number"},
	{"[device x]\ncolour = red\n", "\"colour\" is none of bus"},
	{"[device x]\nreleases = x\n", "is neither yes nor no"},
	{"[aliases]\nOK = NOTHING\n", "\"NOTHING\" is no key"},
	{"[aliases]\nOK = REL_DIAL\n", "is of another kind"},
	{"include = none.map\n", "is no map in the folders"},
	{"include = ../b.map\n", "is no map in the folders"},
	{"include = b.map\n", "is one level too many"},
	{"[play]\nOK = exec /bin/true\n", "needs exec = yes"},
	{"[play]\nOK = next \xff\n", ".map:2: the line is not valid"},
};

static void
test_refusals(void **state)
{
	struct keymap *map = NULL;
	size_t i = 0;

	(void)state;
	write_map("b.map", "include = c.map\n");
	write_map("c.map", "[play]\nOK = next\n");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_map("a.map", bad[i].words);
		assert_int_equal(load("a.map", &no_exec, &map), -EINVAL);
		if (strstr(text_string(&error), bad[i].message) == NULL ||
		    strstr(text_string(&error), folder) == NULL) {
			print_error("%s: %s\n", bad[i].words,
				    text_string(&error));
			fail();
		}
	}
}

static void
test_exec_needs_a_safe_file(void **state)
{
	static const char words[] =
		"[play]\nOK = exec /bin/echo \"a b\" -- c, next\n";
	const struct keymap_bound *bound = NULL;
	struct keymap *map = NULL;
	char path[128];

	(void)state;
	write_map("a.map", words);
	assert_int_equal(load("a.map", &with_exec, &map), 0);
	bound = keymap_find(map, KEYMAP_MODE_PLAY,
			    (struct key){EV_KEY, KEY_OK});
	assert_int_equal(bound->actions[KEYMAP_SHORT]->step_count, 2);
	assert_string_equal(bound->actions[KEYMAP_SHORT]->steps[0].words[2],
			    "a b");
	assert_null(bound->actions[KEYMAP_SHORT]->steps[0].words[5]);
	keymap_unref(map);
	snprintf(path, sizeof(path), "%s/a.map", folder);
	assert_int_equal(chmod(path, 0664), 0);
	assert_int_equal(load("a.map", &with_exec, &map), -EINVAL);
	assert_non_null(strstr(text_string(&error), "nobody else may write"));
	/* The file that says it counts, not the one that includes it. */
	write_map("b.map", "include = a.map\n");
	assert_int_equal(load("b.map", &with_exec, &map), -EINVAL);
	assert_non_null(strstr(text_string(&error), "b.map:1: "));
	assert_non_null(strstr(text_string(&error), "a.map:2: "));
	write_map("a.map", "[play]\nOK = exec true\n");
	assert_int_equal(load("a.map", &with_exec, &map), -EINVAL);
}

static void
test_what_is_no_file(void **state)
{
	struct keymap *map = NULL;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/fifo.map", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(load("fifo.map", &no_exec, &map), -EINVAL);
	assert_non_null(strstr(text_string(&error), "no regular file"));
	unlink(path);
	assert_int_equal(load("fifo.map", &no_exec, &map), -ENOENT);
	assert_non_null(strstr(text_string(&error), "fifo.map"));
	assert_int_equal(keymap_load(folder, &no_exec, &map, &error), -EINVAL);
	assert_int_equal(keymap_load("/dev/zero", &no_exec, &map, &error),
			 -EINVAL);
}

static void
test_long_maps(void **state)
{
	struct keymap *map = NULL;
	struct text words = {0};
	int i = 0;

	(void)state;
	text_add(&words, "[play]\n");
	for (i = 0; i < 10000; i++)
		text_add(&words, "# a line that says nothing at all\n");
	text_add(&words, "OK = next\n");
	write_map("a.map", text_string(&words));
	assert_int_equal(load("a.map", &no_exec, &map), 0);
	keymap_unref(map);
	while (words.length < 1024 * 1024)
		text_add(&words, "# a line that says nothing at all\n");
	write_map("a.map", text_string(&words));
	assert_int_equal(load("a.map", &no_exec, &map), -EINVAL);
	assert_non_null(strstr(text_string(&error), "1 MiB"));
	text_clear(&words);
	for (i = 0; i < 4201; i++)
		text_add_char(&words, '#');
	write_map("a.map", text_string(&words));
	assert_int_equal(load("a.map", &no_exec, &map), -EINVAL);
	assert_non_null(strstr(text_string(&error), "longer than 4200"));
	text_clear(&words);
	for (i = 0; i < 33; i++)
		text_printf(&words, "[device %d]\n", i);
	write_map("a.map", text_string(&words));
	assert_int_equal(load("a.map", &no_exec, &map), -EINVAL);
	text_finish(&words);
}

/* The codes that the keymaps of Debian's ir-keytable send, by their names. */
static const char *const names[] = {
	"PLAY",
	"PAUSE",
	"PLAYPAUSE",
	"STOP",
	"RECORD",
	"REWIND",
	"FASTFORWARD",
	"FORWARD",
	"PREVIOUS",
	"NEXT",
	"PREVIOUSSONG",
	"NEXTSONG",
	"AGAIN",
	"SLOW",
	"PLAYCD",
	"PAUSECD",
	"STOPCD",
	"VOLUMEUP",
	"VOLUMEDOWN",
	"MUTE",
	"UP",
	"DOWN",
	"LEFT",
	"RIGHT",
	"OK",
	"ENTER",
	"SELECT",
	"PAGEUP",
	"PAGEDOWN",
	"MENU",
	"BACK",
	"EXIT",
	"ESC",
	"HOME",
	"HOMEPAGE",
	"INFO",
	"EPG",
	"SETUP",
	"CONTEXT_MENU",
	"ROOT_MENU",
	"MEDIA_TOP_MENU",
	"TITLE",
	"HELP",
	"OPTION",
	"CHANNELUP",
	"CHANNELDOWN",
	"LAST",
	"NUMERIC_0",
	"NUMERIC_1",
	"NUMERIC_2",
	"NUMERIC_3",
	"NUMERIC_4",
	"NUMERIC_5",
	"NUMERIC_6",
	"NUMERIC_7",
	"NUMERIC_8",
	"NUMERIC_9",
	"0",
	"1",
	"2",
	"3",
	"4",
	"5",
	"6",
	"7",
	"8",
	"9",
	"NUMERIC_STAR",
	"NUMERIC_POUND",
	"DIGITS",
	"DOT",
	"RED",
	"GREEN",
	"YELLOW",
	"BLUE",
	"AUDIO",
	"SUBTITLE",
	"LANGUAGE",
	"TEXT",
	"RADIO",
	"TV",
	"DVD",
	"TUNER",
	"MODE",
	"MEDIA",
	"VIDEO",
	"CAMERA",
	"FAVORITES",
	"LIST",
	"SHUFFLE",
	"MEDIA_REPEAT",
	"TIME",
	"SEARCH",
	"CLEAR",
	"DELETE",
	"BACKSPACE",
	"EJECTCD",
	"POWER",
	"POWER2",
	"SLEEP",
	"SUSPEND",
	"WAKEUP",
	"RESTART",
	"REL_DIAL",
	"REL_WHEEL",
	"REL_X",
	"REL_Y",
	"ABS_VOLUME",
	"KPENTER",
	"CANCEL",
	"KP5",
};

static void
test_default_map_knows_what_remotes_send(void **state)
{
	struct keymap *map = NULL;
	size_t i = 0;

	(void)state;
	assert_int_equal(
		keymap_load(MAPS "default.map", &no_exec, &map, &error), 0);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct key key;

		assert_int_equal(key_parse(names[i], &key), 0);
		if (keymap_find(map, KEYMAP_MODE_PLAY, key) == NULL) {
			print_error("nothing is bound to %s\n", names[i]);
			fail();
		}
	}
	keymap_unref(map);
}

static int
make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int
remove_folder(void **state)
{
	static const char *const files[] = {"a.map", "b.map", "c.map",
					    "base.map"};
	char path[128];
	size_t i = 0;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		unlink(path);
	}
	text_finish(&error);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookups),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_exec_needs_a_safe_file),
		cmocka_unit_test(test_what_is_no_file),
		cmocka_unit_test(test_long_maps),
		cmocka_unit_test(test_default_map_knows_what_remotes_send),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

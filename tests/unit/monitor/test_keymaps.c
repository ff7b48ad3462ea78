/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_keymaps.c - which map serves a device, and what stays when a map goes
 * wrong. */
#include "lib/base/text.h"
#include "remote/monitor/keymaps.h"
#include "tests/kit/folder.h"

#include <linux/input-event-codes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/rotary-maps-XXXXXX";
static const struct keymap_identity identity = {.name = "Thing", .phys = ""};

static void
remove_file(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(unlink(path), 0);
}

static struct keymaps *
create(void)
{
	struct keymaps *maps = NULL;

	assert_int_equal(keymaps_create(folder, false, &maps), 0);
	return maps;
}

/* What OK does on the thing. */
static const char *
meaning(const struct keymaps *maps)
{
	struct keymap_settings settings;
	const struct keymap *map = keymaps_choose(maps, &identity, &settings);
	const struct keymap_bound *bound = NULL;

	if (map == NULL)
		return "";
	bound = keymap_find(map, KEYMAP_MODE_PLAY,
			    (struct key){EV_KEY, KEY_OK});
	return bound != NULL ? bound->actions[KEYMAP_SHORT]->text : "";
}

static void
test_choice(void **state)
{
	struct keymaps *maps = create();

	(void)state;
	folder_write(folder, "default.map", "[device *]\n[play]\nOK = stop\n");
	folder_write(folder, "b.map", "[device Th*]\n[play]\nOK = next\n");
	folder_write(folder, "c.map", "[device Thing]\n[play]\nOK = play\n");
	folder_write(folder, "x.map", "[device Other]\n[play]\nOK = pause\n");
	folder_write(folder, "y.txt", "this is no map\n");
	assert_int_equal(keymaps_read(maps), 0);
	/* Two claim it: the first has it. */
	assert_string_equal(meaning(maps), "next");
	remove_file("b.map");
	assert_int_equal(keymaps_read(maps), 0);
	assert_string_equal(meaning(maps), "play");
	remove_file("c.map");
	assert_int_equal(keymaps_read(maps), 0);
	assert_string_equal(meaning(maps), "stop");
	remove_file("x.map");
	remove_file("y.txt");
	remove_file("default.map");
	keymaps_destroy(maps);
}

static void
test_mistakes(void **state)
{
	struct keymaps *maps = create();

	(void)state;
	folder_write(folder, "default.map", "[device *]\n[play]\nOK = stop\n");
	folder_write(folder, "a.map", "[device *]\n[play]\nOK = nonsense\n");
	/* It never was right: it is left out. */
	assert_int_equal(keymaps_read(maps), 1);
	assert_string_equal(meaning(maps), "stop");
	folder_write(folder, "a.map", "[device *]\n[play]\nOK = next\n");
	assert_int_equal(keymaps_read(maps), 0);
	assert_string_equal(meaning(maps), "next");
	/* It was: it stays. */
	folder_write(folder, "a.map", "\x7f\x45\x4c\x46\x01");
	assert_int_equal(keymaps_read(maps), 1);
	assert_string_equal(meaning(maps), "next");
	assert_int_equal(keymaps_read(maps), 1);
	assert_string_equal(meaning(maps), "next");
	remove_file("a.map");
	assert_int_equal(keymaps_read(maps), 0);
	assert_string_equal(meaning(maps), "stop");
	remove_file("default.map");
	keymaps_destroy(maps);
}

static void
test_too_many(void **state)
{
	struct keymaps *maps = create();
	char name[32];
	int i = 0;

	(void)state;
	for (i = 0; i < 70; i++) {
		snprintf(name, sizeof(name), "m%02d.map", i);
		folder_write(folder, name,
			     "[device Thing]\n[play]\nOK = next\n");
	}
	assert_int_equal(keymaps_read(maps), 0);
	assert_null(keymaps_at(maps, KEYMAPS_MAX));
	assert_string_equal(meaning(maps), "next");
	for (i = 0; i < 70; i++) {
		snprintf(name, sizeof(name), "m%02d.map", i);
		remove_file(name);
	}
	keymaps_destroy(maps);
}

static int
make_folder(void **state)
{
	(void)state;
	/* Not this user's own maps. */
	setenv("STATE_DIRECTORY", "/nonexistent", 1);
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int
remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

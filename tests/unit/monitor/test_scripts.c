/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_scripts.c - golden scripts of the core, and that they cover each row of
 * each shipped map, each gesture in each mode, and each trap that is listed. */
#include "script.h"

#include <glob.h>

static struct coverage coverage;

static void
test_scripts(void **state)
{
	glob_t found;
	size_t i = 0;

	(void)state;
	assert_int_equal(glob(FOLDER "*.keys", 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++)
		run_script(found.gl_pathv[i], &coverage);
	globfree(&found);
	assert_true(coverage.line_count > 0);
	assert_int_equal(coverage.failures, 0);
}

static bool
is_noted(char *const names[], int count, const char *name)
{
	int i = 0;

	for (i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

struct check {
	const char *map_name;
	int rows;
	int missing;
};

static void
check_row(void *context, enum keymap_mode mode, struct key which,
	  const struct keymap_bound *bound)
{
	struct check *check = context;
	int gesture = 0;

	for (gesture = 0; gesture < KEYMAP_GESTURE_COUNT; gesture++) {
		struct text row = {0};

		if (bound->actions[gesture] == NULL)
			continue;
		text_printf(&row, "%s [%s] ", check->map_name,
			    keymap_mode_name(mode));
		key_add_name(&row, which);
		text_printf(&row, " %s",
			    keymap_gesture_name((enum keymap_gesture)gesture));
		check->rows++;
		if (!is_noted(coverage.rows, coverage.row_count,
			      text_string(&row))) {
			print_error("no script does %s\n", text_string(&row));
			check->missing++;
		}
		text_finish(&row);
	}
}

static void
test_every_row_is_covered(void **state)
{
	struct check check = {0};
	struct keymap *map = NULL;
	struct text error = {0};

	(void)state;
	/* The other maps include this one, or bind a part of what it does. */
	check.map_name = "default";
	assert_int_equal(keymap_load(MAPS "default.map", &rules, &map, &error),
			 0);
	keymap_each(map, check_row, &check);
	keymap_unref(map);
	check.map_name = "keyboard";
	assert_int_equal(keymap_load(MAPS "keyboard.map", &rules, &map, &error),
			 0);
	keymap_each(map, check_row, &check);
	keymap_unref(map);
	text_finish(&error);
	print_message("%d rows of the shipped maps, %d lines of scripts\n",
		      check.rows, coverage.line_count);
	assert_true(check.rows > 130);
	assert_int_equal(check.missing, 0);
}

static void
test_every_gesture_in_every_mode(void **state)
{
	int mode = 0, gesture = 0, missing = 0;

	(void)state;
	for (mode = 0; mode < KEYMAP_MODE_COUNT; mode++) {
		for (gesture = 0; gesture < KEYMAP_GESTURE_COUNT; gesture++) {
			if (coverage.gestures[mode][gesture])
				continue;
			print_error("no script has .%s in %s\n",
				    keymap_gesture_name(
					    (enum keymap_gesture)gesture),
				    keymap_mode_name((enum keymap_mode)mode));
			missing++;
		}
	}
	assert_int_equal(missing, 0);
}

/* traps.txt: a name, two blanks or more, what goes wrong. */
static void
test_every_trap_has_a_script(void **state)
{
	FILE *file = fopen(FOLDER "traps.txt", "re");
	char line[256];
	int listed = 0, missing = 0;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		char *end = strstr(line, "  ");

		if (line[0] == '#' || end == NULL)
			continue;
		*end = '\0';
		listed++;
		if (!is_noted(coverage.traps, coverage.trap_count, line)) {
			print_error("no script shows \"%s\"\n", line);
			missing++;
		}
	}
	fclose(file);
	assert_int_equal(missing, 0);
	/* Neither is there a trap that only a script knows. */
	assert_int_equal(listed, coverage.trap_count);
}

static int
forget_names(void **state)
{
	int i = 0;

	(void)state;
	for (i = 0; i < coverage.row_count; i++)
		free(coverage.rows[i]);
	for (i = 0; i < coverage.trap_count; i++)
		free(coverage.traps[i]);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_every_row_is_covered),
		cmocka_unit_test(test_every_gesture_in_every_mode),
		cmocka_unit_test(test_every_trap_has_a_script),
	};

	return cmocka_run_group_tests(tests, NULL, forget_names);
}

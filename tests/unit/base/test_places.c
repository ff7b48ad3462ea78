/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_places.c - which folders are ours, by environment and user.
 *
 * Root is the system, so what a user sees is asked for in a child process that
 * gives up root first, where the test has it. */
#include "lib/base/places.h"

#include "lib/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { NOBODY = 65534, ANSWER_BYTES = 512 };

static const char *const VARIABLES[] = {"HOME",
					"XDG_CONFIG_HOME",
					"XDG_STATE_HOME",
					"XDG_RUNTIME_DIR",
					"RUNTIME_DIRECTORY",
					"STATE_DIRECTORY"};

static char config_home[] = "/tmp/rotary-places-XXXXXX";

static int
set_up(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(VARIABLES) / sizeof(VARIABLES[0]); i++)
		unsetenv(VARIABLES[i]);
	return setenv("HOME", "/home/ann/", 1);
}

/* What add() adds for a user; root's privilege is given up for it. */
static void
assert_user(void (*add)(struct text *text), const char *expected)
{
	char answer[ANSWER_BYTES] = "";
	int ends[2];
	ssize_t got;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct text text = {0};

		if (getuid() == 0 && setuid(NOBODY) != 0)
			_exit(1);
		add(&text);
		if (write(ends[1], text_string(&text), text.length) < 0)
			_exit(1);
		text_finish(&text);
		_exit(0);
	}
	close(ends[1]);
	got = read(ends[0], answer, sizeof(answer) - 1);
	assert_true(got >= 0);
	close(ends[0]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_string_equal(answer, expected);
}

static void
add_is_system(struct text *text)
{
	text_add(text, places_are_system() ? "system" : "user");
}

static void
test_user(void **state)
{
	char expected[64];
	const unsigned uid = getuid() == 0 ? NOBODY : getuid();

	(void)state;
	assert_user(add_is_system, "user");
	snprintf(expected, sizeof(expected), "/tmp/rotary-%u", uid);
	assert_user(places_add_runtime, expected);
	assert_user(places_add_state, "/home/ann/.local/state/rotary");
	assert_user(places_add_config_home, "/home/ann/.config");
	assert_user(places_add_music, "/home/ann/Music");
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	setenv("XDG_STATE_HOME", "/s/", 1);
	setenv("XDG_CONFIG_HOME", "not/absolute", 1);
	assert_user(places_add_runtime, "/run/user/7/rotary");
	assert_user(places_add_state, "/s/rotary");
	assert_user(places_add_config_home, "/home/ann/.config");
}

static void
test_service_manager(void **state)
{
	(void)state;
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	setenv("RUNTIME_DIRECTORY", "/run/rotary:/run/other", 1);
	setenv("STATE_DIRECTORY", "/var/lib/rotary", 1);
	assert_user(add_is_system, "system");
	assert_user(places_add_runtime, "/run/rotary");
	assert_user(places_add_state, "/var/lib/rotary");
	assert_user(places_add_music, "/srv/music");
	assert_user(places_add_user_runtime, "/run/user/7/rotary");
	/* A user's own manager sets them below the user's folders. */
	setenv("RUNTIME_DIRECTORY", "/run/user/7/rotary", 1);
	setenv("STATE_DIRECTORY", "/home/ann/.local/state/rotary", 1);
	assert_user(add_is_system, "user");
	assert_user(places_add_music, "/home/ann/Music");
	assert_user(places_add_state, "/home/ann/.local/state/rotary");
	unsetenv("RUNTIME_DIRECTORY");
	assert_user(add_is_system, "user");
	setenv("RUNTIME_DIRECTORY", "/run/user/77/rotary", 1);
	assert_user(add_is_system, "system");
}

static void
test_root(void **state)
{
	struct text text = {0};

	(void)state;
	if (getuid() != 0)
		skip();
	places_add_runtime(&text);
	text_add_char(&text, ' ');
	places_add_state(&text);
	text_add_char(&text, ' ');
	places_add_music(&text);
	assert_string_equal(text_string(&text),
			    "/run/rotary /var/lib/rotary /srv/music");
	text_finish(&text);
}

static void
write_user_dirs(const char *contents)
{
	char path[ANSWER_BYTES];
	FILE *file;

	snprintf(path, sizeof(path), "%s/user-dirs.dirs", config_home);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(contents, file);
	fclose(file);
	assert_int_equal(chmod(path, 0644), 0);
}

static void
test_music_folder(void **state)
{
	char path[ANSWER_BYTES];

	(void)state;
	assert_non_null(mkdtemp(config_home));
	assert_int_equal(chmod(config_home, 0755), 0);
	setenv("XDG_CONFIG_HOME", config_home, 1);
	write_user_dirs("# comment\nXDG_DESKTOP_DIR=\"$HOME/Desk\"\n"
			"XDG_MUSIC_DIR=\"$HOME/Mu\\\"sik/\"\n");
	assert_user(places_add_music, "/home/ann/Mu\"sik");
	write_user_dirs("XDG_MUSIC_DIR=\"/data/m\"\n");
	assert_user(places_add_music, "/data/m");
	/* Disabled, relative, or no value at all: the usual place. */
	write_user_dirs("XDG_MUSIC_DIR=\"$HOME/\"\n");
	assert_user(places_add_music, "/home/ann/Music");
	write_user_dirs("XDG_MUSIC_DIR=\"music\"\nXDG_MUSIC_DIR=\n");
	assert_user(places_add_music, "/home/ann/Music");
	snprintf(path, sizeof(path), "%s/user-dirs.dirs", config_home);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(config_home), 0);
	assert_user(places_add_music, "/home/ann/Music");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_user, set_up),
		cmocka_unit_test_setup(test_service_manager, set_up),
		cmocka_unit_test_setup(test_root, set_up),
		cmocka_unit_test_setup(test_music_folder, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_own.c - the remote's own actions as commands, one after the other. */
#include "lib/base/text.h"
#include "remote/monitor/own.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct wire_state state;

/* What action sends now. */
static void
expect(const char *words, const char *line)
{
	struct text error = {0}, made = {0};
	struct action *action = NULL;

	assert_int_equal(action_parse(words, &action, &error), 0);
	own_add_line(&made, &action->steps[0], &state);
	assert_string_equal(text_string(&made), line);
	action_destroy(action);
	text_finish(&made);
	text_finish(&error);
}

static void
test_toggle(void **unused)
{
	(void)unused;
	state = (struct wire_state){.known = true, .play = WIRE_STOPPED};
	expect("toggle", "play");
	expect("toggle", "pause");
	expect("toggle", "pause");
	/* Nothing is known: what a daemon that plays would do. */
	state = (struct wire_state){.known = false};
	expect("toggle", "pause");
	expect("toggle random", "random 1");
	expect("toggle random", "random 0");
	expect("toggle single", "single 1");
	expect("toggle consume", "consume 1");
	expect("toggle repeat", "repeat 1");
	expect("speech toggle", "speech on 1");
	expect("speech toggle", "speech on 0");
}

static void
test_mute(void **unused)
{
	(void)unused;
	state = (struct wire_state){.known = true, .volume = 73};
	expect("mute", "setvol 0");
	expect("mute", "setvol 73");
	state = (struct wire_state){.known = true, .volume = 0};
	expect("mute", "setvol 40");
	/* There is no volume. */
	state = (struct wire_state){.known = true, .volume = -1};
	expect("mute", "");
}

static void
test_favourite(void **unused)
{
	(void)unused;
	state = (struct wire_state){.known = true};
	expect("favourite", "chime error");
	strcpy(state.song, "a \"b\"\\c.flac");
	expect("favourite", "playlistadd Favourites \"a \\\"b\\\"\\\\c.flac\"");
}

static void
test_menu_is_empty(void **unused)
{
	(void)unused;
	expect("menu up", "chime edge");
	expect("menu ok", "chime error");
	expect("text digit 5", "chime error");
	expect("noop", "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_toggle),
		cmocka_unit_test(test_mute),
		cmocka_unit_test(test_favourite),
		cmocka_unit_test(test_menu_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

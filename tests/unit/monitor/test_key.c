/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_key.c - the names of keys, and that the command line knows the same. */
#include "lib/base/text.h"
#include "remote/cli/key_names.h"
#include "remote/monitor/key.h"

#include <errno.h>
#include <linux/input-event-codes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void
test_names(void **state)
{
	struct key key;

	(void)state;
	assert_int_equal(key_parse("ok", &key), 0);
	assert_int_equal(key.type, EV_KEY);
	assert_int_equal(key.code, KEY_OK);
	assert_int_equal(key_parse("KEY_1", &key), 0);
	assert_int_equal(key.code, KEY_1);
	assert_int_equal(key_parse("rel_dial", &key), 0);
	assert_int_equal(key.type, EV_REL);
	assert_int_equal(key_parse("", &key), -ENOENT);
	assert_int_equal(key_parse("MAX", &key), -ENOENT);
	assert_int_equal(key_parse("REL_MAX", &key), -ENOENT);
	assert_int_equal(key_parse("REL_OK", &key), -ENOENT);
}

/* What the command line lets pass, the remote understands; but libevdev may be
 * older than the kernel's header, and lack a few. */
static void
test_command_line_knows_no_more(void **state)
{
	const char *name = NULL;
	struct key key;
	int i = 0, unknown = 0;

	(void)state;
	for (i = 0; (name = key_names_at(i)) != NULL; i++) {
		if (key_parse(name, &key) == 0)
			continue;
		print_message("the remote does not know %s\n", name);
		unknown++;
	}
	assert_true(i > 500);
	assert_in_range(unknown, 0, i / 50);
}

static void
test_command_line_knows_no_less(void **state)
{
	static const struct {
		uint16_t type;
		int count;
	} kinds[] = {{EV_KEY, KEY_MAX}, {EV_REL, REL_MAX}, {EV_ABS, ABS_MAX}};
	struct text name = {0};
	size_t i = 0;
	int code = 0;

	(void)state;
	for (i = 0; i < 3; i++) {
		for (code = kinds[i].type == EV_KEY; code < kinds[i].count;
		     code++) {
			text_clear(&name);
			key_add_name(&name, (struct key){kinds[i].type,
							 (uint16_t)code});
			/* "key 84": it has no name. */
			if (strchr(text_string(&name), ' ') == NULL &&
			    strstr(text_string(&name), "RESERVED") == NULL &&
			    !key_names_has(text_string(&name)))
				fail_msg("rotary does not know %s",
					 text_string(&name));
		}
	}
	text_finish(&name);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_command_line_knows_no_more),
		cmocka_unit_test(test_command_line_knows_no_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_bad_input.c - the real rotary-remote and what should never come: floods,
 * nonsense, devices that end in the midst of it, daemons that are not there. It
 * must say so once, let go of every key, and be at rest when nothing happens;
 * run by umockdev-wrapper. */
#include "lib/base/clock.h"
#include "tests/kit/paper/stage.h"

#include <linux/input-event-codes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* No infrared, whose quick taps are taken for one that was split. */
static const struct paper_device remote = {
	.number = 3,
	.name = "gpio_ir_recv",
	.keys = {KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_OK, KEY_STOP, KEY_VOLUMEUP,
		 KEY_POWER, KEY_F13},
};
static const struct paper_device remote_again = {
	.number = 8,
	.name = "gpio_ir_recv",
	.keys = {KEY_OK, KEY_STOP, KEY_RIGHT},
};
static const struct paper_device knob = {
	.number = 4,
	.name = "Desk Knob",
	.keys = {KEY_MUTE, KEY_STOP, KEY_F13},
	.rel = 1U << REL_DIAL,
};
/* Its last key, KEY_MAX - 1, has no name. */
static const struct paper_device greedy = {
	.number = 6, .name = "Everything", .has_all_keys = true};

static struct stage stage;

static void
tap(const struct paper_device *device, uint16_t code)
{
	stage_key(&stage, device, code, 1);
	stage_key(&stage, device, code, 0);
}

/* How often words are in what the log holds. */
static int
count_logged(const char *words)
{
	const char *at = stage.log_bytes;
	int count = 0;

	while ((at = strstr(at, words)) != NULL) {
		at += strlen(words);
		count++;
	}
	return count;
}

/* How many lines of the log have words, up to the one that has mark. */
static int
count_until(const char *words, const char *mark)
{
	int count = 0;
	const char *line = NULL;

	do {
		line = stage_log_line(&stage);
		count += strstr(line, words) != NULL;
	} while (strstr(line, mark) == NULL);
	return count;
}

/* The log up to now: the mark is that of a key nobody binds. */
static void
expect_logged(const struct paper_device *device, const char *words, int times)
{
	tap(device, KEY_F13);
	assert_int_equal(count_until(words, "no map binds F13"), times);
}

static void
test_a_thousand_a_second(void **state)
{
	const struct timespec pause = {.tv_nsec = NS_PER_MS};
	int i = 0, stops = 0;

	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &knob);
	/* A press or a release each millisecond, while the daemon answers. */
	for (i = 0; i < 1000; i++) {
		stage_key(&stage, &knob, KEY_STOP, i % 2 == 0);
		nanosleep(&pause, NULL);
		while (stage_try(&stage, 0) != NULL)
			stops++;
	}
	while (stops < 500) {
		assert_string_equal(stage_next(&stage), "stop");
		stops++;
	}
	assert_false(stage_drain(&stage));
	stage_expect_rest(&stage);
	assert_int_equal(count_logged("warning"), 0);
	stage_end(&stage);
}

/* Never announced, out of range, of no kind that there is. */
static void
test_events_that_cannot_be(void **state)
{
	int i = 0;

	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &remote);
	for (i = 0; i < 100; i++) {
		paper_device_send(stage.testbed, &remote, EV_KEY, KEY_MAX, 1);
		paper_device_send(stage.testbed, &remote, EV_KEY, KEY_MAX + 1,
				  1);
		paper_device_send(stage.testbed, &remote, EV_KEY, 0xffff, 1);
		paper_device_send(stage.testbed, &remote, EV_REL, REL_DIAL, 5);
		paper_device_send(stage.testbed, &remote, EV_ABS, ABS_VOLUME,
				  i);
		paper_device_send(stage.testbed, &remote, EV_SW, SW_LID, 1);
		paper_device_send(stage.testbed, &remote, EV_FF, 3, -1);
		paper_device_send(stage.testbed, &remote, 0x1f, 0xffff, -5);
		paper_device_send(stage.testbed, &remote, 0xffff, 1, 1);
		paper_device_send(stage.testbed, &remote, EV_KEY, KEY_OK, -7);
		paper_device_send(stage.testbed, &remote, EV_KEY, KEY_OK, 7);
		/* So that the testbed's stream does not fill. */
		tap(&remote, KEY_STOP);
		stage_expect(&stage, "stop");
	}
	stage_expect_rest(&stage);
	assert_false(stage_drain(&stage));
	assert_int_equal(count_logged("warning"), 0);
	stage_end(&stage);
}

static void
test_gone_in_the_midst_of_an_event(void **state)
{
	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &remote);
	stage_key(&stage, &remote, KEY_RIGHT, 1);
	stage_expect(&stage, "seekcur +5");
	/* No SYN_REPORT will ever come. */
	paper_device_send_half(stage.testbed, &remote, EV_KEY, KEY_VOLUMEUP, 1);
	stage_unplug(&stage, &remote);
	stage_settle(&stage, "");
	stage_plug(&stage, &remote_again);
	/* Two seconds of holding would repeat. */
	stage_pass(&stage, 2 * NS_PER_S);
	tap(&remote_again, KEY_STOP);
	stage_expect(&stage, "stop");
	stage_expect_rest(&stage);
	stage_end(&stage);
}

/* Some of the keys led into other modes, which end when nobody goes on. */
static void
leave_modes(void)
{
	bool stops = false;

	while (!stops) {
		stage_pass(&stage, NS_PER_S * 60);
		tap(&greedy, KEY_STOP);
		/* It has read both keys, whatever it makes of them. */
		expect_logged(&greedy, "cannot", 0);
		stops = stage_settle(&stage, "stop");
	}
}

/* Each key that there is, on a device that says it has them all. */
static void
test_a_device_with_all_keys(void **state)
{
	uint16_t code = 0;

	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &greedy);
	for (code = 1; code < KEY_MAX; code++) {
		tap(&greedy, code);
		stage_drain(&stage);
	}
	/* All of them are read: no time passes while they wait. */
	assert_int_equal(count_until("Everything: grabbed", "binds key 766"),
			 0);
	leave_modes();
	/* None is down any more: nothing repeats. */
	stage_pass(&stage, 5 * NS_PER_S);
	tap(&greedy, KEY_STOP);
	stage_expect(&stage, "stop");
	stage_expect_rest(&stage);
	stage_end(&stage);
}

static void
write_map(const char *folder, const char *name, const char *words)
{
	char path[96];
	FILE *file = NULL;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(words, file);
	fclose(file);
}

static void
remove_map(const char *folder, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
}

static void
test_two_maps_claim_it(void **state)
{
	char folder[] = "/tmp/rotary-maps-XXXXXX";
	const char *const options[] = {"--keymaps", folder, NULL};

	(void)state;
	assert_non_null(mkdtemp(folder));
	write_map(folder, "a.map", "[device gpio*]\n[play]\nSTOP = next\n");
	write_map(folder, "b.map", "[device *recv]\n[play]\nSTOP = play\n");
	stage_begin_with(&stage, NULL, options);
	stage_add(&stage, &remote);
	stage_wait_log(&stage, "is claimed by");
	tap(&remote, KEY_STOP);
	stage_expect(&stage, "next");
	tap(&remote, KEY_STOP);
	stage_expect(&stage, "next");
	expect_logged(&remote, "is claimed by", 0);
	stage_expect_rest(&stage);
	stage_end(&stage);
	remove_map(folder, "a.map");
	remove_map(folder, "b.map");
	rmdir(folder);
}

static void
test_a_daemon_that_refuses(void **state)
{
	int i = 0;

	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &knob);
	stage_refuse(&stage);
	for (i = 0; i < 20; i++) {
		tap(&knob, KEY_STOP);
		stage_expect(&stage, "stop");
	}
	stage_wait_log(&stage, "the daemon refuses stop: not today");
	expect_logged(&knob, "refuses stop", 0);
	stage_expect_rest(&stage);
	stage_end(&stage);
}

/* It is told once that it has gone, however often it is tried again. */
static void
test_a_daemon_that_is_gone(void **state)
{
	int i = 0;

	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &remote);
	/* Held when it goes, and let go of meanwhile. */
	stage_key(&stage, &remote, KEY_VOLUMEUP, 1);
	stage_expect(&stage, "volume +2");
	close(stage.listening);
	stage_hang_up(&stage);
	stage_key(&stage, &remote, KEY_VOLUMEUP, 0);
	for (i = 0; i < 10; i++) {
		stage_pass(&stage, 6 * NS_PER_S);
		tap(&remote, KEY_OK);
		expect_logged(&remote, "daemon", i == 0);
	}
	expect_logged(&remote, "warning", 0);
	stage_expect_rest(&stage);
	stage.listening = -1;
	stage_end(&stage);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thousand_a_second),
		cmocka_unit_test(test_events_that_cannot_be),
		cmocka_unit_test(test_gone_in_the_midst_of_an_event),
		cmocka_unit_test(test_a_device_with_all_keys),
		cmocka_unit_test(test_two_maps_claim_it),
		cmocka_unit_test(test_a_daemon_that_refuses),
		cmocka_unit_test(test_a_daemon_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

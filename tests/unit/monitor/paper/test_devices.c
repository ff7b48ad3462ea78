/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_devices.c - the real rotary-remote on devices that come, go, overflow
 * and lie; run by umockdev-wrapper. */
#include "lib/base/clock.h"
#include "tests/kit/paper/stage.h"

#include <linux/input-event-codes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct paper_device remote = {
	.number = 3,
	.name = "gpio_ir_recv",
	.is_rc = true,
	.keys = {KEY_UP, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_OK, KEY_BACK,
		 KEY_MENU, KEY_STOP, KEY_VOLUMEUP, KEY_NEXT, KEY_FAVORITES,
		 KEY_POWER},
};
/* The same, after it was plugged in again. */
static const struct paper_device remote_again = {
	.number = 8,
	.name = "gpio_ir_recv",
	.is_rc = true,
	.keys = {KEY_UP, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_OK, KEY_BACK},
};
static const struct paper_device knob = {
	.number = 4,
	.name = "Desk Knob",
	.keys = {KEY_MUTE, KEY_STOP},
	.rel = 1U << REL_DIAL,
};
static const struct paper_device keyboard = {
	.number = 5,
	.name = "Keyboard",
	.can_type = true,
	.keys = {KEY_UP, KEY_ENTER, KEY_OK, KEY_MUTE, KEY_VOLUMEUP, KEY_Z,
		 KEY_A},
};
static const struct paper_device greedy = {
	.number = 6, .name = "Everything", .has_all_keys = true};
static const struct paper_device mouse = {
	.number = 7,
	.name = "Mouse",
	.keys = {BTN_LEFT},
	.rel = 1U << REL_X | 1U << REL_Y | 1U << REL_WHEEL,
};

static struct stage stage;

static void
tap(const struct paper_device *device, uint16_t code)
{
	stage_key(&stage, device, code, 1);
	stage_key(&stage, device, code, 0);
}

static void
test_keys_of_a_remote_that_is_there(void **state)
{
	(void)state;
	stage_begin(&stage, &remote);
	tap(&remote, KEY_OK);
	stage_expect(&stage, "saysong");
	stage_key(&stage, &remote, KEY_VOLUMEUP, 1);
	stage_expect(&stage, "volume +2");
	/* The kernel's own repeat, and ours, which comes later. */
	stage_key(&stage, &remote, KEY_VOLUMEUP, 2);
	stage_expect(&stage, "volume +2");
	stage_key(&stage, &remote, KEY_VOLUMEUP, 0);
	tap(&remote, KEY_FAVORITES);
	for (;;) {
		const char *line = stage_next(&stage);

		if (strcmp(line, "volume +2") == 0)
			continue;
		assert_string_equal(line,
				    "playlistadd Favourites \"a b/c.flac\"");
		break;
	}
	stage_end(&stage);
}

static void
test_grab_rules(void **state)
{
	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &remote);
	stage_wait_log(&stage, "gpio_ir_recv: grabbed");
	stage_plug(&stage, &keyboard);
	stage_plug(&stage, &greedy);
	stage_add(&stage, &mouse);
	/* Keyboards have media keys, and nothing else. */
	tap(&keyboard, KEY_ENTER);
	tap(&keyboard, KEY_OK);
	stage_key(&stage, &keyboard, KEY_VOLUMEUP, 1);
	stage_expect(&stage, "volume +2");
	stage_key(&stage, &keyboard, KEY_VOLUMEUP, 0);
	tap(&greedy, KEY_MUTE);
	stage_expect(&stage, "setvol 0");
	stage_plug(&stage, &knob);
	assert_false(stage_logged(&stage, "Keyboard: grabbed"));
	assert_false(stage_logged(&stage, "Everything: grabbed"));
	assert_false(stage_logged(&stage, "Mouse"));
	stage_end(&stage);
}

static void
test_several_at_once(void **state)
{
	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &remote);
	stage_plug(&stage, &knob);
	stage_key(&stage, &remote, KEY_RIGHT, 1);
	paper_device_send(stage.testbed, &knob, EV_REL, REL_DIAL, 3);
	stage_expect(&stage, "volume +3");
	/* What the knob does, does not end the other's hold. */
	stage_expect(&stage, "seekcur +5");
	stage_key(&stage, &remote, KEY_RIGHT, 0);
	stage_end(&stage);
}

static void
test_unplugged_while_held(void **state)
{
	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &remote);
	stage_key(&stage, &remote, KEY_RIGHT, 1);
	stage_expect(&stage, "seekcur +5");
	stage_unplug(&stage, &remote);
	/* What was sent before it was gone. */
	stage_drain(&stage);
	stage_plug(&stage, &remote_again);
	tap(&remote_again, KEY_OK);
	stage_expect(&stage, "saysong");
	stage_end(&stage);
}

static void
test_events_were_dropped(void **state)
{
	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &remote);
	stage_key(&stage, &remote, KEY_RIGHT, 1);
	paper_device_send(stage.testbed, &remote, EV_SYN, SYN_DROPPED, 0);
	stage_wait_log(&stage, "events were lost");
	/* The key is up by now: it is neither tapped nor held. */
	tap(&remote, KEY_OK);
	stage_expect(&stage, "saysong");
	stage_key(&stage, &remote, KEY_RIGHT, 1);
	stage_expect(&stage, "seekcur +5");
	stage_key(&stage, &remote, KEY_RIGHT, 0);
	stage_end(&stage);
}

static void
test_daemon_goes_away(void **state)
{
	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &remote);
	stage_hang_up(&stage);
	stage_key(&stage, &remote, KEY_VOLUMEUP, 1);
	stage_key(&stage, &remote, KEY_VOLUMEUP, 0);
	stage_accept(&stage);
	stage_drain(&stage);
	tap(&remote, KEY_STOP);
	/* Not the volume of before. */
	stage_expect(&stage, "stop");
	stage_end(&stage);
}

static const char countdown[] =
	"say \"Switching off in 5 seconds. Any key cancels.\" important";

/* KEY_POWER is held long enough, and nothing comes of it. What was sent before
 * has been read when a key of another device has its effect. */
static void
hold_power_in_vain(void)
{
	stage_key(&stage, &remote, KEY_POWER, 1);
	tap(&knob, KEY_STOP);
	stage_expect(&stage, "stop");
	stage_pass(&stage, NS_PER_S);
	stage_key(&stage, &remote, KEY_POWER, 0);
	tap(&knob, KEY_STOP);
	stage_expect(&stage, "stop");
}

/* The ghost of the release is waited for, then it is held again. */
static void
hold_power(void)
{
	stage_key(&stage, &remote, KEY_POWER, 1);
	stage_expect(&stage, countdown);
	stage_key(&stage, &remote, KEY_POWER, 0);
	tap(&remote, KEY_OK);
	stage_expect(&stage, "say Cancelled important");
}

/* The key that woke the machine, or switched it on, comes to us as well. */
static void
test_power_after_start_and_sleep(void **state)
{
	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &remote);
	stage_plug(&stage, &knob);
	hold_power_in_vain();
	stage_pass(&stage, 5 * NS_PER_S);
	hold_power();
	/* An hour of sleep: CLOCK_BOOTTIME has gone on, our clock has not. */
	stage_sleep(&stage, 3600 * NS_PER_S);
	hold_power_in_vain();
	stage_wait_log(&stage, "the machine has slept");
	stage_pass(&stage, 2 * NS_PER_S);
	hold_power_in_vain();
	stage_pass(&stage, 5 * NS_PER_S);
	hold_power();
	stage_end(&stage);
}

/* Never announced, out of range, of no kind that there is. */
static void
send_nonsense(int i)
{
	paper_device_send(stage.testbed, &knob, EV_KEY, KEY_A, 1);
	paper_device_send(stage.testbed, &knob, EV_KEY, 0xffff, 1);
	paper_device_send(stage.testbed, &knob, 0x1f, 77, -5);
	paper_device_send(stage.testbed, &knob, EV_ABS, ABS_VOLUME, i);
	paper_device_send(stage.testbed, &knob, EV_KEY, KEY_STOP, -7);
}

static void
test_nonsense_and_floods(void **state)
{
	int i = 0;

	(void)state;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &knob);
	/* Each key among it is heard, as long as the daemon keeps up. The
	 * device of umockdev is a stream, which must not be filled. */
	for (i = 0; i < 500; i++) {
		send_nonsense(i);
		tap(&knob, KEY_STOP);
		stage_expect(&stage, "stop");
	}
	/* A burst is kept whole. */
	for (i = 0; i < 30; i++)
		tap(&knob, KEY_STOP);
	for (i = 0; i < 30; i++)
		stage_expect(&stage, "stop");
	stage_end(&stage);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_of_a_remote_that_is_there),
		cmocka_unit_test(test_grab_rules),
		cmocka_unit_test(test_several_at_once),
		cmocka_unit_test(test_unplugged_while_held),
		cmocka_unit_test(test_events_were_dropped),
		cmocka_unit_test(test_daemon_goes_away),
		cmocka_unit_test(test_power_after_start_and_sleep),
		cmocka_unit_test(test_nonsense_and_floods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

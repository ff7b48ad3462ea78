/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_core.c - any events at any times on the default map: the core never
 * gives a deadline in the past, always comes to rest once all keys are up, and
 * is in play then; each .release follows one .press. */
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "remote/monitor/core.h"

#include <linux/input-event-codes.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEVICES = 3 };

static int balance[DEVICES];

static int
find_map(void *context, const char *name, struct text *ret_path)
{
	(void)context;
	(void)name;
	text_add(ret_path, ROTARY_SOURCE "/config/keymaps/default.map");
	return 0;
}

static void
on_output(void *context, const struct core_output *output)
{
	(void)context;
	if (output->action == NULL || output->key.code != KEY_UP ||
	    output->mode != KEYMAP_MODE_PLAY)
		return;
	if (output->gesture == KEYMAP_PRESS)
		balance[output->device]++;
	if (output->gesture == KEYMAP_RELEASE)
		balance[output->device]--;
	if (balance[output->device] < 0 || balance[output->device] > 1)
		abort();
}

static struct keymap *
read_map(void)
{
	static const char words[] = "include = default.map\n[play]\n"
				    "UP.release = volume -1\n"
				    "RED.double = stop\nRED = play\n";
	const struct keymap_rules rules = {.find = find_map};
	struct keymap *map = NULL;
	struct text error = {0};

	if (keymap_parse("/a.map", words, strlen(words), true, &rules, &map,
			 &error) < 0)
		abort();
	text_finish(&error);
	return map;
}

/* Three bytes: device, value and kind; a key; how much time passes first. */
static int64_t
do_event(struct core *core, const uint8_t *data, int64_t now_ns)
{
	static const uint16_t keys[] = {KEY_OK,    KEY_UP,   KEY_RIGHT,
					KEY_POWER, KEY_HELP, KEY_RED,
					KEY_MENU,  KEY_F13,  KEY_VOLUMEUP};
	const unsigned device = data[0] & 3;
	struct key key = {EV_KEY, keys[data[1] % 9]};
	const int64_t step_ns = (int64_t)data[2] * data[2] * NS_PER_MS / 8;

	if ((data[0] & 0x40) != 0)
		key = (struct key){EV_REL, (uint16_t)(data[1] % 20)};
	if (data[0] == 0xff)
		key = (struct key){data[1], data[2]};
	now_ns += step_ns;
	if ((data[0] & 0x20) != 0)
		core_tick(core, now_ns);
	if ((data[0] & 0x1c) == 0x1c && device < DEVICES)
		core_lose_key(core, device, key);
	else
		core_event(core, now_ns, device, key, data[0] >> 2 & 3);
	core_tick(core, now_ns);
	if (core_deadline(core) <= now_ns)
		abort();
	return now_ns;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct keymap *map;
	const struct core_options options = {
		.gestures = {600 * NS_PER_MS, 3 * NS_PER_S, 150 * NS_PER_MS,
			     350 * NS_PER_MS, 30 * NS_PER_S},
		.menu_timeout_ns = 30 * NS_PER_S,
	};
	struct core *core = NULL;
	int64_t now_ns = NS_PER_S;
	size_t i = 0;
	int steps = 0;

	if (map == NULL)
		map = read_map();
	if (core_create(&options, on_output, NULL, &core) < 0)
		abort();
	memset(balance, 0, sizeof(balance));
	for (i = 0; i < DEVICES; i++)
		core_set_device(
			core, (unsigned)i, map,
			&(struct keymap_settings){.rejoin_ms = i == 0 ? 120 : 0,
						  .has_releases = i != 2});
	for (i = 0; i + 3 <= size; i += 3)
		now_ns = do_event(core, data + i, now_ns);
	for (i = 0; i < DEVICES; i++)
		core_drop_device(core, (unsigned)i);
	while (core_deadline(core) != INT64_MAX && steps++ < 100)
		core_tick(core, core_deadline(core));
	if (steps >= 100 || core_mode(core) != KEYMAP_MODE_PLAY ||
	    balance[0] != 0 || balance[1] != 0 || balance[2] != 0)
		abort();
	core_destroy(core);
	return 0;
}

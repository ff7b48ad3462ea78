/* SPDX-License-Identifier: GPL-3.0-or-later */
/* key.c - names and classes of keys. libevdev has the kernel's own table of
 * names, so a name here is what evtest and ir-keytable print. */
#include "remote/monitor/key.h"

#include "lib/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <libevdev/libevdev.h>
#include <string.h>

enum { NAME_MAX_BYTES = 48 };

int
key_parse(const char *name, struct key *ret_key)
{
	static const struct {
		const char *prefix;
		uint16_t type;
	} kinds[] = {{"REL_", EV_REL},
		     {"ABS_", EV_ABS},
		     {"BTN_", EV_KEY},
		     {"KEY_", EV_KEY}};
	char full[NAME_MAX_BYTES + 8] = "KEY_";
	uint16_t type = EV_KEY;
	size_t i = 0, length = strlen(name);
	int code = 0;

	if (length == 0 || length > NAME_MAX_BYTES)
		return -ENOENT;
	for (i = 0; i <= length; i++)
		full[4 + i] = (char)toupper((unsigned char)name[i]);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strncmp(full + 4, kinds[i].prefix, 4) == 0) {
			type = kinds[i].type;
			memmove(full, full + 4, length + 1);
			break;
		}
	}
	code = libevdev_event_code_from_name(type, full);
	/* The last of each kind names no key, but how many there are. */
	if (code < 0 || code >= libevdev_event_type_get_max(type))
		return -ENOENT;
	ret_key->type = type;
	ret_key->code = (uint16_t)code;
	return 0;
}

void
key_add_name(struct text *text, struct key key)
{
	const char *name = libevdev_event_code_get_name(key.type, key.code);

	if (name == NULL)
		text_printf(text, "%s %u",
			    key.type == EV_KEY   ? "key"
			    : key.type == EV_REL ? "axis"
						 : "control",
			    key.code);
	else
		text_add(text, strncmp(name, "KEY_", 4) == 0 ? name + 4 : name);
}

bool
key_is_axis(struct key key)
{
	return key.type != EV_KEY;
}

bool
key_is_valid(struct key key)
{
	switch (key.type) {
	case EV_KEY:
		return key.code < KEY_MAX;
	case EV_REL:
		return key.code < REL_MAX;
	case EV_ABS:
		return key.code < ABS_MAX;
	default:
		return false;
	}
}

bool
key_is_transport(struct key key)
{
	if (key.type != EV_KEY)
		return true;
	switch (key.code) {
	case KEY_VOLUMEUP:
	case KEY_VOLUMEDOWN:
	case KEY_MUTE:
	case KEY_PLAY:
	case KEY_PLAYCD:
	case KEY_PAUSE:
	case KEY_PAUSECD:
	case KEY_PLAYPAUSE:
	case KEY_STOP:
	case KEY_STOPCD:
	case KEY_NEXT:
	case KEY_NEXTSONG:
	case KEY_PREVIOUS:
	case KEY_PREVIOUSSONG:
	case KEY_REWIND:
	case KEY_FASTFORWARD:
	case KEY_FORWARD:
	case KEY_AGAIN:
	case KEY_SLOW:
		return true;
	default:
		return key_is_power(key);
	}
}

bool
key_is_power(struct key key)
{
	if (key.type != EV_KEY)
		return false;
	switch (key.code) {
	case KEY_POWER:
	case KEY_POWER2:
	case KEY_SLEEP:
	case KEY_SUSPEND:
	case KEY_RESTART:
		return true;
	default:
		return false;
	}
}

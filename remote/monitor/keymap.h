/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keymap.h - one key map: which devices it is for, and what each key does in
 * each mode, by each gesture.
 *
 * Immutable once parsed, and counted: whoever keeps it takes a reference.
 * Threads: one. RT: MAY_BLOCK; lookups neither allocate nor fail.
 * Errors: -errno, with one sentence that names file and line. */
#ifndef ROTARY_MONITOR_KEYMAP_H
#define ROTARY_MONITOR_KEYMAP_H

#include "remote/monitor/action.h"
#include "remote/monitor/key.h"

struct keymap;
struct text;

enum keymap_mode {
	KEYMAP_MODE_PLAY,
	KEYMAP_MODE_MENU,
	KEYMAP_MODE_TEXT,
	KEYMAP_MODE_DESCRIBE,
	KEYMAP_MODE_COUNT,
};

enum keymap_gesture {
	KEYMAP_SHORT, /* no suffix; of an axis: it was turned */
	KEYMAP_PRESS,
	KEYMAP_HOLD,
	KEYMAP_LONG,
	KEYMAP_REPEAT,
	KEYMAP_DOUBLE,
	KEYMAP_RELEASE,
	KEYMAP_GESTURE_COUNT,
};

enum keymap_grab { KEYMAP_GRAB_AUTO, KEYMAP_GRAB_YES, KEYMAP_GRAB_NO };

/* What a device is, as far as maps care. */
enum keymap_kind {
	KEYMAP_KIND_REMOTE,
	KEYMAP_KIND_KEYBOARD, /* it can type letters */
	KEYMAP_KIND_KNOB,     /* it has an axis and no cursor keys */
	KEYMAP_KIND_ANY,
};

/* What a device says of itself. */
struct keymap_identity {
	const char *name;
	const char *phys;
	int bus;
	int vendor;
	int product;
	enum keymap_kind kind;
	bool is_rc; /* a receiver of infrared: rejoin_ms has a preset */
};

struct keymap_settings {
	enum keymap_grab grab;
	int rejoin_ms;
	bool has_releases; /* no: each press is a tap */
};

/* A key's actions in one mode; NULL where nothing is bound. */
struct keymap_bound {
	struct action *actions[KEYMAP_GESTURE_COUNT];
};

struct keymap_rules {
	/* The path of an included file into ret_path. 0, -ENOENT. */
	int (*find)(void *context, const char *name, struct text *ret_path);
	void *context;
	bool exec; /* [remote] exec = yes */
};

/* Reads path and what it includes. 0, -EINVAL, -ENOMEM, -errno of opening it,
 * always with a text. */
NODISCARD int keymap_load(const char *path, const struct keymap_rules *rules,
			  struct keymap **ret_map, struct text *ret_error);
/* The same of bytes that were read from path; trusted as ini_read() says. */
NODISCARD int keymap_parse(const char *path, const char *bytes, size_t length,
			   bool trusted, const struct keymap_rules *rules,
			   struct keymap **ret_map, struct text *ret_error);
struct keymap *keymap_ref(struct keymap *map);
void keymap_unref(struct keymap *map);

const char *keymap_path(const struct keymap *map);
/* The map serves this device, how it says in ret_settings. A map without
 * [device] sections serves none by itself. */
bool keymap_claims(const struct keymap *map,
		   const struct keymap_identity *identity,
		   struct keymap_settings *ret_settings);
/* What a device gets that no section speaks of. */
void keymap_preset_settings(const struct keymap_identity *identity,
			    struct keymap_settings *ret_settings);

/* The key's actions in this mode, or those of the key that it is an alias of,
 * or, for what works in every mode, those of play. NULL: none. */
const struct keymap_bound *keymap_find(const struct keymap *map,
				       enum keymap_mode mode, struct key key);
/* The same without those of play. */
const struct keymap_bound *
keymap_find_in(const struct keymap *map, enum keymap_mode mode, struct key key);
/* The key that this one is an alias of, else the key itself. */
struct key keymap_fold(const struct keymap *map, struct key key);

/* Each bound key of a mode as it stands in the map, in order. */
typedef void keymap_visit(void *context, enum keymap_mode mode, struct key key,
			  const struct keymap_bound *bound);
void keymap_each(const struct keymap *map, keymap_visit *visit, void *context);

const char *keymap_mode_name(enum keymap_mode mode);
/* -ENOENT: there is none of this name. */
NODISCARD int keymap_mode_parse(const char *name, enum keymap_mode *ret_mode);
/* "short", "press", ... */
const char *keymap_gesture_name(enum keymap_gesture gesture);
NODISCARD int keymap_gesture_parse(const char *name,
				   enum keymap_gesture *ret_gesture);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* action.h - what a key does: steps, parted by commas. A step is a command of
 * the protocol, one of the remote's own, or a program.
 *
 *	next    clear, add Jazz, play    menu enter    exec /usr/bin/lights off
 *
 * One word of a step may be a number that is multiplied when the action is
 * done: +2*value (how far an axis was turned) or +5*grow (how long a key has
 * been held: 1 1 1 2 2 6 6 ...).
 * Immutable once parsed. Pure. Threads: any. Errors: -errno. */
#ifndef ROTARY_MONITOR_ACTION_H
#define ROTARY_MONITOR_ACTION_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct text;

enum { ACTION_STEPS_MAX = 8, ACTION_WORDS_MAX = 16 };

enum action_kind {
	ACTION_COMMAND, /* words are sent */
	ACTION_OWN,
	ACTION_EXEC, /* words are a program and its arguments */
};

enum action_own {
	ACTION_OWN_NOOP,
	ACTION_OWN_MENU,
	ACTION_OWN_MODE,
	ACTION_OWN_TEXT,
	ACTION_OWN_SPEECH,
	ACTION_OWN_FAVOURITE,
	ACTION_OWN_TOGGLE,
	ACTION_OWN_MUTE,
	ACTION_OWN_POWER,
};

enum action_factor {
	ACTION_FACTOR_NONE,
	ACTION_FACTOR_VALUE,
	ACTION_FACTOR_GROW
};

struct action_step {
	enum action_kind kind;
	enum action_own own;
	char *words[ACTION_WORDS_MAX + 1]; /* NULL after the last */
	int word_count;
	enum action_factor factor; /* of one word, scaled_word */
	int scaled_word;
	int64_t scale;
	bool is_change; /* written with its sign */
};

struct action {
	char *text; /* as it was written */
	struct action_step steps[ACTION_STEPS_MAX];
	int step_count;
};

/* 0, -EINVAL with the reason in ret_error, -ENOMEM. */
NODISCARD int action_parse(const char *text, struct action **ret_action,
			   struct text *ret_error);
void action_destroy(struct action *action);
/* -EINVAL, with "\"WHAT\" WHY" as the reason. */
int action_refuse(struct text *ret_error, const char *what, const char *why);

/* True when a step of this kind, or of this own verb, is in it. */
bool action_has_kind(const struct action *action, enum action_kind kind);
bool action_has_own(const struct action *action, enum action_own own);
bool action_has_factor(const struct action *action, enum action_factor factor);
/* True when its first step is this command. */
bool action_is_command(const struct action *action, const char *name);

/* The step as one line of the protocol, its words quoted where needed, its
 * number multiplied. */
void action_add_line(struct text *text, const struct action_step *step,
		     int64_t factor);

/* A word of a line, in quotes where it needs them. */
void action_add_word(struct text *text, const char *word);

#endif

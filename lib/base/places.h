/* SPDX-License-Identifier: GPL-3.0-or-later */
/* places.h - where Rotary keeps its things, for this user and for the system
 * (docs/architecture.md, "Places").
 *
 * Nothing here looks whether a place exists, but places_music() reads the
 * user's user-dirs.dirs. Each function adds one absolute path without a
 * trailing slash. A user without $HOME is looked up in the user database.
 * Threads: any, while nobody changes the environment. RT: MAY_BLOCK. */
#ifndef ROTARY_BASE_PLACES_H
#define ROTARY_BASE_PLACES_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct text;

/* True when this process is the system's daemon: uid 0, or started by the
 * system's service manager ($RUNTIME_DIRECTORY or $STATE_DIRECTORY, and not
 * below the user's own folders, as a user's service manager sets them). */
bool places_are_system(void);

/* The folder of the socket. */
void places_add_runtime(struct text *text);
void places_add_state(struct text *text);
void places_add_music(struct text *text);

/* The folder of the socket of this user's, or the system's, daemon, whatever
 * this process is. */
void places_add_user_runtime(struct text *text);
void places_add_system_runtime(struct text *text);

void places_add_home(struct text *text);
/* $XDG_CONFIG_HOME or ~/.config. */
void places_add_config_home(struct text *text);

#endif

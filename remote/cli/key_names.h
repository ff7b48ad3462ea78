/* SPDX-License-Identifier: GPL-3.0-or-later */
/* key_names.h - what keys and what is done with them are called: the kernel's
 * names, as in key maps. Made from its header when rotary is built, so that the
 * command line needs no library for it. Pure. */
#ifndef ROTARY_CLI_KEY_NAMES_H
#define ROTARY_CLI_KEY_NAMES_H

#include "lib/base/attr.h"

#include <stdbool.h>

/* Upper and lower case are the same; KEY_ may stand before a key. */
bool key_names_has(const char *name);
/* The most similar name, or NULL when none is similar. */
const char *key_names_nearest(const char *name);
/* The index-th, or NULL. */
const char *key_names_at(int index);

#endif

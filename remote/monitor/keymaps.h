/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keymaps.h - all key maps: where they are found, and which serves a device.
 *
 * Every *.map of the folders; a file hides those of the same name in later
 * folders. Folders, first to last: what [remote] keymaps names, STATE/keymaps,
 * /etc/rotary/keymaps, the installed ones. The first map that claims a device
 * serves it, in the order of folders and names; default.map comes last.
 * Threads: one. RT: MAY_BLOCK. Logs what is wrong with a map. */
#ifndef ROTARY_MONITOR_KEYMAPS_H
#define ROTARY_MONITOR_KEYMAPS_H

#include "remote/monitor/keymap.h"

enum { KEYMAPS_MAX = 64, KEYMAPS_FOLDERS_MAX = 4 };

struct keymaps;

/* extra: a folder, or "". 0, -ENOMEM. */
NODISCARD int keymaps_create(const char *extra, bool exec,
			     struct keymaps **ret_maps);
void keymaps_destroy(struct keymaps *maps);

/* Reads all anew. A map with an error stays as it was, or is left out when it
 * never was right; the number of such maps is returned. */
int keymaps_read(struct keymaps *maps);

/* The map that serves a device, or NULL, with how it is treated. Says so when
 * a second one claims it too. */
struct keymap *keymaps_choose(const struct keymaps *maps,
			      const struct keymap_identity *identity,
			      struct keymap_settings *ret_settings);
/* default.map, for keys that come from no device. NULL: there is none. */
struct keymap *keymaps_default(const struct keymaps *maps);

/* The index-th folder or map; NULL after the last. */
const char *keymaps_folder(const struct keymaps *maps, int index);
const struct keymap *keymaps_at(const struct keymaps *maps, int index);

#endif

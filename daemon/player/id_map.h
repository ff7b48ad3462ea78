/* SPDX-License-Identifier: GPL-3.0-or-later */
/* id_map.h - a set of queue ids, each with a small number.
 *
 * A hash table with open addressing, at most half full; {0} is empty. Ids are
 * positive. Threads: one at a time. Errors: -ENOMEM, nothing changed. */
#ifndef ROTARY_PLAYER_ID_MAP_H
#define ROTARY_PLAYER_ID_MAP_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct id_map_entry {
	uint32_t id; /* 0: free */
	uint32_t value;
};

struct id_map {
	struct id_map_entry *entries;
	uint32_t capacity; /* a power of two, or 0 */
	uint32_t count;
};

void id_map_finish(struct id_map *map);
void id_map_clear(struct id_map *map);
/* Adds id, or changes its value. */
NODISCARD int id_map_set(struct id_map *map, uint32_t id, uint32_t value);
bool id_map_get(const struct id_map *map, uint32_t id, uint32_t *ret_value);
bool id_map_has(const struct id_map *map, uint32_t id);

#endif

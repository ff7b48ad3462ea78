/* SPDX-License-Identifier: GPL-3.0-or-later */
/* id_map.c - ids in a table with open addressing. Nothing is ever removed but
 * all at once, so that probing needs no tombstones: the first free entry ends
 * a search. Ids are counted up, so they are spread by a multiplication. */
#include "daemon/player/id_map.h"

#include <errno.h>
#include <stdlib.h>

enum { CAPACITY_MIN = 16 };

static uint32_t
entry_of(const struct id_map *map, uint32_t id)
{
	uint32_t i = (id * UINT32_C(2654435769)) >> 8 & (map->capacity - 1);

	while (map->entries[i].id != 0 && map->entries[i].id != id)
		i = (i + 1) & (map->capacity - 1);
	return i;
}

static int
grow(struct id_map *map)
{
	struct id_map larger = {
		.capacity =
			map->capacity == 0 ? CAPACITY_MIN : map->capacity * 2,
		.count = map->count,
	};

	larger.entries = calloc(larger.capacity, sizeof(*larger.entries));
	if (larger.entries == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->capacity; i++)
		if (map->entries[i].id != 0)
			larger.entries[entry_of(&larger, map->entries[i].id)] =
				map->entries[i];
	free(map->entries);
	*map = larger;
	return 0;
}

void
id_map_finish(struct id_map *map)
{
	free(map->entries);
	*map = (struct id_map){0};
}

void
id_map_clear(struct id_map *map)
{
	if (map->count > 0)
		id_map_finish(map);
}

int
id_map_set(struct id_map *map, uint32_t id, uint32_t value)
{
	uint32_t i = 0;

	if (map->count >= map->capacity / 2 && grow(map) < 0)
		return -ENOMEM;
	i = entry_of(map, id);
	map->count += map->entries[i].id == 0;
	map->entries[i] = (struct id_map_entry){id, value};
	return 0;
}

bool
id_map_get(const struct id_map *map, uint32_t id, uint32_t *ret_value)
{
	uint32_t i = 0;

	if (map->count == 0)
		return false;
	i = entry_of(map, id);
	if (map->entries[i].id == 0)
		return false;
	*ret_value = map->entries[i].value;
	return true;
}

bool
id_map_has(const struct id_map *map, uint32_t id)
{
	uint32_t value = 0;

	return id_map_get(map, id, &value);
}

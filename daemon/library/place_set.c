/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_set.c - a hash table with open addressing, at most half full. Nothing
 * is ever removed. No file system uses inode 0. */
#include "daemon/library/place_set.h"

#include <errno.h>
#include <stdlib.h>

enum { CAPACITY_MIN = 64 };

void
place_set_finish(struct place_set *set)
{
	free(set->places);
	*set = (struct place_set){0};
}

static struct place *
slot_of(const struct place_set *set, struct place place)
{
	const uint64_t hash =
		((uint64_t)place.inode ^ (uint64_t)place.device << 32) *
		UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(hash >> 32) & (set->capacity - 1);

	while (set->places[i].inode != 0 &&
	       (set->places[i].inode != place.inode ||
		set->places[i].device != place.device))
		i = (i + 1) & (set->capacity - 1);
	return &set->places[i];
}

static int
grow(struct place_set *set)
{
	struct place_set larger = {
		.capacity =
			set->capacity == 0 ? CAPACITY_MIN : set->capacity * 2,
		.count = set->count,
	};

	larger.places = calloc(larger.capacity, sizeof(*larger.places));
	if (larger.places == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < set->capacity; i++)
		if (set->places[i].inode != 0)
			*slot_of(&larger, set->places[i]) = set->places[i];
	free(set->places);
	*set = larger;
	return 0;
}

int
place_set_add(struct place_set *set, struct place place)
{
	struct place *slot = NULL;

	if (set->count >= set->capacity / 2 && grow(set) < 0)
		return -ENOMEM;
	slot = slot_of(set, place);
	if (slot->inode != 0)
		return 0;
	*slot = place;
	set->count++;
	return 1;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_set.h - a set of folders by device and inode, to know where a walk has
 * been. {0} is empty. One thread at a time. */
#ifndef ROTARY_LIBRARY_PLACE_SET_H
#define ROTARY_LIBRARY_PLACE_SET_H

#include "lib/base/attr.h"

#include <sys/types.h>

struct place {
	dev_t device;
	ino_t inode; /* 0: none */
};

struct place_set {
	struct place *places;
	size_t capacity;
	size_t count;
};

void place_set_finish(struct place_set *set);
/* 1: added; 0: it was there; -ENOMEM. */
NODISCARD int place_set_add(struct place_set *set, struct place place);

#endif

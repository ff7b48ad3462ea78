/* SPDX-License-Identifier: GPL-3.0-or-later */
/* early.c - blocks for what the making of the reservation itself may call, such
 * as a malloc inside of pthread_key_create(). Never freed, in all 16 KiB.
 *
 *   | size_t size | block ... | */
#include "lib/zone/parts.h"

enum { EARLY_BYTES = 16 * 1024, HEAD_BYTES = 16 };

static ALIGNED(64) char arena[EARLY_BYTES];
static ATOMIC(size_t) used;

void *
zone_early_alloc(size_t bytes, size_t align)
{
	size_t begin = atomic_load(&used);
	size_t at = 0;

	if (bytes > EARLY_BYTES || align > EARLY_BYTES)
		return NULL;
	if (align < HEAD_BYTES)
		align = HEAD_BYTES;
	do {
		/* the arena itself is aligned to 64 only */
		at = ((uintptr_t)arena + begin + HEAD_BYTES + align - 1) /
			     align * align -
		     (uintptr_t)arena;
		if (at + bytes > EARLY_BYTES)
			return NULL;
	} while (!atomic_compare_exchange_weak(&used, &begin, at + bytes));
	*(size_t *)(void *)(arena + at - HEAD_BYTES) = bytes;
	return arena + at;
}

bool
zone_early_owns(const void *block)
{
	return (uintptr_t)block - (uintptr_t)arena < EARLY_BYTES;
}

size_t
zone_early_usable(const void *block)
{
	return *(const size_t *)(const void *)((const char *)block -
					       HEAD_BYTES);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* classes.h - the one table of block sizes, and the way from a size to its
 * class: a count of leading zeros, no search.
 *
 *   8 16 24, then 2^k and 1.5 * 2^k up to 8 KiB, then 1, 1.25, 1.5 and 1.75
 *   times 2^k up to 64 KiB
 *
 * Threads: any; the table is constant. RT: RT_SAFE. Private to lib/zone. */
#ifndef ROTARY_ZONE_CLASSES_H
#define ROTARY_ZONE_CLASSES_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum {
	ZONE_CLASSES = 32,
	ZONE_CLASS_16 = 1,
	ZONE_CLASS_64 = 5,
	ZONE_SMALL_MAX = 64 * 1024,
	ZONE_UNIT_SHIFT = 16,
	ZONE_UNIT_BYTES = 1 << ZONE_UNIT_SHIFT,
	ZONE_BLOCKS_MAX = 4096, /* of a slab */
	ZONE_MAGAZINE_MAX = 128,
};

/* The largest page that a kernel of this architecture may have: what is given
 * back begins and ends at one. */
#ifdef __aarch64__
enum { ZONE_PAGE_MAX = 64 * 1024 };
#else
enum { ZONE_PAGE_MAX = 4096 };
#endif

struct zone_class {
	uint32_t size;
	uint32_t inverse;  /* 2^32 / size, rounded up */
	uint16_t blocks;   /* of a slab */
	uint16_t magazine; /* blocks that a thread keeps; at most 64 KiB */
	uint16_t words;    /* of 64 bits for blocks */
	uint16_t last;     /* offset of the last block */
};

extern const struct zone_class zone_classes[ZONE_CLASSES];

/* The smallest class for size bytes, 1 <= size <= ZONE_SMALL_MAX. */
static inline unsigned
zone_class_of(size_t size)
{
	const unsigned n = (unsigned)size - 1;
	unsigned k = 0;

	if (size <= 16)
		return size > 8;
	k = 31 - (unsigned)__builtin_clz(n);
	if (size <= 8192)
		return 2 * k - 6 + (n >> (k - 1) & 1);
	return 4 * k - 32 + (n >> (k - 2) & 3);
}

/* The same without the classes that are no multiple of 16. */
static inline unsigned
zone_class_of_16(size_t size)
{
	/* 1..16 become 16, 17..24 become 32 */
	const unsigned n = ((unsigned)size - 1) | 15;
	const unsigned k = 31 ^ (unsigned)__builtin_clz(n);

	if (size <= 8192)
		return 2 * k - 8 + (n >> (k - 1));
	return 4 * k - 36 + (n >> (k - 2));
}

/* Which block of a slab an offset lies in. */
static inline unsigned
zone_block_of(const struct zone_class *shape, uint32_t offset)
{
	return (unsigned)((uint64_t)offset * shape->inverse >> 32);
}

/* Does a block begin there? Of the product above, what is below 2^32 tells the
 * remainder: it is less than the inverse for a remainder of 0 only. */
static inline bool
zone_block_begins(const struct zone_class *shape, uint32_t offset)
{
	return offset * shape->inverse < shape->inverse &&
	       offset <= shape->last;
}

#endif

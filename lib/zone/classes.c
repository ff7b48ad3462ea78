/* SPDX-License-Identifier: GPL-3.0-or-later */
/* classes.c - the table of block sizes.
 *
 * What a slab holds follows from its class alone: block i lies at i * size, and
 * what does not divide 64 KiB is left over at the end, where it is never
 * touched. The bits of a slab have room for 4096 blocks, so half a slab of the
 * smallest class is left over too.
 *
 * inverse * size = 2^32 + e with 0 <= e < size, and offset * e < 2^32 for every
 * offset in a slab: so offset * inverse / 2^32, rounded down, is exact. */
#include "lib/zone/classes.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define BLOCKS(bytes) MIN(ZONE_UNIT_BYTES / (bytes), ZONE_BLOCKS_MAX)
#define CLASS(bytes)                                                           \
	{                                                                      \
		.size = (bytes),                                               \
		.inverse = (uint32_t)((UINT64_C(0x100000000) + (bytes)-1) /    \
				      (bytes)),                                \
		.blocks = BLOCKS(bytes),                                       \
		.magazine = MIN(ZONE_UNIT_BYTES / (bytes), ZONE_MAGAZINE_MAX), \
		.words = (BLOCKS(bytes) + 63) / 64,                            \
		.last = (BLOCKS(bytes) - 1) * (bytes),                         \
	}

const struct zone_class zone_classes[ZONE_CLASSES] = {
	CLASS(8),     CLASS(16),    CLASS(24),    CLASS(32),    CLASS(48),
	CLASS(64),    CLASS(96),    CLASS(128),   CLASS(192),   CLASS(256),
	CLASS(384),   CLASS(512),   CLASS(768),   CLASS(1024),  CLASS(1536),
	CLASS(2048),  CLASS(3072),  CLASS(4096),  CLASS(6144),  CLASS(8192),
	CLASS(10240), CLASS(12288), CLASS(14336), CLASS(16384), CLASS(20480),
	CLASS(24576), CLASS(28672), CLASS(32768), CLASS(40960), CLASS(49152),
	CLASS(57344), CLASS(65536),
};

#undef CLASS
#undef BLOCKS
#undef MIN

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* id3.h - ID3v2 tags in front of files that have no use for them: taggers put
 * them there all the same. Pure; any thread. */
#ifndef ROTARY_DECODE_ID3_H
#define ROTARY_DECODE_ID3_H

#include "lib/base/attr.h"

#include <string.h>

enum { ID3_HEAD_BYTES = 10 };

/* The length of the tag that begins at head, or 0: there is none. */
static inline uint64_t
id3_tag_bytes(const uint8_t *head, size_t length)
{
	uint64_t bytes = 0;

	if (length < ID3_HEAD_BYTES || memcmp(head, "ID3", 3) != 0)
		return 0;
	bytes = (uint64_t)(head[6] & 0x7f) << 21 |
		(uint64_t)(head[7] & 0x7f) << 14 |
		(uint64_t)(head[8] & 0x7f) << 7 | (head[9] & 0x7f);
	/* A footer is as long as the head, and not counted. */
	return ID3_HEAD_BYTES + bytes +
	       ((head[5] & 0x10) != 0 ? ID3_HEAD_BYTES : 0);
}

#endif

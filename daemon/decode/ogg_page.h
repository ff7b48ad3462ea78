/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ogg_page.h - the pages of an Ogg file (RFC 3533).
 *
 * Pure but for ogg_page_find(), which moves a window. RT: RT_SAFE. */
#ifndef ROTARY_DECODE_OGG_PAGE_H
#define ROTARY_DECODE_OGG_PAGE_H

#include "daemon/decode/window.h"

enum {
	OGG_PAGE_HEAD_BYTES = 27,
	OGG_PAGE_BYTES_MAX = 27 + 255 + 255 * 255,
	OGG_PAGE_CONTINUED = 1,
	OGG_PAGE_BEGIN = 2,
	OGG_PAGE_END = 4,
};

struct ogg_page_info {
	uint64_t offset; /* in the file */
	int64_t granule; /* -1: no packet ends on it */
	uint32_t serial;
	uint32_t sequence;
	uint8_t flags;
	uint8_t segments;
	uint32_t head_bytes;
	uint32_t bytes; /* head and body */
};

enum ogg_find {
	OGG_FIND_PAGE, /* it stands whole at the window's begin */
	OGG_FIND_STARVED,
	OGG_FIND_AGAIN, /* nothing yet, but something was done */
	OGG_FIND_END,
	OGG_FIND_ERROR,
};

/* True when length bytes begin with a page's head, body not needed. */
RT_SAFE bool ogg_page_parse(const uint8_t *bytes, size_t length,
			    struct ogg_page_info *ret_page);
/* One step towards the next whole, good page at or behind the window's begin.
 * What is none is dropped. The window holds OGG_PAGE_BYTES_MAX or more. */
RT_SAFE enum ogg_find ogg_page_find(struct window *window,
				    struct ogg_page_info *ret_page);

#endif

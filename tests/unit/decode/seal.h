/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seal.h - for tests that change the pages of an Ogg file. */
#ifndef ROTARY_TEST_DECODE_SEAL_H
#define ROTARY_TEST_DECODE_SEAL_H

#include "daemon/decode/ogg_page.h"

#include <ogg/ogg.h>

/* Makes the checksum of the page at bytes good again. */
static inline void
seal_page(uint8_t *bytes, const struct ogg_page_info *page)
{
	ogg_page whole = {
		.header = bytes,
		.header_len = (long)page->head_bytes,
		.body = bytes + page->head_bytes,
		.body_len = (long)(page->bytes - page->head_bytes),
	};

	ogg_page_checksum_set(&whole);
}

#endif

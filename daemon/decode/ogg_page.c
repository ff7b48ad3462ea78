/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ogg_page.c - finding pages.
 *
 * A page is believed only whole and with a good checksum. A bad one is passed
 * over byte by byte, not by the length that it claims, since that may be what
 * is bad. libogg does the checksum, nothing else: its buffers grow without
 * limit, and its state cannot be taken back when a read starves. */
#include "daemon/decode/ogg_page.h"

#include <ogg/ogg.h>
#include <string.h>

enum {
	AT_FLAGS = 5,
	AT_GRANULE = 6,
	AT_SERIAL = 14,
	AT_SEQUENCE = 18,
	AT_CHECKSUM = 22,
	AT_SEGMENTS = 26,
	CHECKSUM_BYTES = 4,
};

static const uint8_t capture[] = {'O', 'g', 'g', 'S', 0};

static RT_SAFE uint64_t
little_endian(const uint8_t *bytes, size_t count)
{
	uint64_t value = 0;

	while (count-- > 0)
		value = value << 8 | bytes[count];
	return value;
}

RT_SAFE bool
ogg_page_parse(const uint8_t *bytes, size_t length,
	       struct ogg_page_info *ret_page)
{
	uint32_t body = 0;
	uint8_t segments = 0;

	if (length < OGG_PAGE_HEAD_BYTES ||
	    memcmp(bytes, capture, sizeof(capture)) != 0)
		return false;
	segments = bytes[AT_SEGMENTS];
	if (length < (size_t)OGG_PAGE_HEAD_BYTES + segments)
		return false;
	for (size_t i = 0; i < segments; i++)
		body += bytes[OGG_PAGE_HEAD_BYTES + i];
	*ret_page = (struct ogg_page_info){
		.granule = (int64_t)little_endian(bytes + AT_GRANULE, 8),
		.serial = (uint32_t)little_endian(bytes + AT_SERIAL, 4),
		.sequence = (uint32_t)little_endian(bytes + AT_SEQUENCE, 4),
		.flags = bytes[AT_FLAGS],
		.segments = segments,
		.head_bytes = (uint32_t)OGG_PAGE_HEAD_BYTES + segments,
		.bytes = (uint32_t)OGG_PAGE_HEAD_BYTES + segments + body,
	};
	return true;
}

static RT_SAFE bool
checksum_is_good(uint8_t *bytes, const struct ogg_page_info *page)
{
	ogg_page whole = {
		.header = bytes,
		.header_len = (long)page->head_bytes,
		.body = bytes + page->head_bytes,
		.body_len = (long)(page->bytes - page->head_bytes),
	};
	uint8_t claimed[CHECKSUM_BYTES];
	bool good = false;

	memcpy(claimed, bytes + AT_CHECKSUM, CHECKSUM_BYTES);
	RT_EXCEPTION("libogg: arithmetic over the page, nothing else")
	{
		ogg_page_checksum_set(&whole);
	}
	good = memcmp(claimed, bytes + AT_CHECKSUM, CHECKSUM_BYTES) == 0;
	memcpy(bytes + AT_CHECKSUM, claimed, CHECKSUM_BYTES);
	return good;
}

/* Drops what cannot be a page's begin. True: the window may begin with one. */
static RT_SAFE bool
go_to_capture(struct window *window)
{
	const uint8_t *bytes = window_bytes(window);
	const size_t length = window_length(window);
	size_t at = 0;

	while (at < length) {
		const uint8_t *first =
			memchr(bytes + at, capture[0], length - at);
		size_t count = 0;

		if (first == NULL) {
			at = length;
			break;
		}
		at = (size_t)(first - bytes);
		count = length - at < sizeof(capture) ? length - at
						      : sizeof(capture);
		if (memcmp(first, capture, count) == 0)
			break;
		at++;
	}
	window_drop(window, at);
	return at < length;
}

static RT_SAFE enum ogg_find
see_more(struct window *window)
{
	switch (window_more(window)) {
	case READER_OK:
		return OGG_FIND_AGAIN;
	case READER_STARVED:
		return OGG_FIND_STARVED;
	case READER_EOF:
		break;
	case READER_ERROR:
		return OGG_FIND_ERROR;
	}
	/* The rest is no whole page, but there may be one inside it. */
	if (window_length(window) == 0)
		return OGG_FIND_END;
	window_drop(window, 1);
	return OGG_FIND_AGAIN;
}

RT_SAFE enum ogg_find
ogg_page_find(struct window *window, struct ogg_page_info *ret_page)
{
	struct ogg_page_info page;

	if (!go_to_capture(window) ||
	    !ogg_page_parse(window_bytes(window), window_length(window),
			    &page) ||
	    window_length(window) < page.bytes)
		return see_more(window);
	if (!checksum_is_good(window->block + window->start, &page)) {
		window_drop(window, 1);
		return OGG_FIND_AGAIN;
	}
	page.offset = window->offset;
	*ret_page = page;
	return OGG_FIND_PAGE;
}

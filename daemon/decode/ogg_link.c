/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ogg_link.c - pages into packets.
 *
 * The page in hand stays at the window's begin until its last packet was
 * given, so most packets are given where they lie. Only one that spans pages
 * is gathered, in `partial`; one that is larger than OGG_PACKET_BYTES_MAX is
 * counted, not kept, and given up. Nothing is lost by starving: a step either
 * does its work whole or only waits for bytes. */
#include "daemon/decode/ogg_link.h"

#include "lib/base/alloc.h"

#include <errno.h>
#include <string.h>

enum { LACING_FULL = 255 };

void
ogg_link_finish(struct ogg_link *link)
{
	if (link->partial != NULL)
		allocator_delete(link->allocator, link->partial);
	link->partial = NULL;
	window_finish(&link->window);
}

int
ogg_link_reserve(struct ogg_link *link, size_t bytes)
{
	size_t capacity = link->partial_capacity > 0 ? link->partial_capacity
						     : LACING_FULL + 1;
	uint8_t *partial = NULL;

	if (bytes <= link->partial_capacity)
		return 0;
	while (capacity < bytes)
		capacity *= 2;
	partial = allocator_new(link->allocator, capacity);
	if (partial == NULL)
		return -ENOMEM;
	if (link->partial != NULL) {
		memcpy(partial, link->partial, link->partial_length);
		allocator_delete(link->allocator, link->partial);
	}
	link->partial = partial;
	link->partial_capacity = capacity;
	return 0;
}

/* Takes bytes of the packet in hand to what was gathered of it. */
static void
gather(struct ogg_link *link, const uint8_t *bytes, size_t length)
{
	if (link->tap != NULL) {
		link->tap(link->tap_context, bytes, length);
		link->partial_length += length;
		return;
	}
	if (link->partial_length + length <= OGG_PACKET_BYTES_MAX &&
	    ogg_link_reserve(link, link->partial_length + length) == 0 &&
	    length > 0)
		memcpy(link->partial + link->partial_length, bytes, length);
	else if (length > 0)
		link->partial_length = OGG_PACKET_BYTES_MAX; /* given up */
	link->partial_length += length;
}

/* The run of segments from the next one on, up to the packet's end. */
static RT_SAFE uint32_t
measure_run(const struct ogg_link *link, uint32_t *segment, bool *ret_ends)
{
	const uint8_t *lacing =
		window_bytes(&link->window) + OGG_PAGE_HEAD_BYTES;
	uint32_t length = 0;

	*ret_ends = false;
	while (*segment < link->page.segments && !*ret_ends) {
		const uint8_t value = lacing[(*segment)++];

		length += value;
		*ret_ends = value < LACING_FULL;
	}
	return length;
}

/* True when no packet ends behind the next segment. */
static RT_SAFE bool
is_last_on_page(const struct ogg_link *link)
{
	const uint8_t *lacing =
		window_bytes(&link->window) + OGG_PAGE_HEAD_BYTES;

	for (uint32_t i = link->segment; i < link->page.segments; i++)
		if (lacing[i] < LACING_FULL)
			return false;
	return true;
}

static void
drop_partial(struct ogg_link *link)
{
	link->partial_length = 0;
	link->open = false;
}

/* Takes a page of ours in hand. */
static void
begin_page(struct ogg_link *link, const struct ogg_page_info *page)
{
	const bool continued = (page->flags & OGG_PAGE_CONTINUED) != 0;
	bool ends = false;

	link->page = *page;
	link->has_page = true;
	link->segment = 0;
	link->body = page->head_bytes;
	if (link->has_sequence && page->sequence != link->sequence) {
		link->hole = true;
		drop_partial(link);
	}
	link->sequence = page->sequence + 1;
	link->has_sequence = true;
	if (link->open && !continued) {
		link->hole = true;
		drop_partial(link);
	}
	if (!link->open && continued) /* its begin is lost: skip its end */
		link->body += measure_run(link, &link->segment, &ends);
}

static enum ogg_status
next_page(struct ogg_link *link)
{
	struct ogg_page_info page;

	switch (ogg_page_find(&link->window, &page)) {
	case OGG_FIND_PAGE:
		break;
	case OGG_FIND_STARVED:
		return OGG_STARVED;
	case OGG_FIND_AGAIN:
		return OGG_AGAIN;
	case OGG_FIND_END:
		return OGG_END;
	case OGG_FIND_ERROR:
		return OGG_ERROR;
	}
	if (link->expected != 0 && page.offset != link->expected)
		link->damage = true;
	link->expected = page.offset + page.bytes;
	if ((page.flags & OGG_PAGE_BEGIN) != 0 && page.offset >= link->data)
		return OGG_NEXT_LINK;
	if (page.serial == link->serial)
		begin_page(link, &page);
	else
		window_drop(&link->window, page.bytes);
	return OGG_AGAIN;
}

enum ogg_status
ogg_link_packet(struct ogg_link *link, struct ogg_piece *ret_piece)
{
	const uint8_t *bytes = NULL;
	uint32_t length = 0;
	bool ends = false;
	bool last = false;

	if (!link->has_page)
		return next_page(link);
	if (link->segment == link->page.segments) {
		window_drop(&link->window, link->page.bytes);
		link->has_page = false;
		return OGG_AGAIN;
	}
	bytes = window_bytes(&link->window) + link->body;
	length = measure_run(link, &link->segment, &ends);
	link->body += length;
	if (!ends || link->open || link->tap != NULL) {
		gather(link, bytes, length);
		link->open = true;
		if (!ends)
			return OGG_AGAIN;
		bytes = link->tap == NULL ? link->partial : NULL;
		if (link->partial_length > OGG_PACKET_BYTES_MAX &&
		    link->tap == NULL) {
			link->hole = true;
			drop_partial(link);
			return OGG_AGAIN;
		}
	}
	last = is_last_on_page(link);
	*ret_piece = (struct ogg_piece){
		.bytes = bytes,
		.length = link->open ? link->partial_length : length,
		.granule = last ? link->page.granule : -1,
		.last = last && (link->page.flags & OGG_PAGE_END) != 0,
		.hole = link->hole,
		.damage = link->damage,
	};
	link->hole = false;
	link->damage = false;
	drop_partial(link);
	return OGG_PACKET;
}

int
ogg_link_next(struct ogg_link *link, struct ogg_piece *ret_piece)
{
	for (;;) {
		switch (ogg_link_packet(link, ret_piece)) {
		case OGG_PACKET:
			return 0;
		case OGG_AGAIN:
			break;
		case OGG_ERROR:
			return reader_error(link->window.reader);
		default:
			return -ENODATA;
		}
	}
}

RT_SAFE size_t
ogg_link_peek(const struct ogg_link *link, struct ogg_cursor *cursor,
	      const uint8_t **ret_bytes)
{
	uint32_t length = 0;
	bool ends = false;

	if (!link->has_page)
		return 0;
	if (!cursor->begun)
		*cursor = (struct ogg_cursor){true, link->segment, link->body};
	*ret_bytes = window_bytes(&link->window) + cursor->body;
	length = measure_run(link, &cursor->segment, &ends);
	cursor->body += length;
	return ends ? length : 0;
}

int
ogg_link_restart(struct ogg_link *link, uint64_t offset)
{
	const int error = window_seek(&link->window, offset);

	if (error < 0)
		return error;
	link->has_page = false;
	link->has_sequence = false;
	link->hole = false;
	link->damage = false;
	link->expected = 0;
	drop_partial(link);
	return 0;
}

/* The first packet of a begin page, as far as that page has it. */
static bool
begins_with(const uint8_t *page_bytes, const struct ogg_page_info *page,
	    ogg_codec_fn *codec)
{
	size_t length = 0;

	for (uint32_t i = 0; i < page->segments; i++) {
		length += page_bytes[OGG_PAGE_HEAD_BYTES + i];
		if (page_bytes[OGG_PAGE_HEAD_BYTES + i] < LACING_FULL)
			break;
	}
	return codec(page_bytes + page->head_bytes, length);
}

bool
ogg_head_has(const uint8_t *head, size_t length, ogg_codec_fn *codec)
{
	struct ogg_page_info page;

	while (ogg_page_parse(head, length, &page) && page.bytes <= length &&
	       (page.flags & OGG_PAGE_BEGIN) != 0) {
		if (begins_with(head, &page, codec))
			return true;
		head += page.bytes;
		length -= page.bytes;
	}
	return false;
}

/* Notes the streams of the link and chooses ours. */
static int
read_begin_pages(struct ogg_link *link, ogg_codec_fn *codec,
		 uint64_t *ret_offset)
{
	bool chosen = false;
	struct ogg_page_info page;

	for (;;) {
		const enum ogg_find find = ogg_page_find(&link->window, &page);

		if (find == OGG_FIND_AGAIN)
			continue;
		if (find == OGG_FIND_ERROR)
			return reader_error(link->window.reader);
		if (find != OGG_FIND_PAGE)
			return -ENODATA;
		if ((page.flags & OGG_PAGE_BEGIN) == 0)
			break;
		if (!chosen &&
		    begins_with(window_bytes(&link->window), &page, codec)) {
			chosen = true;
			link->serial = page.serial;
			*ret_offset = page.offset;
		}
		if (link->serial_count < OGG_STREAMS_MAX)
			link->serials[link->serial_count++] = page.serial;
		window_drop(&link->window, page.bytes);
	}
	link->data = page.offset;
	return chosen ? 0 : -ENODATA;
}

int
ogg_link_open(struct ogg_link *link, struct allocator *allocator,
	      struct reader *reader, ogg_codec_fn *codec)
{
	uint64_t offset = 0;
	int error = 0;

	*link = (struct ogg_link){
		.allocator = allocator,
		.begin = reader_offset(reader),
		.end = UINT64_MAX,
	};
	error = window_init(&link->window, allocator, reader,
			    OGG_PAGE_BYTES_MAX + 1);
	if (error == 0)
		error = read_begin_pages(link, codec, &offset);
	if (error == 0)
		error = ogg_link_restart(link, offset);
	return error;
}

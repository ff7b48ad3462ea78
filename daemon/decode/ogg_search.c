/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ogg_search.c - finding places in a link: its end, its last granule, a page.
 *
 * All by reading whole pages from some place on. Granules of one stream only
 * grow within a link, and no page of a link stands behind one of the next, so
 * both searches halve an interval. Each leaves the link where it looked last:
 * ogg_link_restart() comes next. */
#include "daemon/decode/ogg_link.h"

#include <errno.h>

enum {
	NEAR_BYTES = 64 << 10, /* not worth halving any more */
	TAIL_BYTES_MAX = 16 << 20,
};

/* The next page that begins before limit. 0, -ENODATA, -errno. The page is
 * left at the window's begin. */
static int
page_before(struct ogg_link *link, uint64_t limit,
	    struct ogg_page_info *ret_page)
{
	while (link->window.offset < limit) {
		const enum ogg_find find =
			ogg_page_find(&link->window, ret_page);

		if (find == OGG_FIND_ERROR)
			return reader_error(link->window.reader);
		if (find == OGG_FIND_AGAIN)
			continue;
		if (find != OGG_FIND_PAGE || ret_page->offset >= limit)
			break;
		return 0;
	}
	return -ENODATA;
}

static bool
is_of_link(const struct ogg_link *link, uint32_t serial)
{
	for (size_t i = 0; i < link->serial_count; i++)
		if (link->serials[i] == serial)
			return true;
	return false;
}

static bool
tells_time(const struct ogg_link *link, const struct ogg_page_info *page)
{
	return page->serial == link->serial && page->granule >= 0;
}

static bool
is_any(const struct ogg_link *link, const struct ogg_page_info *page)
{
	(void)link;
	(void)page;
	return true;
}

/* The last page before end that pleases; looks further and further back. */
static int
last_page(struct ogg_link *link, uint64_t end,
	  bool (*pleases)(const struct ogg_link *link,
			  const struct ogg_page_info *page),
	  struct ogg_page_info *ret_page)
{
	for (uint64_t back = NEAR_BYTES; back <= TAIL_BYTES_MAX; back *= 2) {
		const uint64_t from =
			end - link->data > back ? end - back : link->data;
		struct ogg_page_info page;
		bool found = false;
		int error = window_seek(&link->window, from);

		while (error == 0) {
			error = page_before(link, end, &page);
			if (error < 0)
				break;
			if (pleases(link, &page)) {
				*ret_page = page;
				found = true;
			}
			window_drop(&link->window, page.bytes);
		}
		if (error != -ENODATA)
			return error;
		if (found)
			return 0;
		if (from == link->data)
			break;
	}
	return -ENODATA;
}

/* The first begin page behind offset, which is the next link's. */
static int
find_next_begin(struct ogg_link *link, uint64_t offset, uint64_t limit)
{
	int error = window_seek(&link->window, offset);

	while (error == 0) {
		struct ogg_page_info page;

		error = page_before(link, limit, &page);
		if (error < 0)
			break;
		if ((page.flags & OGG_PAGE_BEGIN) != 0) {
			link->end = page.offset;
			return 0;
		}
		window_drop(&link->window, page.bytes);
	}
	if (error != -ENODATA)
		return error;
	link->end = limit;
	return 0;
}

int
ogg_link_find_end(struct ogg_link *link)
{
	const uint64_t length = reader_length(link->window.reader);
	uint64_t low = link->data;
	uint64_t high = length;
	struct ogg_page_info page;
	int error = 0;

	if (length == UINT64_MAX || length <= link->data)
		return 0;
	error = last_page(link, length, is_any, &page);
	if (error == -ENODATA ||
	    (error == 0 && is_of_link(link, page.serial))) {
		link->end = length;
		return 0;
	}
	while (error == 0 && high - low > NEAR_BYTES) {
		const uint64_t middle = low + (high - low) / 2;

		error = window_seek(&link->window, middle);
		if (error == 0)
			error = page_before(link, high, &page);
		if (error == 0 && is_of_link(link, page.serial)) {
			low = page.offset + page.bytes;
		} else if (error == 0 || error == -ENODATA) {
			high = middle;
			error = 0;
		}
	}
	return error < 0 ? error : find_next_begin(link, low, length);
}

int
ogg_link_last_granule(struct ogg_link *link, int64_t *ret_granule)
{
	struct ogg_page_info page;
	int error = 0;

	*ret_granule = -1;
	if (link->end == UINT64_MAX || link->end <= link->data)
		return 0;
	error = last_page(link, link->end, tells_time, &page);
	if (error == 0)
		*ret_granule = page.granule;
	return error == -ENODATA ? 0 : error;
}

/* The first page at or behind offset, before limit, that tells a time. */
static int
timed_page(struct ogg_link *link, uint64_t offset, uint64_t limit,
	   struct ogg_page_info *ret_page)
{
	int error = window_seek(&link->window, offset);

	while (error == 0) {
		error = page_before(link, limit, ret_page);
		if (error < 0 || tells_time(link, ret_page))
			break;
		window_drop(&link->window, ret_page->bytes);
	}
	return error;
}

int
ogg_link_search(struct ogg_link *link, int64_t granule, uint64_t *ret_offset)
{
	uint64_t low = link->data;
	uint64_t high = link->end;
	uint64_t best = UINT64_MAX;
	struct ogg_page_info page;
	int error = 0;

	if (high == UINT64_MAX)
		return -ESPIPE;
	while (error == 0 && low < high) {
		const uint64_t middle =
			high - low > NEAR_BYTES ? low + (high - low) / 2 : low;

		error = timed_page(link, middle, high, &page);
		if (error == 0 && page.granule <= granule) {
			best = page.offset;
			low = page.offset + page.bytes;
		} else if (error == 0 || error == -ENODATA) {
			error = 0;
			high = middle;
		}
	}
	if (error < 0)
		return error;
	if (best == UINT64_MAX)
		return -ENODATA;
	*ret_offset = best;
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ogg_link.h - the packets of one stream in one link of an Ogg file.
 *
 *   file:  link | link | ...       a chain, one after the other
 *   link:  begin pages | pages     several streams, interleaved
 *
 * The first stream whose first packet its codec knows is chosen; the others
 * are passed over. The link ends where a begin page follows a page that is
 * none. A packet whose pages are lost or bad is left out, and the next one
 * says so.
 * Threads: the decoder's. RT: ogg_link_packet() and ogg_link_peek(), when
 * packets need no larger block than reserved. */
#ifndef ROTARY_DECODE_OGG_LINK_H
#define ROTARY_DECODE_OGG_LINK_H

#include "daemon/decode/ogg_page.h"

enum {
	OGG_STREAMS_MAX = 16,           /* of a link that we remember */
	OGG_PACKET_BYTES_MAX = 4 << 20, /* larger ones are left out */
};

enum ogg_status {
	OGG_PACKET,
	OGG_STARVED,
	OGG_AGAIN,     /* nothing yet, but something was done */
	OGG_END,       /* the file is over */
	OGG_NEXT_LINK, /* at window.offset */
	OGG_ERROR,
};

struct ogg_piece {
	const uint8_t *bytes; /* valid until the next call; NULL: tapped */
	size_t length;
	int64_t granule; /* of its page if it is the last that ends there;
			    else -1 */
	bool last;       /* of the stream */
	bool hole;       /* something before it is missing */
	bool damage;     /* and bytes that are no pages stand there */
};

/* Knows a codec by the first packet of its stream. */
typedef bool ogg_codec_fn(const uint8_t *packet, size_t length);
/* Sees the bytes of packets as they pass, instead of their being gathered. */
typedef void ogg_tap_fn(void *context, const uint8_t *bytes, size_t length);

struct ogg_link {
	struct allocator *allocator;
	struct window window;
	uint32_t serial; /* of the chosen stream */
	uint32_t serials[OGG_STREAMS_MAX];
	size_t serial_count;
	ogg_tap_fn *tap;
	void *tap_context;
	/* the page in hand, at the window's begin */
	struct ogg_page_info page;
	bool has_page;
	uint32_t segment; /* the next */
	uint32_t body;    /* where it begins, in the page */
	/* a packet that spans pages */
	uint8_t *partial;
	size_t partial_capacity;
	size_t partial_length; /* may exceed what is kept */
	bool open;             /* a packet has begun and not ended */
	uint32_t sequence;     /* of the next page */
	bool has_sequence;
	bool hole;
	bool damage;
	uint64_t expected; /* where the next page should begin; 0: anywhere */
	/* what is known of the link */
	uint64_t begin;
	uint64_t data; /* of the first page behind the begin pages */
	uint64_t end;  /* UINT64_MAX: unknown */
};

/* Reads the begin pages; the window's reader stands at the link. 0, -ENODATA
 * (no Ogg, or no stream of this codec), -ENOMEM, -errno. */
MAY_BLOCK NODISCARD int ogg_link_open(struct ogg_link *link,
				      struct allocator *allocator,
				      struct reader *reader,
				      ogg_codec_fn *codec);
void ogg_link_finish(struct ogg_link *link);
/* Room for packets that span pages. 0 or -ENOMEM. */
MAY_BLOCK NODISCARD int ogg_link_reserve(struct ogg_link *link, size_t bytes);

/* One step towards the next packet of the chosen stream. */
enum ogg_status ogg_link_packet(struct ogg_link *link,
				struct ogg_piece *ret_piece);
/* Blocking: as many steps as it takes. 0, -ENODATA (none), -errno. */
MAY_BLOCK NODISCARD int ogg_link_next(struct ogg_link *link,
				      struct ogg_piece *ret_piece);

/* Walks over the packets behind the last one given that end on the same page.
 * A cursor begins as {0}. The length of the next one, 0 where there is none. */
struct ogg_cursor {
	bool begun;
	uint32_t segment;
	uint32_t body;
};
RT_SAFE size_t ogg_link_peek(const struct ogg_link *link,
			     struct ogg_cursor *cursor,
			     const uint8_t **ret_bytes);

/* DIRECT only. Finds the link's end. 0 or -errno. */
MAY_BLOCK NODISCARD int ogg_link_find_end(struct ogg_link *link);
/* The last granule in the link, -1 when there is none. 0 or -errno. */
MAY_BLOCK NODISCARD int ogg_link_last_granule(struct ogg_link *link,
					      int64_t *ret_granule);
/* The last page whose granule is at most granule; -ENODATA: there is none. */
MAY_BLOCK NODISCARD int ogg_link_search(struct ogg_link *link, int64_t granule,
					uint64_t *ret_offset);
/* Goes on with the page at offset. 0 or -errno. */
MAY_BLOCK NODISCARD int ogg_link_restart(struct ogg_link *link,
					 uint64_t offset);

/* True when one of the begin pages in the length bytes of a file's head is of
 * the codec: what a decoder's probe asks. */
bool ogg_head_has(const uint8_t *head, size_t length, ogg_codec_fn *codec);

#endif

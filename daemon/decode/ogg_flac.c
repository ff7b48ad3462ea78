/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ogg_flac.c - FLAC in Ogg (version 1 of its mapping).
 *
 * Each packet is a frame, or, before the first frame, a metadata block; so
 * there is nothing to search, and the rest is flac_track.c's. The header
 * packets are tapped rather than gathered, since pictures are among them. */
#include "daemon/decode/ogg_flac.h"

#include "daemon/decode/comments.h"
#include "daemon/decode/flac_track.h"
#include "daemon/decode/ogg_link.h"
#include "lib/base/alloc.h"

#include <errno.h>
#include <string.h>

enum {
	STEPS_MAX = 64,
	TRIES_MAX = 4,
	AT_MAGIC = 9, /* of the first packet */
	AT_STREAM_INFO = 17,
	FIRST_PACKET_BYTES = AT_STREAM_INFO + FLAC_STREAM_INFO_BYTES,
	BLOCK_HEAD_BYTES = 4,
	BLOCK_COMMENTS = 4,
	FRAME_FIRST_BYTE = 0xff,
	HEADERS_MAX = 4096,
};

struct ogg_flac {
	struct decoder base;
	struct allocator *allocator;
	struct ogg_link link;
	struct flac_track track;
	struct comments comments;
	/* the header packet that is passing by */
	uint8_t head[BLOCK_HEAD_BYTES];
	size_t head_length;
	uint64_t good_offset; /* behind the last good frame */
	bool lost;            /* something was lost since */
	bool ended;           /* the stream's last page was seen */
	enum decode_status final;
};

static bool
is_ours(const uint8_t *packet, size_t length)
{
	static const uint8_t magic[] = {0x7f, 'F', 'L', 'A', 'C', 1};

	return length >= FIRST_PACKET_BYTES &&
	       memcmp(packet, magic, sizeof(magic)) == 0 &&
	       memcmp(packet + AT_MAGIC, "fLaC", 4) == 0;
}

static int
probe(const uint8_t *head, size_t length)
{
	return ogg_head_has(head, length, is_ours) ? 100 : 0;
}

/* Sees a header packet pass: its block head is kept, comments are read. */
static void
tap_header(void *context, const uint8_t *bytes, size_t length)
{
	struct ogg_flac *flac = context;

	while (length > 0 && flac->head_length < BLOCK_HEAD_BYTES) {
		flac->head[flac->head_length++] = *bytes++;
		length--;
		if (flac->head_length == BLOCK_HEAD_BYTES &&
		    (flac->head[0] & 0x7f) == BLOCK_COMMENTS)
			comments_begin(&flac->comments);
	}
	if (flac->head_length == BLOCK_HEAD_BYTES &&
	    (flac->head[0] & 0x7f) == BLOCK_COMMENTS)
		comments_feed(&flac->comments, bytes, length);
}

static int
read_headers(struct ogg_flac *flac)
{
	struct ogg_piece piece;
	int error = ogg_link_next(&flac->link, &piece);
	bool last = false;

	if (error < 0)
		return error;
	if (!is_ours(piece.bytes, piece.length) ||
	    !flac_stream_info_parse(piece.bytes + AT_STREAM_INFO,
				    &flac->track.stream))
		return -EINVAL;
	flac->track.has_stream = true;
	last = (piece.bytes[AT_MAGIC + 4] & 0x80) != 0;
	flac->link.tap = tap_header;
	flac->link.tap_context = flac;
	for (int header = 0; !last && header < HEADERS_MAX; header++) {
		flac->head_length = 0;
		error = ogg_link_next(&flac->link, &piece);
		if (error < 0)
			return error;
		last = (flac->head[0] & 0x80) != 0;
	}
	flac->link.tap = NULL;
	/* It was a frame, not a header: go back for it. */
	if (last && flac->head[0] == FRAME_FIRST_BYTE)
		return ogg_link_restart(&flac->link, flac->link.data);
	return 0;
}

/* Decodes the packet, if it is a frame. */
static enum flac_track_status
try_packet(struct ogg_flac *flac, const struct ogg_piece *piece)
{
	enum flac_track_status status = FLAC_TRACK_DAMAGED;
	struct flac_frame frame;
	size_t used = 0;

	if (piece->length == 0 || piece->bytes[0] != FRAME_FIRST_BYTE)
		return FLAC_TRACK_DAMAGED;
	flac->track.unsure = flac->lost || piece->hole;
	if (flac_frame_parse(piece->bytes, piece->length, &frame) ==
	    FLAC_PARSE_OK)
		status = flac_track_frame(&flac->track, &frame, piece->bytes,
					  piece->length, &used);
	flac->lost = status != FLAC_TRACK_OK;
	if (status == FLAC_TRACK_OK)
		flac->good_offset = flac->link.window.offset;
	return status;
}

static int
start_track(struct ogg_flac *flac, const struct ogg_piece *piece, bool lost)
{
	struct flac_track *track = &flac->track;
	struct stage nowhere = {0};
	struct ogg_cursor cursor = {0};
	struct flac_frame first;
	struct flac_frame second;
	struct flac_block block;
	const uint8_t *next = NULL;
	size_t next_length = 0;
	bool has_second = false;
	int error = 0;

	if (flac_frame_parse(piece->bytes, piece->length, &first) !=
		    FLAC_PARSE_OK ||
	    flac_core_decode(track->core, piece->bytes, piece->length, &nowhere,
			     &block) != FLAC_CORE_OK)
		return -EAGAIN;
	next_length = ogg_link_peek(&flac->link, &cursor, &next);
	if (next_length > 0)
		has_second = flac_frame_parse(next, next_length, &second) ==
			     FLAC_PARSE_OK;
	error = flac_track_start(track, &first, &block,
				 has_second ? &second : NULL);
	/* A recording of a broadcast begins with any number. */
	if (error == 0 && track->info.frames == 0 && !lost)
		track->base += flac_track_place(track, &first);
	return error;
}

/* Learns from the first frame what the stream is, and stages it. */
static int
find_first(struct ogg_flac *flac)
{
	bool lost = false;

	for (;;) {
		struct ogg_piece piece;
		int error = ogg_link_next(&flac->link, &piece);

		if (error < 0)
			return error;
		if (piece.length == 0 || piece.bytes[0] != FRAME_FIRST_BYTE)
			continue;
		lost = lost || piece.damage;
		error = start_track(flac, &piece, lost);
		if (error == 0)
			(void)try_packet(flac, &piece);
		if (error != -EAGAIN)
			return error;
		lost = true;
	}
}

/* What the file's end tells: the length, where STREAMINFO doesn't. */
static int
measure(struct ogg_flac *flac)
{
	struct decoder_info *info = &flac->track.info;
	struct ogg_link *link = &flac->link;
	int64_t granule = -1;
	int error = ogg_link_find_end(link);

	if (error == 0 && info->frames == 0)
		error = ogg_link_last_granule(link, &granule);
	if (error < 0)
		return error;
	info->chained = link->end < reader_length(link->window.reader);
	if (granule > 0 && (uint64_t)granule > flac->track.base)
		info->frames = (uint64_t)granule - flac->track.base;
	if (link->end != UINT64_MAX && info->frames > 0)
		info->bitrate_bps =
			(uint32_t)((double)(link->end - link->data) * 8 *
				   info->spec.rate_hz / (double)info->frames);
	return 0;
}

/* Goes to the page at offset; frame is the next one given. */
static int
go_to(struct ogg_flac *flac, uint64_t offset, uint64_t frame)
{
	const int error = ogg_link_restart(&flac->link, offset);

	if (error < 0)
		return error;
	flac_track_move(&flac->track, frame);
	flac->lost = false;
	flac->ended = false;
	flac->good_offset = offset;
	flac->final = DECODE_OK;
	return 0;
}

static int
start(struct ogg_flac *flac, struct reader *reader)
{
	struct ogg_link *link = &flac->link;
	int error = ogg_link_open(link, flac->allocator, reader, is_ours);
	const struct flac_frame largest = {
		.block_frames = FLAC_BLOCK_MAX / 8, .channels = 2, .bits = 16};

	if (error == 0)
		error = read_headers(flac);
	if (error == 0)
		error = flac_core_create(flac->allocator, &flac->track.stream,
					 &flac->track.core);
	if (error == 0)
		error = ogg_link_reserve(
			link, flac_track_frame_bound(&flac->track, &largest));
	if (error == 0)
		error = find_first(flac);
	if (error < 0 || !reader_can_seek(reader))
		return error;
	error = measure(flac);
	if (error == 0)
		error = go_to(flac, link->data, 0);
	/* What comes before the first frame is silence. */
	flac->track.end = 0;
	flac->track.placed = true;
	return error;
}

static void
destroy(struct decoder *decoder)
{
	struct ogg_flac *flac = (struct ogg_flac *)decoder;

	if (flac == NULL)
		return;
	flac_track_finish(&flac->track);
	comments_finish(&flac->comments);
	ogg_link_finish(&flac->link);
	allocator_delete(flac->allocator, flac);
}

static int
open(struct allocator *allocator, struct reader *reader,
     struct decoder **ret_decoder)
{
	struct ogg_flac *flac = allocator_new(allocator, sizeof(*flac));
	int error = 0;

	if (flac == NULL)
		return -ENOMEM;
	flac->base.ops = &decoder_ogg_flac;
	flac->allocator = allocator;
	flac->track.allocator = allocator;
	comments_init(&flac->comments, allocator);
	error = start(flac, reader);
	if (error < 0) {
		destroy(&flac->base);
		return error;
	}
	*ret_decoder = &flac->base;
	return 0;
}

static enum ogg_status
next_block(struct ogg_flac *flac)
{
	enum ogg_status status = OGG_AGAIN;
	int tries = 0;

	for (int step = 0; step < STEPS_MAX && tries < TRIES_MAX; step++) {
		struct ogg_piece piece;

		status = ogg_link_packet(&flac->link, &piece);
		if (status == OGG_AGAIN)
			continue;
		if (status != OGG_PACKET)
			return status;
		tries++;
		flac->ended = flac->ended || piece.last;
		switch (try_packet(flac, &piece)) {
		case FLAC_TRACK_OK:
			return OGG_PACKET;
		case FLAC_TRACK_CHANGED:
		case FLAC_TRACK_MEMORY:
			return OGG_ERROR;
		default:
			break;
		}
		status = OGG_AGAIN;
	}
	return status;
}

static void
end(struct ogg_flac *flac, enum decode_status final)
{
	const uint64_t offset = flac->link.window.offset;

	flac_track_tail(&flac->track,
			flac->lost ? offset - flac->good_offset : 0,
			offset - flac->link.data, !flac->ended);
	flac->track.info.link_offset = offset;
	flac->final = final;
}

static enum decode_status
decode(struct decoder *decoder, void *ret_samples, size_t capacity,
       size_t *ret_frames)
{
	struct ogg_flac *flac = (struct ogg_flac *)decoder;
	enum ogg_status status;

	*ret_frames = flac_track_take(&flac->track, ret_samples, capacity);
	if (*ret_frames > 0)
		return DECODE_OK;
	if (flac->final != DECODE_OK)
		return flac->final;
	stage_aim(&flac->track.stage, ret_samples, capacity);
	status = next_block(flac);
	stage_aim(&flac->track.stage, NULL, 0);
	switch (status) {
	case OGG_STARVED:
		return DECODE_STARVED;
	case OGG_END:
		end(flac, DECODE_END);
		break;
	case OGG_NEXT_LINK:
		end(flac, DECODE_LINK);
		break;
	case OGG_ERROR:
		flac->final = DECODE_ERROR;
		break;
	case OGG_PACKET:
	case OGG_AGAIN:
		break;
	}
	*ret_frames = flac_track_take(&flac->track, ret_samples, capacity);
	return *ret_frames > 0 ? DECODE_OK : flac->final;
}

static int
seek(struct decoder *decoder, uint64_t frame)
{
	struct ogg_flac *flac = (struct ogg_flac *)decoder;
	const uint64_t total = flac->track.info.frames;
	uint64_t offset = 0;
	int error = 0;

	if ((total > 0 && frame >= total) ||
	    frame > INT64_MAX - flac->track.base) {
		flac_track_move(&flac->track, frame);
		flac->final = DECODE_END;
		return 0;
	}
	error = ogg_link_search(&flac->link,
				(int64_t)(frame + flac->track.base), &offset);
	if (error == -ENODATA) {
		offset = flac->link.data;
		error = 0;
	}
	return error < 0 ? error : go_to(flac, offset, frame);
}

static const struct decoder_info *
info(const struct decoder *decoder)
{
	return &((const struct ogg_flac *)decoder)->track.info;
}

static int
tags(struct decoder *decoder, decoder_tag_fn *tag, void *context)
{
	comments_each(&((struct ogg_flac *)decoder)->comments, tag, context);
	return 0;
}

static const char *const suffixes[] = {"oga", "ogg", NULL};
static const char *const mime_types[] = {"audio/ogg", NULL};

const struct decoder_ops decoder_ogg_flac = {
	.name = "ogg flac",
	.suffixes = suffixes,
	.mime_types = mime_types,
	.rt = true,
	.probe = probe,
	.open = open,
	.info = info,
	.tags = tags,
	.decode = decode,
	.seek = seek,
	.destroy = destroy,
};

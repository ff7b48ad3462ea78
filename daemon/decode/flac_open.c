/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac_open.c - from the first byte to the first good frame.
 *
 *   [ID3v2]... "fLaC" block... frame...     or, bare:     frame...
 *
 * The metadata blocks are read here: STREAMINFO wherever it stands, comments,
 * and nothing else; pictures, padding and the rest are jumped over. Where the
 * chain of blocks breaks (a length that leads nowhere), or there is none, the
 * first frame is searched for, from the last block on. Open succeeds only if
 * there is a good frame: a file without sound fails here, not when it should be
 * heard.
 * The frames' own words win over STREAMINFO's. */
#include "daemon/decode/flac.h"

#include "daemon/decode/id3.h"
#include "lib/base/alloc.h"

#include <errno.h>
#include <string.h>

enum {
	BLOCK_HEAD_BYTES = 4,
	BLOCK_STREAM_INFO = 0,
	BLOCK_COMMENTS = 4,
	BLOCK_KNOWN_MAX = 6,
	BLOCKS_MAX = 4096,
	ID3_TAGS_MAX = 8,
	LEAD_BYTES_MAX = 16 << 10,  /* of something before "fLaC" */
	SEARCH_BYTES_MAX = 4 << 20, /* for the first frame */
};

/* 0 when length bytes can be seen, -ENODATA when the file ends before. */
static int
see(struct window *window, size_t length)
{
	while (window_length(window) < length) {
		switch (window_more(window)) {
		case READER_OK:
			break;
		case READER_ERROR:
			return reader_error(window->reader);
		default:
			return -ENODATA;
		}
	}
	return 0;
}

static int
skip_id3(struct window *window)
{
	for (int tag = 0; tag < ID3_TAGS_MAX; tag++) {
		const int error = see(window, ID3_HEAD_BYTES);
		uint64_t length = 0;

		if (error < 0)
			return error == -ENODATA ? 0 : error;
		length = id3_tag_bytes(window_bytes(window),
				       window_length(window));
		if (length == 0)
			return 0;
		if (window_seek(window, window->offset + length) < 0)
			return -EINVAL;
	}
	return 0;
}

static int
read_stream_info(struct flac *flac, uint32_t length)
{
	int error = 0;

	if (length < FLAC_STREAM_INFO_BYTES)
		return 0;
	error = see(&flac->window, FLAC_STREAM_INFO_BYTES);
	if (error == 0 && !flac->track.has_stream)
		flac->track.has_stream = flac_stream_info_parse(
			window_bytes(&flac->window), &flac->track.stream);
	return error;
}

static int
read_comments(struct flac *flac, uint32_t length)
{
	comments_begin(&flac->comments);
	while (length > 0) {
		size_t count = window_length(&flac->window);
		int error = 0;

		if (count > length)
			count = length;
		comments_feed(&flac->comments, window_bytes(&flac->window),
			      count);
		window_drop(&flac->window, count);
		length -= (uint32_t)count;
		error = length > 0 ? see(&flac->window, 1) : 0;
		if (error < 0)
			return error;
	}
	return 0;
}

/* Reads the block chain behind "fLaC", as far as it is sane. */
static int
read_blocks(struct flac *flac)
{
	struct window *window = &flac->window;
	const uint64_t file_length = reader_length(window->reader);

	for (int block = 0; block < BLOCKS_MAX; block++) {
		const uint64_t at = window->offset;
		int error = see(window, BLOCK_HEAD_BYTES);
		const uint8_t *head = window_bytes(window);
		uint32_t length = 0;
		int type = 0;
		bool last = false;

		if (error < 0)
			return error;
		type = head[0] & 0x7f;
		last = (head[0] & 0x80) != 0;
		length = (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 |
			 head[3];
		if (type > BLOCK_KNOWN_MAX ||
		    at + BLOCK_HEAD_BYTES + length > file_length)
			return 0;
		window_drop(window, BLOCK_HEAD_BYTES);
		flac->block_offset = window->offset;
		if (type == BLOCK_STREAM_INFO)
			error = read_stream_info(flac, length);
		else if (type == BLOCK_COMMENTS)
			error = read_comments(flac, length);
		if (error == 0)
			error = window_seek(window,
					    at + BLOCK_HEAD_BYTES + length);
		if (error < 0 || last)
			return error;
	}
	return 0;
}

/* The header behind the frame in hand, if there is one that fits. */
static bool
peek_second(const struct flac *flac, size_t used_bytes,
	    const struct flac_frame *first, struct flac_frame *ret_second)
{
	const struct window *window = &flac->window;

	return flac_frame_parse(window_bytes(window) + used_bytes,
				window_length(window) - used_bytes,
				ret_second) == FLAC_PARSE_OK &&
	       ret_second->channels == first->channels;
}

/* What the frame in hand decodes to. Between two headers its own checksum tells
 * that it is good, and the headers the rest. */
static enum flac_core_status
look_at_block(struct flac *flac, const struct flac_frame *frame, size_t length,
	      struct flac_block *ret_block)
{
	const uint8_t *bytes = window_bytes(&flac->window);
	const struct flac_stream_info *stream = &flac->track.stream;
	struct stage nowhere = {0};

	if (length == window_length(&flac->window) ||
	    !flac_frame_is_whole(bytes, length))
		return flac_core_decode(flac->track.core, bytes, length,
					&nowhere, ret_block);
	*ret_block = (struct flac_block){
		.frames = frame->block_frames,
		.rate_hz =
			frame->rate_hz != 0 ? frame->rate_hz : stream->rate_hz,
		.channels = frame->channels,
		.bits = frame->bits != 0 ? frame->bits : stream->bits,
		.used_bytes = length,
	};
	return FLAC_CORE_OK;
}

/* Tries the frame in hand as the first. 0: it is; -EAGAIN: look further. */
static int
try_first(struct flac *flac, const struct flac_frame *frame, size_t length)
{
	struct flac_track *track = &flac->track;
	struct flac_frame second;
	struct flac_block block;
	bool has_second = false;
	int error = 0;

	if (!track->has_stream && (frame->rate_hz == 0 || frame->bits == 0)) {
		flac_frame_was_bad(flac, length);
		return -EAGAIN;
	}
	switch (look_at_block(flac, frame, length, &block)) {
	case FLAC_CORE_SHORT:
		flac_frame_was_short(flac, frame, length);
		return -EAGAIN;
	case FLAC_CORE_DAMAGED:
		flac_frame_was_bad(flac, length);
		return -EAGAIN;
	case FLAC_CORE_MEMORY:
		return -ENOMEM;
	case FLAC_CORE_OK:
		break;
	}
	has_second = peek_second(flac, block.used_bytes, frame, &second);
	error = flac_track_start(track, frame, &block,
				 has_second ? &second : NULL);
	/* A recording of a broadcast begins with any number. */
	if (error == 0 && track->info.frames == 0 && flac->lost_bytes == 0)
		track->base += flac_track_place(track, frame);
	return error;
}

static int
find_first(struct flac *flac)
{
	while (flac->lost_bytes <= SEARCH_BYTES_MAX) {
		struct flac_frame frame;
		size_t length = 0;
		int error = 0;

		switch (flac_find_frame(flac, &frame, &length)) {
		case FLAC_FIND_FRAME:
			error = try_first(flac, &frame, length);
			if (error != -EAGAIN)
				return error;
			break;
		case FLAC_FIND_AGAIN:
			break;
		case FLAC_FIND_ERROR:
			return reader_error(flac->window.reader);
		default:
			return -ENODATA;
		}
	}
	return -ENODATA;
}

static int
start_core(struct flac *flac)
{
	static const struct flac_stream_info unknown = {
		.rate_hz = 44100, .channels = 2, .bits = 16};
	const struct flac_track *track = &flac->track;

	return flac_core_create(flac->allocator,
				track->has_stream ? &track->stream : &unknown,
				&flac->track.core);
}

static void
estimate_bitrate(struct flac *flac)
{
	struct decoder_info *info = &flac->track.info;
	const uint64_t length = reader_length(flac->window.reader);

	if (info->frames > 0 && length != UINT64_MAX &&
	    length > flac->audio_offset)
		info->bitrate_bps =
			(uint32_t)((double)(length - flac->audio_offset) * 8 *
				   info->spec.rate_hz / (double)info->frames);
}

/* Reads the metadata, also behind a little that is none; a file that begins
 * with a frame has none. */
static int
read_head(struct flac *flac)
{
	struct window *window = &flac->window;
	struct flac_frame frame;
	const uint8_t *magic = NULL;
	size_t lead = 0;
	int error = skip_id3(window);

	if (error < 0)
		return error;
	error = see(window, LEAD_BYTES_MAX);
	if (error < 0 && error != -ENODATA)
		return error;
	magic = memmem(window_bytes(window), window_length(window), "fLaC", 4);
	if (magic == NULL)
		return 0;
	lead = (size_t)(magic - window_bytes(window));
	if (lead > 0 &&
	    flac_frame_parse(window_bytes(window), window_length(window),
			     &frame) == FLAC_PARSE_OK)
		return 0;
	window_drop(window, lead + 4);
	return read_blocks(flac);
}

/* Goes to where the first frame should be. If none is there, a length in the
 * chain of blocks was wrong, and it is looked for in the last block too. */
static int
go_to_audio(struct flac *flac)
{
	struct window *window = &flac->window;
	struct flac_frame frame;

	(void)see(window, FLAC_FRAME_HEADER_MAX);
	if (flac_frame_parse(window_bytes(window), window_length(window),
			     &frame) == FLAC_PARSE_OK ||
	    flac->block_offset == 0 || !reader_can_seek(window->reader))
		return 0;
	return window_seek(window, flac->block_offset);
}

/* Room for the largest frame, if the header tells that it is a large one. */
static int
make_room(struct flac *flac)
{
	const struct flac_stream_info *stream = &flac->track.stream;
	const struct flac_frame largest = {.block_frames = stream->block_max,
					   .channels = stream->channels,
					   .bits = stream->bits};
	size_t bytes = flac_track_frame_bound(&flac->track, &largest);

	if (stream->frame_bytes_max > 0 && stream->frame_bytes_max < bytes)
		bytes = stream->frame_bytes_max;
	bytes += FLAC_WINDOW_BYTES / 2;
	if (!flac->track.has_stream || bytes <= FLAC_WINDOW_BYTES)
		return 0;
	return window_grow(&flac->window, bytes);
}

static int
start(struct flac *flac, struct reader *reader)
{
	int error = window_init(&flac->window, flac->allocator, reader,
				FLAC_WINDOW_BYTES);

	if (error == 0)
		error = read_head(flac);
	if (error == 0)
		error = make_room(flac);
	if (error == 0)
		error = start_core(flac);
	if (error == 0)
		error = go_to_audio(flac);
	if (error < 0)
		return error;
	flac->audio_offset = flac->window.offset;
	error = find_first(flac);
	if (error == 0)
		estimate_bitrate(flac);
	return error;
}

int
flac_open(struct allocator *allocator, struct reader *reader,
	  struct decoder **ret_decoder)
{
	struct flac *flac = allocator_new(allocator, sizeof(*flac));
	int error = 0;

	if (flac == NULL)
		return -ENOMEM;
	flac->base.ops = &decoder_flac;
	flac->allocator = allocator;
	flac->track.allocator = allocator;
	comments_init(&flac->comments, allocator);
	error = start(flac, reader);
	if (error < 0) {
		flac_destroy(&flac->base);
		return error;
	}
	*ret_decoder = &flac->base;
	return 0;
}

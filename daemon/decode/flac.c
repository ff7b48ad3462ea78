/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac.c - native FLAC: from bytes to frames.
 *
 * Each step looks at the window: is S a header, where is the next one, is what
 * lies between a frame. One step decodes at most one frame and passes over at
 * most a few pieces of damage, then returns, also with nothing: whoever calls
 * a decoder must not be held up by a broken file.
 *
 * Damage is dropped up to the next header; the numbers in the headers behind
 * it tell how much time was lost, and the track fills it. A frame of another
 * rate or shape is the begin of another stream: DECODE_LINK, and flac_open()
 * can begin at a bare frame. So is a second "fLaC" behind the last frame. */
#include "daemon/decode/flac.h"

#include "lib/base/alloc.h"

#include <errno.h>
#include <string.h>

enum {
	STEPS_MAX = 32, /* pieces of damage passed over in one call */
	TRIES_MAX = 4,  /* frames tried in one call */
	STREAM_HEAD_BYTES = 8,
	PROBE_OF_FRAME = 60, /* bare frames; other formats look alike */
};

/* Sees more bytes, or says why there are none. */
static enum flac_find
see_more(struct flac *flac)
{
	switch (window_more(&flac->window)) {
	case READER_OK:
		return FLAC_FIND_AGAIN;
	case READER_STARVED:
		return FLAC_FIND_STARVED;
	case READER_EOF:
		flac->at_end = true;
		return FLAC_FIND_AGAIN;
	case READER_ERROR:
		break;
	}
	return FLAC_FIND_ERROR;
}

static void
forget_next(struct flac *flac)
{
	flac->looked = 0;
	flac->first_next = 0;
}

static void
lose(struct flac *flac, size_t length)
{
	flac->lost_bytes += length;
	window_drop(&flac->window, length);
	forget_next(flac);
}

/* "fLaC" and a STREAMINFO, right behind a good frame. */
static enum flac_parse
parse_stream_head(const uint8_t *bytes, size_t length)
{
	static const uint8_t head[STREAM_HEAD_BYTES] = {
		'f', 'L', 'a', 'C', 0, 0, 0, FLAC_STREAM_INFO_BYTES};

	for (size_t i = 0; i < STREAM_HEAD_BYTES; i++) {
		if (i == length)
			return FLAC_PARSE_SHORT;
		if (bytes[i] != head[i] && !(i == 4 && bytes[i] == 0x80))
			return FLAC_PARSE_NO;
	}
	return FLAC_PARSE_OK;
}

/* S is no header: passes over what precedes the next one. */
static enum flac_find
pass_damage(struct flac *flac)
{
	struct window *window = &flac->window;
	struct flac_frame frame;
	bool found = false;
	enum flac_parse stream = FLAC_PARSE_NO;

	if (flac->lost_bytes == 0 && flac->window.offset > flac->audio_offset)
		stream = parse_stream_head(window_bytes(window),
					   window_length(window));
	if (stream == FLAC_PARSE_OK)
		return FLAC_FIND_STREAM;
	if (stream == FLAC_PARSE_SHORT && !flac->at_end)
		return see_more(flac);
	lose(flac, flac_frame_find(window_bytes(window), window_length(window),
				   1, &frame, &found));
	return FLAC_FIND_AGAIN;
}

enum flac_find
flac_find_frame(struct flac *flac, struct flac_frame *ret_frame,
		size_t *ret_length)
{
	struct window *window = &flac->window;
	const uint8_t *bytes = window_bytes(window);
	const size_t length = window_length(window);
	struct flac_frame next;
	bool found = false;

	switch (length == 0 ? FLAC_PARSE_SHORT
			    : flac_frame_parse(bytes, length, ret_frame)) {
	case FLAC_PARSE_NO:
		return pass_damage(flac);
	case FLAC_PARSE_SHORT:
		if (!flac->at_end)
			return see_more(flac);
		lose(flac, length);
		return FLAC_FIND_END;
	case FLAC_PARSE_OK:
		break;
	}
	if (flac->looked < FLAC_FRAME_BYTES_MIN)
		flac->looked = FLAC_FRAME_BYTES_MIN;
	flac->looked =
		flac_frame_find(bytes, length, flac->looked, &next, &found);
	if (found) {
		if (flac->first_next == 0)
			flac->first_next = flac->looked;
		*ret_length = flac->looked;
		return FLAC_FIND_FRAME;
	}
	if (!flac->at_end && !window_full(window))
		return see_more(flac);
	*ret_length = length;
	return FLAC_FIND_FRAME;
}

void
flac_frame_was_good(struct flac *flac, size_t used_bytes)
{
	window_drop(&flac->window, used_bytes);
	flac->lost_bytes = 0;
	flac->cut = false;
	forget_next(flac);
}

void
flac_frame_was_bad(struct flac *flac, size_t length)
{
	size_t skip = flac->first_next;

	/* Where no next header was found there is none before `looked`. */
	if (skip == 0)
		skip = flac->looked < length ? flac->looked : length;
	lose(flac, skip);
}

void
flac_frame_was_short(struct flac *flac, const struct flac_frame *frame,
		     size_t length)
{
	struct window *window = &flac->window;
	const size_t bound = flac_track_frame_bound(&flac->track, frame);

	if (length < window_length(window)) {
		flac->looked = length + 1; /* that T was none */
	} else if (flac->at_end) {
		flac->cut = true;
		flac_frame_was_bad(flac, length);
	} else if (window->capacity < bound &&
		   window->capacity < FLAC_WINDOW_BYTES_MAX &&
		   window_grow(window, window->capacity * 2) == 0) {
		/* A header that lied about the largest block. */
		flac->looked = length;
	} else {
		flac_frame_was_bad(flac, length);
	}
}

/* Tries the frame in hand. FLAC_FIND_FRAME: a block is staged. */
static enum flac_find
try_frame(struct flac *flac, const struct flac_frame *frame, size_t length)
{
	size_t used = 0;

	flac->track.unsure = flac->lost_bytes > 0;
	switch (flac_track_frame(&flac->track, frame,
				 window_bytes(&flac->window), length, &used)) {
	case FLAC_TRACK_OK:
		flac_frame_was_good(flac, used);
		return FLAC_FIND_FRAME;
	case FLAC_TRACK_SHORT:
		flac_frame_was_short(flac, frame, length);
		return FLAC_FIND_AGAIN;
	case FLAC_TRACK_DAMAGED:
		flac_frame_was_bad(flac, length);
		return FLAC_FIND_AGAIN;
	case FLAC_TRACK_BEYOND:
		return FLAC_FIND_END;
	case FLAC_TRACK_CHANGED:
		return FLAC_FIND_STREAM;
	case FLAC_TRACK_MEMORY:
		break;
	}
	return FLAC_FIND_ERROR;
}

/* Stages one more block, if a few steps suffice. */
static enum flac_find
next_block(struct flac *flac)
{
	enum flac_find find = FLAC_FIND_AGAIN;
	int tries = 0;

	for (int step = 0; step < STEPS_MAX && tries < TRIES_MAX; step++) {
		struct flac_frame frame;
		size_t length = 0;

		find = flac_find_frame(flac, &frame, &length);
		if (find == FLAC_FIND_FRAME) {
			tries++;
			find = try_frame(flac, &frame, length);
		}
		if (find != FLAC_FIND_AGAIN)
			break;
	}
	return find;
}

static void
end(struct flac *flac)
{
	flac_track_tail(&flac->track, flac->lost_bytes,
			flac->window.offset - flac->audio_offset, flac->cut);
	flac->final = DECODE_END;
}

static enum decode_status
decode(struct decoder *decoder, void *ret_samples, size_t capacity,
       size_t *ret_frames)
{
	struct flac *flac = (struct flac *)decoder;
	enum flac_find find;

	*ret_frames = flac_track_take(&flac->track, ret_samples, capacity);
	if (*ret_frames > 0)
		return DECODE_OK;
	if (flac->final != DECODE_OK)
		return flac->final;
	stage_aim(&flac->track.stage, ret_samples, capacity);
	find = next_block(flac);
	stage_aim(&flac->track.stage, NULL, 0);
	switch (find) {
	case FLAC_FIND_STARVED:
		return DECODE_STARVED;
	case FLAC_FIND_END:
		end(flac);
		break;
	case FLAC_FIND_STREAM:
		flac->track.info.link_offset = flac->window.offset;
		flac->final = DECODE_LINK;
		break;
	case FLAC_FIND_ERROR:
		flac->final = DECODE_ERROR;
		break;
	case FLAC_FIND_FRAME:
	case FLAC_FIND_AGAIN:
		break;
	}
	*ret_frames = flac_track_take(&flac->track, ret_samples, capacity);
	return *ret_frames > 0 ? DECODE_OK : flac->final;
}

int
flac_look_from(struct flac *flac, uint64_t offset)
{
	const int error = window_seek(&flac->window, offset);

	if (error < 0)
		return error;
	flac->at_end = false;
	flac->cut = false;
	flac->lost_bytes = 0;
	flac->final = DECODE_OK;
	forget_next(flac);
	return 0;
}

static int
probe(const uint8_t *head, size_t length)
{
	struct flac_frame frame;

	if (length >= 4 && memcmp(head, "fLaC", 4) == 0)
		return 100;
	return flac_frame_parse(head, length, &frame) == FLAC_PARSE_OK
		       ? PROBE_OF_FRAME
		       : 0;
}

static const struct decoder_info *
info(const struct decoder *decoder)
{
	return &((const struct flac *)decoder)->track.info;
}

static int
tags(struct decoder *decoder, decoder_tag_fn *tag, void *context)
{
	comments_each(&((struct flac *)decoder)->comments, tag, context);
	return 0;
}

void
flac_destroy(struct decoder *decoder)
{
	struct flac *flac = (struct flac *)decoder;

	if (flac == NULL)
		return;
	flac_track_finish(&flac->track);
	comments_finish(&flac->comments);
	window_finish(&flac->window);
	allocator_delete(flac->allocator, flac);
}

static const char *const suffixes[] = {"flac", "fla", NULL};
static const char *const mime_types[] = {"audio/flac", "audio/x-flac", NULL};

const struct decoder_ops decoder_flac = {
	.name = "flac",
	.suffixes = suffixes,
	.mime_types = mime_types,
	.rt = true,
	.probe = probe,
	.open = flac_open,
	.info = info,
	.tags = tags,
	.decode = decode,
	.seek = flac_seek,
	.destroy = flac_destroy,
};

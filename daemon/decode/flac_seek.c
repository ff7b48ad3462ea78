/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac_seek.c - seeking in native FLAC, by the numbers in its frames.
 *
 * A search between two places in the file that hold known frames: look for the
 * first good frame behind a guess, and move the one bound or the other there.
 * Guesses are by proportion, and by halves every other time, so that neither
 * an uneven file nor a lying header makes it slow. Seek tables are not used:
 * they save a few reads of a file and cannot be trusted.
 *
 *   low_offset, low_frame: a good frame at or before the target
 *   high_offset: no frame that begins at or behind it is before the target
 *
 * Then frames are decoded from low_offset and left out up to the target. */
#include "daemon/decode/flac.h"

#include <errno.h>

enum {
	NEAR_BYTES = 32 << 10, /* not worth a guess any more */
	GUESSES_MAX = 64,
};

struct search {
	uint64_t low_offset;
	uint64_t low_frame;
	uint64_t high_offset;
	uint64_t high_frame; /* 0: unknown */
	uint64_t target;
};

/* Finds the first good frame that begins in [from, to). -ENODATA: none. */
static int
find_good(struct flac *flac, uint64_t from, uint64_t to, uint64_t *ret_offset,
	  uint64_t *ret_frame)
{
	struct flac_track *track = &flac->track;
	int error = flac_look_from(flac, from);

	if (error < 0)
		return error;
	track->unsure = false;
	while (flac->window.offset < to) {
		struct flac_frame frame;
		size_t length = 0;
		size_t used = 0;

		switch (flac_find_frame(flac, &frame, &length)) {
		case FLAC_FIND_FRAME:
			break;
		case FLAC_FIND_AGAIN:
			continue;
		case FLAC_FIND_ERROR:
			return reader_error(flac->window.reader);
		default:
			return -ENODATA;
		}
		track->placed = false; /* each place is as good as another */
		switch (flac_track_frame(track, &frame,
					 window_bytes(&flac->window), length,
					 &used)) {
		case FLAC_TRACK_OK:
			*ret_offset = flac->window.offset;
			*ret_frame = flac_track_place(track, &frame);
			return 0;
		case FLAC_TRACK_SHORT:
			flac_frame_was_short(flac, &frame, length);
			break;
		case FLAC_TRACK_DAMAGED:
			flac_frame_was_bad(flac, length);
			break;
		case FLAC_TRACK_BEYOND:
		case FLAC_TRACK_CHANGED:
			return -ENODATA; /* the next stream's */
		case FLAC_TRACK_MEMORY:
			return -ENOMEM;
		}
	}
	return -ENODATA;
}

static uint64_t
guess(const struct search *search, int number)
{
	const uint64_t span = search->high_offset - search->low_offset;
	double part = 0.5;

	if (search->high_frame > search->low_frame && number % 2 == 0)
		part = (double)(search->target - search->low_frame) /
		       (double)(search->high_frame - search->low_frame);
	if (part > 1)
		part = 1;
	/* A little before, since the frame wanted has begun before. */
	part -= NEAR_BYTES * 0.5 / (double)span;
	if (part < 0.01)
		part = 0.01;
	return search->low_offset + (uint64_t)((double)span * part);
}

static int
narrow(struct flac *flac, struct search *search)
{
	for (int number = 0; number < GUESSES_MAX; number++) {
		uint64_t middle = 0;
		uint64_t offset = 0;
		uint64_t frame = 0;
		int error = 0;

		if (search->high_offset - search->low_offset <= NEAR_BYTES)
			break;
		middle = guess(search, number);
		error = find_good(flac, middle, search->high_offset, &offset,
				  &frame);
		if (error < 0 && error != -ENODATA)
			return error;
		if (error == 0 && frame <= search->target) {
			search->low_offset = offset;
			search->low_frame = frame;
		} else {
			search->high_offset = middle;
			if (error == 0)
				search->high_frame = frame;
		}
	}
	return 0;
}

int
flac_seek(struct decoder *decoder, uint64_t frame)
{
	struct flac *flac = (struct flac *)decoder;
	const uint64_t total = flac->track.info.frames;
	struct search search = {
		.low_offset = flac->audio_offset,
		.high_offset = reader_length(flac->window.reader),
		.high_frame = total,
		.target = frame,
	};
	int error = 0;

	if (search.high_offset == UINT64_MAX)
		return -ESPIPE;
	if (total > 0 && frame >= total) {
		flac_track_move(&flac->track, frame);
		flac->final = DECODE_END;
		return 0;
	}
	error = narrow(flac, &search);
	if (error == 0)
		error = flac_look_from(flac, search.low_offset);
	if (error == 0)
		flac_track_move(&flac->track, frame);
	return error;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac_seek.c - seeking in native FLAC, by the numbers in its frames.
 *
 * A search between two places in the file: look for the first good frame behind
 * a guess, and move the one bound or the other there. Guesses are by
 * proportion, and by halves every other time, so that neither an uneven file
 * nor a lying header makes it slow. Once the target is near, frame follows on
 * frame up to the one that holds it. Seek tables are not used: they save a few
 * reads of a file and cannot be trusted.
 *
 *   low: a good frame at or before the target
 *   high_offset: no frame that begins at or behind it is before the target
 *
 * Nothing is decoded for it: between two headers a frame's own checksum tells
 * that it is good. Then the frame at low is decoded, and left out up to the
 * target. */
#include "daemon/decode/flac.h"

#include <errno.h>

enum {
	NEAR_BYTES = 32 << 10, /* not worth a guess any more */
	GUESSES_MAX = 64,
};

/* A good frame. */
struct found {
	uint64_t offset;
	uint64_t next_offset; /* behind it */
	uint64_t frame;       /* its first */
	uint64_t next_frame;
};

struct search {
	struct found low;
	uint64_t high_offset;
	uint64_t high_frame; /* 0: unknown */
	uint64_t target;
};

/* What flac_track_frame() would say of a frame whose checksum fits. */
static enum flac_track_status
judge(const struct flac_track *track, const struct flac_frame *frame)
{
	const struct audio_spec *spec = &track->info.spec;
	const uint32_t rate_hz =
		frame->rate_hz != 0 ? frame->rate_hz : track->stream.rate_hz;

	if (rate_hz != spec->rate_hz || frame->channels != spec->channels)
		return FLAC_TRACK_CHANGED;
	if (track->info.frames > 0 &&
	    flac_track_place(track, frame) >= track->info.frames)
		return FLAC_TRACK_BEYOND;
	return FLAC_TRACK_OK;
}

/* Tries the frame in hand. Where no header is behind it, or its checksum does
 * not fit, libFLAC knows best. */
static enum flac_track_status
try_frame(struct flac *flac, const struct flac_frame *frame, size_t length,
	  size_t *ret_used)
{
	const uint8_t *bytes = window_bytes(&flac->window);

	if (length < window_length(&flac->window) &&
	    flac_frame_is_whole(bytes, length)) {
		*ret_used = length;
		return judge(&flac->track, frame);
	}
	flac->track.placed = false; /* each place is as good as another */
	return flac_track_frame(&flac->track, frame, bytes, length, ret_used);
}

/* Finds the first good frame that begins in [from, to). -ENODATA: none. */
static int
find_good(struct flac *flac, uint64_t from, uint64_t to,
	  struct found *ret_found)
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
		switch (try_frame(flac, &frame, length, &used)) {
		case FLAC_TRACK_OK:
			*ret_found = (struct found){
				.offset = flac->window.offset,
				.next_offset = flac->window.offset + used,
				.frame = flac_track_place(track, &frame),
			};
			ret_found->next_frame =
				ret_found->frame + frame.block_frames;
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
	const struct found *low = &search->low;
	const uint64_t span = search->high_offset - low->offset;
	double part = 0.5;

	if (search->high_frame > low->frame && number % 2 == 0)
		part = (double)(search->target - low->frame) /
		       (double)(search->high_frame - low->frame);
	if (part > 1)
		part = 1;
	/* A little before, since the frame wanted has begun before. */
	part -= NEAR_BYTES * 0.5 / (double)span;
	if (part < 0.01)
		part = 0.01;
	return low->offset + (uint64_t)((double)span * part);
}

static bool
is_there(const struct search *search)
{
	return search->target < search->low.next_frame;
}

/* Whether the target is near, if what lies between is like the frame at low. */
static bool
seems_near(const struct search *search)
{
	const struct found *low = &search->low;
	const double bytes = (double)(low->next_offset - low->offset);
	const double frames = (double)(low->next_frame - low->frame);

	return (double)(search->target - low->frame) * bytes <=
	       frames * NEAR_BYTES;
}

/* On from low, frame by frame, as far as it is near. */
static int
walk(struct flac *flac, struct search *search)
{
	const uint64_t end = search->low.offset + UINT64_C(2) * NEAR_BYTES;
	struct found found = {0};

	while (!is_there(search) && search->low.offset < end) {
		const int error = find_good(flac, search->low.next_offset,
					    search->high_offset, &found);

		if (error == -ENODATA ||
		    (error == 0 && found.frame > search->target))
			return 0;
		if (error < 0)
			return error;
		search->low = found;
	}
	return 0;
}

static int
narrow(struct flac *flac, struct search *search)
{
	for (int number = 0; number < GUESSES_MAX; number++) {
		uint64_t middle = 0;
		struct found found = {0};
		int error = 0;

		if (search->high_offset - search->low.offset <= NEAR_BYTES)
			break;
		middle = guess(search, number);
		error = find_good(flac, middle, search->high_offset, &found);
		if (error < 0 && error != -ENODATA)
			return error;
		if (error == 0 && found.frame <= search->target) {
			search->low = found;
			error = seems_near(search) ? walk(flac, search) : 0;
		} else {
			search->high_offset = middle;
			if (error == 0)
				search->high_frame = found.frame;
			error = 0;
		}
		if (error < 0 || is_there(search))
			return error;
	}
	return walk(flac, search);
}

int
flac_seek(struct decoder *decoder, uint64_t frame)
{
	struct flac *flac = (struct flac *)decoder;
	const uint64_t total = flac->track.info.frames;
	struct search search = {
		.low = {.offset = flac->audio_offset,
			.next_offset = flac->audio_offset},
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
		error = flac_look_from(flac, search.low.offset);
	if (error == 0)
		flac_track_move(&flac->track, frame);
	return error;
}

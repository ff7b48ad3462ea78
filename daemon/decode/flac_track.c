/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac_track.c - numbers into places.
 *
 * A frame's header says its number. Encoders disagree about what is counted:
 * frames of a fixed size, or samples (also where the header says otherwise, in
 * files of old encoders), and STREAMINFO may be wrong about the size. So the
 * first two frames decide, since their distance tells.
 *
 * A number ahead of its place is a gap and filled with silence; one behind is
 * ignored, and the frame goes where it comes, unless damage lies before it.
 * Where STREAMINFO tells a length, that is how long the track is. A
 * gap larger than the header allows is no gap but nonsense, and ignored as
 * well. */
#include "daemon/decode/flac_track.h"

#include <assert.h>
#include <errno.h>

enum {
	GAP_MAX_S = 60,      /* where the header doesn't tell the length */
	TAIL_BLOCKS_CUT = 1, /* what a cut may have taken of the last frame */
};

static void
choose_numbering(struct flac_track *track, const struct flac_frame *first,
		 const struct flac_frame *second)
{
	const struct flac_stream_info *stream = &track->stream;
	const bool fixed =
		track->has_stream && stream->block_min == stream->block_max;

	track->fixed_block = fixed ? stream->block_max : first->block_frames;
	track->numbering = first->variable || (track->has_stream && !fixed)
				   ? FLAC_NUMBERS_SAMPLES
				   : FLAC_NUMBERS_FRAMES;
	if (first->variable || second == NULL || first->block_frames == 1)
		return;
	if (second->number == first->number + 1) {
		track->numbering = FLAC_NUMBERS_FRAMES;
		track->fixed_block = first->block_frames;
	} else if (second->number == first->number + first->block_frames) {
		track->numbering = FLAC_NUMBERS_SAMPLES;
	}
}

int
flac_track_start(struct flac_track *track, const struct flac_frame *first,
		 const struct flac_block *block,
		 const struct flac_frame *second)
{
	const struct flac_stream_info *stream = &track->stream;
	size_t capacity = block->frames;

	track->info.spec = (struct audio_spec){
		.rate_hz = block->rate_hz,
		.channels = block->channels,
		.kind = SAMPLE_S32,
		.bits = block->bits,
	};
	if (!audio_spec_valid(&track->info.spec))
		return -ENOTSUP;
	if (track->has_stream) {
		track->info.frames = stream->frames;
		if (stream->block_max > capacity)
			capacity = stream->block_max;
	}
	choose_numbering(track, first, second);
	track->base = 0;
	if (!track->has_stream)
		track->base = flac_track_place(track, first);
	track->end = 0;
	track->placed = true;
	return stage_init(&track->stage, track->allocator, block->channels,
			  capacity);
}

void
flac_track_finish(struct flac_track *track)
{
	flac_core_destroy(track->core);
	stage_finish(&track->stage);
}

RT_SAFE uint64_t
flac_track_place(const struct flac_track *track, const struct flac_frame *frame)
{
	uint64_t place = frame->number;

	if (!frame->variable && track->numbering == FLAC_NUMBERS_FRAMES)
		place *= track->fixed_block;
	return place > track->base ? place - track->base : 0;
}

/* The largest gap that may come before a block of frames. */
static RT_SAFE uint64_t
gap_max(const struct flac_track *track, uint64_t frames)
{
	const uint64_t total = track->info.frames;

	if (total == 0)
		return (uint64_t)track->info.spec.rate_hz * GAP_MAX_S;
	return total > track->end + frames ? total - track->end - frames : 0;
}

/* False when the block lies behind the end that the header tells. */
static RT_SAFE bool
put_block(struct flac_track *track, uint64_t place, uint32_t frames)
{
	const uint64_t total = track->info.frames;

	if (!track->placed) {
		track->placed = true;
		track->end = place;
	}
	/* Behind damage, what was heard already is a stray and left out. */
	if (track->unsure && place < track->end) {
		stage_put(&track->stage, place, frames);
		if (place + frames > track->end)
			track->end = place + frames;
		return true;
	}
	if (place < track->end || place - track->end > gap_max(track, frames))
		place = track->end;
	if (total > 0 && place >= total)
		return false;
	if (total > 0 && place + frames > total)
		frames = (uint32_t)(total - place);
	stage_put(&track->stage, place, frames);
	track->end = place + frames;
	return true;
}

enum flac_track_status
flac_track_frame(struct flac_track *track, const struct flac_frame *frame,
		 const uint8_t *bytes, size_t length, size_t *ret_used_bytes)
{
	struct audio_spec *spec = &track->info.spec;
	struct flac_block block;

	switch (flac_core_decode(track->core, bytes, length, &track->stage,
				 &block)) {
	case FLAC_CORE_OK:
		break;
	case FLAC_CORE_SHORT:
		return FLAC_TRACK_SHORT;
	case FLAC_CORE_DAMAGED:
		return FLAC_TRACK_DAMAGED;
	case FLAC_CORE_MEMORY:
		return FLAC_TRACK_MEMORY;
	}
	if (block.rate_hz != spec->rate_hz || block.channels != spec->channels)
		return FLAC_TRACK_CHANGED;
	/* Wider samples need nothing but a word to whoever asks. */
	if (block.bits > spec->bits)
		spec->bits = block.bits;
	*ret_used_bytes = block.used_bytes;
	return put_block(track, flac_track_place(track, frame), block.frames)
		       ? FLAC_TRACK_OK
		       : FLAC_TRACK_BEYOND;
}

RT_SAFE size_t
flac_track_take(struct flac_track *track, void *ret_samples, size_t capacity)
{
	const size_t count = stage_take(&track->stage, ret_samples, capacity);

	track->info.gap_frames = track->stage.gap_frames;
	return count;
}

RT_SAFE void
flac_track_move(struct flac_track *track, uint64_t position)
{
	stage_move(&track->stage, position);
	track->placed = false;
}

RT_SAFE void
flac_track_tail(struct flac_track *track, uint64_t lost_bytes,
		uint64_t audio_bytes, bool cut)
{
	const uint64_t total = track->info.frames;
	uint64_t missing = 0;
	uint64_t allowed = (uint64_t)TAIL_BLOCKS_CUT * track->stage.capacity;

	if (!track->placed || total <= track->end || lost_bytes == 0 ||
	    audio_bytes == 0)
		return;
	missing = total - track->end;
	if (!cut) /* twice what so many bytes hold on average */
		allowed += (uint64_t)((double)total * 2 * (double)lost_bytes /
				      (double)audio_bytes);
	if (missing > allowed)
		return;
	stage_put(&track->stage, total, 0);
	track->end = total;
}

RT_SAFE size_t
flac_track_frame_bound(const struct flac_track *track,
		       const struct flac_frame *frame)
{
	const size_t bits = frame->bits != 0    ? frame->bits
			    : track->has_stream ? track->stream.bits
						: 32;
	const size_t verbatim =
		frame->channels * ((bits + 1) * frame->block_frames / 8 + 16);

	return verbatim + verbatim / 4 + FLAC_FRAME_HEADER_MAX;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deck.h - what a lane gives to the output thread: a mix ring and the list of
 * the stretches in it.
 *
 * A lane has two decks. It fills one; when the plan cuts to something else it
 * fills the other, and the output thread crosses over from the old to the new.
 * So nothing that is still to be heard, or may be heard again after a rewind,
 * is ever overwritten.
 *
 *   FREE -(lane: deck_begin)-> FILLING -(output: deck_release)-> FREE
 *
 * A cut to nothing (stop) is a deck that was ended without a frame: what was
 * heard fades out.
 *
 * The frames of a deck count from 0 at its beginning, at the card's rate and
 * channels. A stretch is a run of frames from one stream in one sample kind;
 * stretches are appended in order before their first frame is committed.
 * Threads: lane = the decoder thread that holds the lane's claim; output = the
 * output thread; decks are set up when neither runs. RT: all RT_SAFE but
 * deck_init. */
#ifndef ROTARY_OUTPUT_DECK_H
#define ROTARY_OUTPUT_DECK_H

#include "daemon/audio/format.h"
#include "lib/base/attr.h"
#include "lib/sync/pcm_ring.h"

#include <stdbool.h>

enum { DECK_STRETCHES = 256, LANE_DECKS = 2 };

enum deck_state { DECK_FREE, DECK_FILLING };

struct deck_stretch {
	uint64_t first_frame; /* of the deck */
	uint64_t stream_id;
	uint64_t stream_frame; /* at first_frame, at the stream's rate */
	uint32_t stream_rate_hz;
	uint32_t kind;    /* enum sample_kind of these frames */
	uint32_t bits;    /* significant bits when SAMPLE_S32 */
	uint32_t exact;   /* 1: frames are the decoder's own, not resampled,
			     mixed or mapped */
	uint32_t boosted; /* 1: made louder than it was, by a gain or as a sum
			     of several: look out for its peaks */
};

struct deck {
	struct pcm_ring ring;
	ATOMIC(uint32_t) state; /* enum deck_state */
	ATOMIC(uint64_t) cut;   /* the plan's cut that it holds */
	/* single writer lane, single reader output, like the ring itself */
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) stretches_written;
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) stretches_dropped; /* by output */
	struct deck_stretch stretches[DECK_STRETCHES];
};

/* The history that a deck needs so that the output thread can take back all
 * that a card of this buffer holds, and stand still after a fade. */
size_t deck_history_frames(uint32_t buffer_frames, uint32_t rate_hz);
void deck_init(struct deck *deck, void *buffer, size_t capacity_frames,
	       uint32_t channels, size_t history_frames);

/* Lane. Takes a FREE deck for this cut. */
RT_SAFE bool deck_begin(struct deck *deck, uint64_t cut);
/* False when the list is full: wait as for a full ring. */
RT_SAFE bool deck_add_stretch(struct deck *deck,
			      const struct deck_stretch *stretch);

/* Output. */
RT_SAFE void deck_release(struct deck *deck);
/* The stretch that frame lies in and, unless it is open-ended, where the next
 * begins (UINT64_MAX). False before the first. */
RT_SAFE bool deck_stretch_at(const struct deck *deck, uint64_t frame,
			     struct deck_stretch *ret_stretch,
			     uint64_t *ret_next_frame);
enum deck_end {
	DECK_END_KNOWN, /* *ret_end is set */
	DECK_END_OPEN,  /* the stream goes on; nobody knows yet */
	DECK_END_NONE,  /* no frame of it at or after frame */
};
/* Where the stream ends on this deck, looked for from frame on. */
RT_SAFE enum deck_end deck_stream_end(const struct deck *deck, uint64_t frame,
				      uint64_t stream_id, uint64_t *ret_end);
/* Stretches that end at or before frame are not asked for again. */
RT_SAFE void deck_drop_stretches(struct deck *deck, uint64_t frame);

#endif

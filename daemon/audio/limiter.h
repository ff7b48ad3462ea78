/* SPDX-License-Identifier: GPL-3.0-or-later */
/* limiter.h - the gain that keeps a sum under full scale.
 *
 * It is fed the sums of frames before these are to be heard, and tells a gain
 * for each: 1, exactly, wherever all is well. Time is cut into cells, counted
 * from frame 0; each has a gain that its loudest place needs. From a cell to
 * the next it rises at a steady pace at most; down it goes ahead of time:
 *
 *   cells      1    1    1    1   .6    .6+  .6++  ... 1    (+ : what it rises)
 *   gain       1    1 \              / slowly up      1
 *                      `-------.6---'
 *
 * So it is a function of the frames' numbers and what they hold, and not of how
 * it was called. What must be mixed anew is fed anew: limiter_renew().
 *
 * Threads: one. RT: all RT_SAFE. Units: frames. */
#ifndef ROTARY_AUDIO_LIMITER_H
#define ROTARY_AUDIO_LIMITER_H

#include "daemon/audio/format.h"
#include "daemon/audio/true_peak.h"
#include "lib/base/attr.h"

#include <stdbool.h>

enum {
	LIMITER_CELLS = 16384, /* that are remembered: over 10 s */
	LIMITER_ATTACK_CELLS = 3,
	LIMITER_FEED_FRAMES = 256, /* at most, at a time */
	/* What is kept of the frames fed: what the peaks need, and as much as
	 * is fed ahead, so that after most renewals those before are there. */
	LIMITER_TAIL_FRAMES = 576,
};

enum limiter_watch {
	LIMITER_NOTHING, /* the frames cannot be too loud, whatever they are */
	LIMITER_SAMPLES, /* a sample past full scale is too loud */
	LIMITER_PEAKS,   /* so is the wave between samples */
};

struct limiter {
	/* immutable after init */
	uint32_t channels;
	uint32_t cell_frames; /* a power of two */
	float rise;           /* of the gain, from a cell to the next */
	/* state */
	uint64_t fed;             /* frames before this one were fed */
	uint64_t judged;          /* and before this one are in a cell's gain */
	uint64_t watched;         /* and from this one on all are silent */
	enum limiter_watch watch; /* for those before */
	uint64_t low_end;   /* no cell from this one on has a gain under 1 */
	uint64_t kept_from; /* cells in [kept_from, kept_to] have a gain from */
	uint64_t kept_to;   /* before, which can only fall */
	float cell;         /* gain that the cell of judged needs so far */
	float gains[LIMITER_CELLS]; /* by number modulo LIMITER_CELLS */
	/* the last frames fed, and the new ones behind them */
	uint32_t tail_frames;
	float frames[(LIMITER_TAIL_FRAMES + LIMITER_FEED_FRAMES) *
		     AUDIO_CHANNELS_MAX];
};

RT_SAFE void limiter_init(struct limiter *limiter, uint32_t rate_hz,
			  uint32_t channels);
/* How far ahead of a frame it must be fed to tell that frame's gain. */
RT_SAFE uint32_t limiter_reach(const struct limiter *limiter);
/* The frames from limiter->fed on; sums is not asked for where nothing is
 * watched for. Up to LIMITER_FEED_FRAMES. */
RT_SAFE void limiter_feed(struct limiter *limiter, enum limiter_watch watch,
			  const float *sums, size_t frames);
/* Frames from this one on will be, or will become, others than were fed. Any
 * between those and this one are silent. */
RT_SAFE void limiter_renew(struct limiter *limiter, uint64_t frame);

/* How many frames from first on, up to frames, have a gain of exactly 1. */
RT_SAFE size_t limiter_idle(const struct limiter *limiter, uint64_t first,
			    size_t frames);
/* Lays the gain on the sums; nothing past full scale comes out. */
RT_SAFE void limiter_apply(const struct limiter *limiter, uint64_t first,
			   float *sums, size_t frames);

#endif

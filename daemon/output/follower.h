/* SPDX-License-Identifier: GPL-3.0-or-later */
/* follower.h - what an output hears that is not the clock: the clock's mix,
 * from its tap, at its own card's pace.
 *
 *   TAP -> interpolated to the card's rate, and its drift -> DECK -> card
 *
 * The follower's own output thread does all of it, once a cycle: it reads what
 * has been heard at the clock since then, and puts it onto the one deck of its
 * bus, which never ends. From there on it is an output like any other: volume,
 * limiter, dither, rewinds and faults are those of its card.
 *
 *   IDLE -(the tap goes on)-> RUNNING -(the deck has run dry)-> IDLE
 *
 * Each frame is heard `lag` after it was heard at the clock: as long as the
 * card's buffer and a little more. It begins with silence of that length; then
 * the pace keeps it there (drift.h). What is too late by far is left out, and
 * what is missing is silence; both fade.
 *
 * Threads: control creates and destroys it while its output has no card; anyone
 * may read the figures; the rest by the output thread. RT: RT_SAFE but create
 * and destroy. */
#ifndef ROTARY_OUTPUT_FOLLOWER_H
#define ROTARY_OUTPUT_FOLLOWER_H

#include "daemon/audio/channels.h"
#include "daemon/output/card.h"
#include "daemon/output/drift.h"
#include "daemon/output/mix_plan.h"
#include "daemon/output/output.h"
#include "daemon/output/tap.h"
#include "lib/base/attr.h"
#include "lib/sync/timeline.h"

#include <stdbool.h>

struct interpolator;

enum {
	FOLLOWER_CUT = 1, /* of the music lane: the only one that there is */
	FOLLOWER_STREAM = 1,
	FOLLOWER_IN_FRAMES = 6144, /* of scratch */
	FOLLOWER_OUT_FRAMES = 256,
	FOLLOWER_POLL_MS = 50, /* when nothing is to be heard yet */
};

/* A tap and the way to this card's rate. */
struct follow_source {
	struct tap *tap; /* NULL: none */
	const struct interpolator *interpolator;
};

/* A follower's plan, published through a snapshot of its own. */
struct follow_plan {
	struct mix_plan mix; /* first: the output thread reads this much */
	struct follow_source before; /* to be heard to its end, then now */
	struct follow_source now;
	enum tap_mix kind;
};

/* Where a tap is read. */
struct follow_place {
	uint64_t frame;
	uint32_t part; /* of a frame, in 2^-32 */
};

/* What is to be known of the card, now. */
struct follow_look {
	int64_t now_ns;
	bool running;           /* it plays what the deck gave */
	bool dry;               /* the deck has been left, for want of more */
	uint64_t queued_frames; /* on the deck and in the card, not heard */
};

struct follower {
	/* immutable */
	uint32_t rate_hz;
	uint32_t channels;
	uint32_t lag_frames;
	uint32_t late_frames; /* more than this too late is left out */
	void *deck_memory;
	size_t deck_bytes;
	struct mix_bus bus;
	struct timeline timeline; /* nobody's, but its thread tells it */
	/* figures */
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) dropped_frames;
	ATOMIC(uint64_t) dry_frames;
	ATOMIC(int64_t) drift_ppb;
	ATOMIC(int64_t) lag_ns; /* as seen last; 0: nothing is heard */
	/* the output thread's */
	ALIGNED(CACHE_LINE) const struct tap *tap; /* that place speaks of */
	struct tap_view view;
	struct follow_place place;
	bool running;
	bool begun;     /* in this cycle */
	bool starved;   /* it ran dry though the tap went on */
	bool listening; /* something may come of itself */
	struct drift drift;
	int64_t looked_ns;        /* 0: not since it began */
	uint32_t fade_left;       /* frames */
	bool fade_from_silence;   /* else from: */
	struct follow_place from; /* what is faded out */
	struct channel_map map;
	float in[FOLLOWER_IN_FRAMES * AUDIO_CHANNELS_MAX];
	float plane[FOLLOWER_IN_FRAMES];
	float out[FOLLOWER_OUT_FRAMES];
	float faded[FOLLOWER_OUT_FRAMES * AUDIO_CHANNELS_MAX];
};

/* For a card that was just opened. NULL: no memory. */
NODISCARD MAY_BLOCK struct follower *
follower_create(const struct card_info *info);
MAY_BLOCK void follower_destroy(struct follower *follower);

/* Puts what there is onto the deck. */
RT_SAFE void follower_feed(struct follower *follower,
			   const struct follow_plan *plan,
			   const struct follow_look *look);

#endif

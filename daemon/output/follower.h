/* SPDX-License-Identifier: GPL-3.0-or-later */
/* follower.h - what an output hears that is not the clock: the clock's mix,
 * from its tap, at its own card's pace.
 *
 *   TAP -> interpolated to the card's rate, and its drift -> DECK -> card
 *
 * The follower's own output thread does all of it, once a cycle: it reads what
 * its card has room for, and puts it onto the one deck of its bus, which never
 * ends. From there on it is an output like any other: volume, limiter, dither,
 * rewinds and faults are those of its card.
 *
 *   IDLE -(the clock has mixed, and stands)-> READY -(it starts)-> RUNNING
 *   IDLE -(the clock plays)-> RUNNING;   READY, RUNNING -(dry)-> IDLE
 *
 * Each frame is to be heard when the clock's card plays it, so it is read ahead
 * of that: as far as this card's buffer reaches, and no further than the clock
 * mixes. Where the clock mixes less far ahead than this card needs, all is
 * heard later by the difference. While READY the card is filled, and starts
 * when the clock's does. Nothing of a beginning is lost for being aligned: what
 * begins late, since its card had to be opened or to settle, is behind at first
 * and catches up, too slowly to be heard. Then the pace keeps it there
 * (drift.h).
 *
 * When the clock takes back what it mixed, so does the follower, as far as its
 * own card can, and fades over. What is too late or too early by far is left
 * out or heard twice, and what is missing is silence; all of it fades.
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
	FOLLOWER_MARKS = 64,
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

/* From a frame of the deck on: where in the tap that was. */
struct follow_mark {
	uint64_t deck_frame;
	struct follow_place place;
	uint64_t step; /* 0: silence */
};

enum follow_state { FOLLOW_IDLE, FOLLOW_READY, FOLLOW_RUNNING };

enum follow_fade {
	FOLLOW_FROM_SILENCE,
	FOLLOW_FROM_PLACE, /* in the tap */
	FOLLOW_FROM_DECK,  /* what stood there before */
};

/* What is to be known of the card, now. */
struct follow_look {
	int64_t now_ns;
	bool running;           /* it plays */
	bool empty;             /* it stands, and nothing is written to it */
	bool dry;               /* the deck has been left, for want of more */
	uint64_t queued_frames; /* to be heard before what is written now */
	uint64_t deck_frames;   /* on the deck: can be written anew */
};

struct follower {
	/* immutable */
	uint32_t rate_hz;
	uint32_t channels;
	uint32_t fill_frames; /* that are wanted in card and deck */
	uint32_t need_frames; /* the clock should be so far ahead */
	uint32_t late_frames; /* more than this too late is left out */
	void *deck_memory;
	size_t deck_bytes;
	struct mix_bus bus;
	struct timeline timeline; /* nobody's, but its thread tells it */
	/* figures */
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) dropped_frames;
	ATOMIC(uint64_t) dry_frames;
	ATOMIC(uint64_t) breaks; /* it began anew though the tap went on */
	ATOMIC(int64_t) drift_ppb;
	/* As seen last; 0: nothing is heard. And as it should be. */
	ATOMIC(int64_t) lag_ns, wanted_lag_ns;
	/* the output thread's */
	ALIGNED(CACHE_LINE) const struct tap *tap; /* that place speaks of */
	struct tap_view view;
	struct follow_place place;
	enum follow_state state;
	int64_t ready_ns; /* since when */
	bool begun;       /* in this cycle */
	bool starved;     /* it ran dry though the tap went on */
	bool abrupt;      /* what comes next does not begin there */
	bool unsettled;   /* the clock is mixing anew */
	bool listening;   /* something may come of itself */
	uint32_t turns;   /* of the tap, that were followed */
	bool cut_off;     /* so was its end */
	struct drift drift;
	bool anchored; /* it is known where it is */
	/* Frames: where it is to be kept, and how far it was behind when it
	 * began; both come down to what it should be. */
	double lag_wanted, lag_most;
	int64_t looked_ns;   /* 0: not since it began */
	uint32_t fade_left;  /* frames */
	uint32_t fade_whole; /* of so many */
	enum follow_fade fade;
	struct follow_place from; /* what is faded out */
	struct follow_mark marks[FOLLOWER_MARKS];
	uint64_t mark_count; /* ever */
	uint64_t changed;    /* the deck, from there on, in this cycle */
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

/* How many of the frames that are queued the card should give back, since the
 * clock has mixed them anew. */
RT_SAFE uint64_t follower_wants_back(struct follower *follower,
				     const struct follow_plan *plan,
				     const struct follow_look *look);
/* Puts what there is onto the deck, in place of what has to be written anew. */
RT_SAFE void follower_feed(struct follower *follower,
			   const struct follow_plan *plan,
			   const struct follow_look *look);
/* The card is not to be started yet. */
RT_SAFE bool follower_holds(const struct follower *follower);
/* ns until it should look again; INT64_MAX: when its card needs something. */
RT_SAFE int64_t follower_wait(const struct follower *follower);

#endif

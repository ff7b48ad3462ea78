/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mix.h - what is heard at each output frame: a function of the decks, the
 * plan and the frame's number. Knows no card.
 *
 * A lane's past, present and near future is a list of spans. A span maps
 * output frames to frames of one deck, without a break; it begins by a
 * decision at `first` and is left by one at `left_at`:
 *
 *   LIVE -> CROSSED  another span took over (fades out from left_at to end)
 *        -> PAUSED   stands still at left_at's deck frame (fades likewise)
 *        -> DRY      the deck ran out before its end
 *        -> DRAINED  the deck's end
 *
 * Going back to an output frame undoes the decisions made at or after it; the
 * same decks and the same plan then give the same samples again.
 *
 * Threads: output (tests: any one). RT: all RT_SAFE. */
#ifndef ROTARY_OUTPUT_MIX_H
#define ROTARY_OUTPUT_MIX_H

#include "daemon/audio/format.h"
#include "daemon/audio/gain.h"
#include "daemon/audio/limiter.h"
#include "daemon/output/mix_plan.h"
#include "daemon/output/output.h"
#include "lib/base/attr.h"
#include "lib/sync/timeline.h"

#include <stdbool.h>

enum {
	MIX_SPANS = 16,
	MIX_RAMPS = 8,
	MIX_RECENT = 8,
	MIX_POINTS = 48,
	MIX_NOTES = 32,
	MIX_BLOCK_FRAMES = 256,
	MIX_PRIME_US = 50000,
	MIX_DUCKS = LANE_SPEECH, /* music and preview, under what is above */
	MIX_DUCK_CELLS = 1280,   /* over 12 s: what a rewind may undo, and the
				    second before */
	MIX_DUCK_DB = 15,        /* mix_bus.duck_db, if nobody sets it */
	MIX_DUCK_MOST_DB = 24,
};

enum mix_left {
	MIX_LIVE,
	MIX_CROSSED,
	MIX_PAUSED,
	MIX_DRY,
	MIX_DRAINED,
};

struct mix_span {
	uint64_t first;      /* output frame */
	uint64_t left_at;    /* output frame; UINT64_MAX while LIVE */
	uint64_t end;        /* silent from here on; UINT64_MAX while LIVE */
	uint64_t deck_frame; /* at first */
	uint64_t cut;
	uint32_t deck;
	enum mix_left left;
	bool fade_in;
};

/* A gain and its changes; the last is the one that counts. */
struct mix_gain {
	struct gain_ramp ramps[MIX_RAMPS];
	unsigned count;
};

/* Streams that were begun, the newest last. */
struct mix_recent {
	uint64_t stream_id;
	uint64_t frame; /* output */
	uint64_t cut;   /* a stream may begin in one cut after the other */
};

struct mix_lane_state {
	struct mix_span spans[MIX_SPANS]; /* in the order of first */
	unsigned span_count;
	struct mix_gain gain;
	struct mix_recent recent[MIX_RECENT];
	unsigned recent_count;
	struct mix_recent undone;  /* told, then taken back */
	struct mix_recent drained; /* told; no stream */
	uint64_t cut_told;
	bool pause_told;
	uint64_t pause_stream, pause_frame; /* as told */
};

/* 10 ms: mean squares of what sounds in them, and how far down the lane is at
 * their end. */
struct mix_duck_cell {
	uint32_t late; /* frames of it that were over when it was begun */
	float under;   /* of the lane */
	float said;    /* over it */
	float depth_db;
};

struct mix_duck {
	uint64_t next; /* cells before it are known */
	struct mix_duck_cell cells[MIX_DUCK_CELLS]; /* modulo that */
};

/* Something to tell control. */
struct mix_note {
	uint32_t kind; /* enum rt_event_kind */
	uint32_t lane;
	uint64_t id;
	uint64_t frame; /* output frame that the event's time is that of */
	uint64_t value;
};

struct mix {
	/* immutable after init */
	struct mix_bus *bus;
	struct card_spec spec;
	uint32_t fade_frames;
	uint32_t ramp_frames;
	uint32_t prime_frames;
	/* state */
	uint64_t frame;        /* output frame that is mixed next */
	uint64_t floor;        /* frames below cannot be mixed again */
	uint64_t begins_below; /* see mix_hold_begins() */
	bool held_back;        /* a begin was, since then */
	struct mix_gain volume;
	struct mix_lane_state lanes[LANE_COUNT];
	struct timeline_point points[MIX_POINTS];
	unsigned point_count;
	struct mix_note notes[MIX_NOTES];
	unsigned note_count;
	struct mix_duck ducks[MIX_DUCKS];
	struct limiter limiter;
	uint64_t guessed; /* it was fed with nothing from here on, since decks
			     were not written so far; UINT64_MAX: it was not */
	/* scratch */
	float sum[MIX_BLOCK_FRAMES * AUDIO_CHANNELS_MAX];
	float gains[MIX_BLOCK_FRAMES];
};

enum mix_result {
	MIX_FULL, /* as many frames as were asked for */
	MIX_WAIT, /* a deck has run dry before its end */
	MIX_IDLE, /* nothing sounds */
};

/* For a card of this spec, at output frame 0, with nothing heard yet. */
RT_SAFE void mix_init(struct mix *mix, struct mix_bus *bus,
		      const struct card_spec *spec);

/* Mixes up to frames frames into memory, in the card's format; *ret_frames
 * tells how many. go_on: a dry deck is left behind as silence, for good. */
RT_SAFE enum mix_result mix_run(struct mix *mix, const struct mix_plan *plan,
				void *memory, size_t frames, bool go_on,
				size_t *ret_frames);
/* Each deck that sounds holds all there is until more comes. */
RT_SAFE bool mix_awaits_more(const struct mix *mix);
/* Silence, whatever the plan. */
RT_SAFE void mix_silence(struct mix *mix, void *memory, size_t frames);

/* The plan wants, now, what could have been wanted of earlier frames. */
RT_SAFE bool mix_pending(const struct mix *mix, const struct mix_plan *plan);
/* The lowest frame from which on all can be mixed again as this plan wants. */
RT_SAFE uint64_t mix_lowest(const struct mix *mix, const struct mix_plan *plan);
/* A begin that waits for nothing but its deck is heard the sooner the lower its
 * frame. From frame on (UINT64_MAX: never) none is made: it is held back, so
 * that mix_pending() sees it, and the caller can go back for it first. */
RT_SAFE void mix_hold_begins(struct mix *mix, uint64_t frame);
/* Back to frame, at least mix_lowest() and at most mix->frame. */
RT_SAFE void mix_rewind(struct mix *mix, uint64_t frame);
/* The decks hold something else from frame on, which is not mixed yet. */
RT_SAFE void mix_forget_ahead(struct mix *mix, uint64_t frame);
/* Frames before this one are never mixed again: forgets them, gives decks
 * back to their lanes; true when it gave back one. Points of the timeline are
 * kept from heard on. */
RT_SAFE bool mix_forget(struct mix *mix, const struct mix_plan *plan,
			uint64_t frame, uint64_t heard);
/* From this frame on only the newest span of each lane sounds. */
RT_SAFE uint64_t mix_settled_frame(const struct mix *mix);
/* A lane waits for a deck that mix_forget() gives back once this frame has
 * been heard; UINT64_MAX: none does. */
RT_SAFE uint64_t mix_wanted_frame(const struct mix *mix,
				  const struct mix_plan *plan);
/* Some span is live or fading. */
RT_SAFE bool mix_sounds(const struct mix *mix);
/* Lanes with a live span. */
RT_SAFE unsigned mix_live_lanes(const struct mix *mix);
/* A lane would go over to the plan's cut, and its deck is not primed. */
RT_SAFE bool mix_awaits_cut(const struct mix *mix, const struct mix_plan *plan);

/* Between mix.c, mix_past.c, mix_render.c and mix_duck.c. */
RT_SAFE uint32_t mix_duck_cell_frames(const struct mix *mix);
/* Cells that were begun at or after this frame were not. */
RT_SAFE void mix_duck_rewind(struct mix *mix, uint64_t frame);

/* Between mix.c and mix_lane.c. */
RT_SAFE void mix_lane_decide(struct mix *mix, const struct mix_plan *plan,
			     unsigned lane);
RT_SAFE bool mix_lane_pending(const struct mix *mix,
			      const struct mix_plan *plan, unsigned lane);
/* Frames that the lane may go on before its next cut: UINT64_MAX unless one
 * must be waited for. */
RT_SAFE uint64_t mix_lane_until_cut(const struct mix *mix,
				    const struct mix_plan *plan, unsigned lane);
/* May begin at mix->frame, though that is later than it could have been. */
RT_SAFE bool mix_may_begin(struct mix *mix);
RT_SAFE void mix_lane_leave(struct mix *mix, unsigned lane, enum mix_left left);
RT_SAFE struct mix_span *mix_lane_span(struct mix *mix, unsigned lane);
/* The deck frame that the span plays, or would play, at output frame. */
RT_SAFE uint64_t mix_span_position(const struct mix_span *span, uint64_t frame);
RT_SAFE struct deck *mix_deck(const struct mix *mix, unsigned lane,
			      const struct mix_span *span);
RT_SAFE void mix_note(struct mix *mix, const struct mix_note *note);
RT_SAFE void mix_add_point(struct mix *mix, const struct timeline_point *point);
RT_SAFE float mix_gain_at(const struct mix_gain *gain, uint64_t frame);
/* From mix->frame on. What the limiter knew of later frames is void, as it is
 * when a span begins or is left. */
RT_SAFE void mix_set_gain(struct mix *mix, struct mix_gain *gain, float target,
			  uint32_t ramp_frames);

#endif

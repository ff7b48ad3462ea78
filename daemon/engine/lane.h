/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lane.h - a lane's real-time side: takes frames from the plan's streams in
 * order and fills a deck.
 *
 *   PCM rings, in order -> channels mapped -> resampled -> DECK -> output
 *
 * One cut is one deck. A natural join lies inside the deck; the resampler goes
 * on across it. Where the plan says that two songs overlap, both are mixed into
 * the deck (lane_overlap.c). The lane goes astray when it cannot go on as the
 * plan now says: it stands in a stream that is not planned any more, its deck
 * has ended and something was appended, or what it should take was taken from
 * before. It says so once for each plan and waits for a new cut.
 *
 * Threads: the claim holder; init: control, before it is in the set.
 * RT: RT_DEVICE (events are rung), but init. */
#ifndef ROTARY_ENGINE_LANE_H
#define ROTARY_ENGINE_LANE_H

#include "daemon/audio/channels.h"
#include "daemon/audio/gain.h"
#include "daemon/engine/item.h"
#include "daemon/engine/plan.h"
#include "daemon/output/output.h"
#include "lib/base/attr.h"

#include <stdbool.h>

struct bell;
struct stream;

enum {
	LANE_QUANTUM_FRAMES = 8192,
	LANE_CHUNK_FRAMES = 1024,  /* of scratch */
	LANE_OVERLAP_FRAMES = 256, /* mixed at a time */
	LANE_OVERLAP_PARTS = 20,   /* of a second: no shorter overlap is made */
};

/* How a stream's frames get into the deck. */
struct lane_voice {
	struct resampler *resampler; /* NULL: none */
	uint64_t resampler_base;     /* deck frame of its first */
	struct gain_ramp gain;       /* by the frames of the stream's ring */
	struct channel_map map;
};

/* Two songs in one deck. The one that comes is the lane's stream and voice; the
 * one that goes is the tail. How far it is at frame n of the overlap:
 *   begun + (1 - begun) * (n - from + 1/2) / frames */
struct lane_overlap {
	uint64_t tail; /* id of the stream that goes; 0: there is no overlap */
	struct lane_voice voice; /* its */
	uint64_t at; /* frames of the overlap that are in the deck */
	uint64_t from, frames;
	double begun;
	bool alone; /* the song that came is over: the tail comes back */
	struct gain_ramp back; /* then, by the frames of the overlap */
	size_t held_at, held;  /* frames of the tail that were taken ahead */
	float samples[LANE_OVERLAP_FRAMES * AUDIO_CHANNELS_MAX];
};

struct lane {
	struct item item;
	/* immutable */
	enum lane_id id;
	struct mix_bus *bus;
	const struct bell *bell;

	/* the claim holder's */
	uint64_t decks;   /* set-up that the rest speaks of */
	uint64_t cut;     /* that is being filled; 0: none */
	unsigned deck;    /* its index */
	uint32_t rate_hz; /* of the decks */
	uint64_t stream;  /* id of what is being taken; 0: the first is due */
	bool bursting;
	bool told_output;           /* it was told that the cut can be begun */
	bool ended;                 /* the deck is */
	uint64_t astray_generation; /* the last plan that it complained about */
	struct deck_stretch stretch; /* the last that was added */
	uint64_t stretch_end;        /* song frame that follows on it */
	uint64_t song_begin; /* deck frame at which its song was begun */
	struct lane_voice voice;
	struct lane_overlap overlap;
	float in[LANE_CHUNK_FRAMES * AUDIO_CHANNELS_MAX];
	float mapped[LANE_CHUNK_FRAMES * AUDIO_CHANNELS_MAX];
};

void lane_init(struct lane *lane, enum lane_id id, struct mix_bus *bus,
	       const struct bell *bell);

RT_DEVICE bool lane_wants_quantum(struct lane *lane, const struct plan *plan);
RT_DEVICE enum item_work lane_quantum(struct lane *lane,
				      const struct plan *plan);

/* Between lane_rt.c, lane_mix.c and lane_overlap.c. */

RT_SAFE struct deck *lane_deck(struct lane *lane);
/* The song's frame that is taken from the stream next. */
RT_SAFE uint64_t lane_song_frame(const struct stream *stream);
/* A voice for the entry's stream, from deck frame `first` on. */
RT_SAFE void lane_voice_init(struct lane_voice *voice,
			     const struct plan_entry *entry, uint32_t channels,
			     uint64_t first);
/* Takes up to limit frames of the entry's stream into the deck; returns how
 * much was done, 0 when the deck is full or the stream has nothing. */
RT_SAFE size_t lane_take(struct lane *lane, const struct plan_entry *entry,
			 size_t limit);
/* The resampler's rest into the deck; true when nothing is left of it. */
RT_SAFE bool lane_flush(struct lane *lane);
/* Up to frames frames, at most LANE_OVERLAP_FRAMES, as floats in the deck's
 * channels and at its rate; rest: also what the resampler holds, when the
 * stream is over. */
RT_SAFE size_t lane_pull(struct lane *lane, struct lane_voice *voice,
			 const struct plan_entry *entry, float *out,
			 size_t frames, bool rest);
/* Makes sure that a stretch says what begins at deck frame first; false: the
 * list is full. */
RT_SAFE bool lane_announce(struct lane *lane, const struct deck_stretch *next);

/* Frames that may still be taken from entry `index` before the next one begins:
 * UINT64_MAX when they do not overlap. 0: lane_overlap_begin() is due, for
 * *ret_frames frames. */
RT_SAFE uint64_t lane_overlap_distance(struct lane *lane,
				       const struct plan_lane *planned,
				       int index, uint64_t *ret_frames);
/* False: wait as for a full deck. */
RT_SAFE bool lane_overlap_begin(struct lane *lane, const struct plan *plan,
				int index, uint64_t frames);
enum lane_overlap_step {
	LANE_OVERLAP_MIXED, /* *ret_frames frames */
	LANE_OVERLAP_WAITS,
	LANE_OVERLAP_OVER, /* the tail is: it can be left */
};
RT_SAFE enum lane_overlap_step lane_overlap_step(struct lane *lane,
						 const struct plan_entry *tail,
						 const struct plan_entry *head,
						 size_t limit,
						 size_t *ret_frames);

#endif

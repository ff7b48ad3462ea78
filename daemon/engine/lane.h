/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lane.h - a lane's real-time side: takes frames from the plan's streams in
 * order and fills a deck.
 *
 *   PCM rings, in order -> channels mapped -> resampled -> DECK -> output
 *
 * One cut is one deck. A natural join lies inside the deck; the resampler goes
 * on across it. The lane goes astray when it cannot go on as the plan now says:
 * it stands in a stream that is not planned any more, its deck has ended and
 * something was appended, or what it should take was taken from before. It
 * says so once for each plan and waits for a new cut.
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
	LANE_CHUNK_FRAMES = 1024, /* of scratch */
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
	struct resampler *resampler; /* in use; NULL: none */
	uint64_t resampler_base;     /* deck frame of its first */
	struct gain_ramp gain; /* of the stream, by the frames of its ring */
	struct channel_map map;
	float in[LANE_CHUNK_FRAMES * AUDIO_CHANNELS_MAX];
	float mapped[LANE_CHUNK_FRAMES * AUDIO_CHANNELS_MAX];
};

void lane_init(struct lane *lane, enum lane_id id, struct mix_bus *bus,
	       const struct bell *bell);

RT_DEVICE bool lane_wants_quantum(struct lane *lane, const struct plan *plan);
RT_DEVICE enum item_work lane_quantum(struct lane *lane,
				      const struct plan *plan);

/* Between lane_rt.c and lane_mix.c: takes up to limit frames of the entry's
 * stream into the deck; returns how much was done, 0 when
 * the deck is full or the stream has nothing. */
RT_SAFE size_t lane_take(struct lane *lane, const struct plan_entry *entry,
			 size_t limit);
/* The resampler's rest into the deck; true when nothing is left of it. */
RT_SAFE bool lane_flush(struct lane *lane);

#endif

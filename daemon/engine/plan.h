/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.h - what is to be heard: the output's part and, behind it, each lane's
 * streams in order. Made anew by control for each change, published through a
 * snapshot, immutable from then on.
 *
 * decks counts the set-ups of the decks: while it is 0 no lane touches any,
 * and when it has changed, what a lane knew of its decks is void.
 *
 * Threads: made and freed by control, read by decoder and output threads.
 * RT: plan_find() is RT_SAFE; create and destroy MAY_BLOCK. */
#ifndef ROTARY_ENGINE_PLAN_H
#define ROTARY_ENGINE_PLAN_H

#include "daemon/output/mix_plan.h"
#include "lib/base/attr.h"

#include <stdbool.h>

struct allocator;
struct resampler;
struct stream;

enum { PLAN_STREAMS = 8 };

struct plan_entry {
	struct stream *stream;
	struct resampler *resampler; /* NULL: frames go as they are */
	uint32_t in_hz;
	float gain; /* linear; 1: frames keep their level */
	/* It is heard together with the end of the entry before it for as many
	 * frames of the deck; 0: it begins where that ends. */
	uint32_t fade_frames;
	/* Of the song, behind its last one, as the header tells; 0: unknown. */
	uint64_t end_frame;
};

struct plan_lane {
	/* Nothing will follow the last entry in this cut: the deck ends. */
	bool final;
	/* Something will, as long as the deck is not dry. */
	bool open;
	/* The stream that the first entry follows on in this cut, or 0. */
	uint64_t before;
	uint32_t count;
	struct plan_entry entries[PLAN_STREAMS];
};

struct plan {
	struct mix_plan mix; /* first: the output thread reads this much */
	uint64_t decks;
	uint32_t rate_hz; /* of the decks */
	uint32_t channels;
	struct plan_lane lanes[LANE_COUNT];
};

/* An empty plan at full volume, or NULL. */
NODISCARD struct plan *plan_create(struct allocator *allocator);
/* For snapshot_create(): context is the allocator. */
void plan_release(void *plan, void *allocator);
/* The entry's index, or -1. */
RT_SAFE int plan_find(const struct plan_lane *lane, uint64_t stream);

#endif

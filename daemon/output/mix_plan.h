/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mix_plan.h - the output thread's part of the plan: which deck of each lane
 * is to be heard, and how loud. Immutable once published (snapshot.h); the
 * engine's plan begins with it. */
#ifndef ROTARY_OUTPUT_MIX_PLAN_H
#define ROTARY_OUTPUT_MIX_PLAN_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum lane_id {
	LANE_MUSIC,
	LANE_PREVIEW,
	LANE_SPEECH,
	LANE_CHIME,
	LANE_COUNT,
};

/* How a new cut begins. */
enum plan_start {
	PLAN_NOW,   /* as soon as its deck is primed: old and new cross over
		       in MIX_FADE_NS */
	PLAN_AFTER, /* where stream after_stream ends on the old deck, to the
		       sample, without a fade; NOW if that has passed */
	PLAN_AT,    /* at output frame at_frame */
};

enum { MIX_FADE_US = 5000, MIX_VOLUME_RAMP_US = 20000 };

struct mix_lane {
	uint64_t cut;    /* counts up; 0: the lane was never used */
	uint32_t start;  /* enum plan_start */
	uint32_t paused; /* 1: fade out, stand still at that frame */
	uint64_t after_stream;
	uint64_t at_frame;
	float gain; /* linear; 1.0: untouched */
};

struct mix_plan {
	uint64_t generation;
	float volume; /* linear; 1.0: untouched; ramped when changed */
	struct mix_lane lanes[LANE_COUNT];
};

#endif

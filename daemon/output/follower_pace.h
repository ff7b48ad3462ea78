/* SPDX-License-Identifier: GPL-3.0-or-later */
/* follower_pace.h - between follower.c and follower_pace.c: where a follower is
 * beside its clock, and the pace that keeps it there. Threads: the follower's
 * output thread. RT: all RT_SAFE. */
#ifndef ROTARY_OUTPUT_FOLLOWER_PACE_H
#define ROTARY_OUTPUT_FOLLOWER_PACE_H

#include "daemon/output/follower.h"

RT_SAFE uint32_t follower_ms(uint32_t ms, uint32_t rate_hz);
/* From the place up to a frame of the tap, in frames of the card. */
RT_SAFE int64_t follower_distance(const struct follower *follower,
				  uint64_t frame);
/* Frames of the card, in frames of the tap. */
RT_SAFE int64_t follower_tap_frames(const struct follower *follower,
				    int64_t frames);
/* What all is behind by, when nothing is amiss. */
RT_SAFE int64_t follower_least_lag(const struct follower *follower);
/* Leaves out frames of the card, or plays them again where they are less than
 * none. */
RT_SAFE void follower_drop(struct follower *follower, int64_t frames,
			   enum follow_fade fade);
/* The step to go on with; what is too late by far is dropped before. queued:
 * frames to be heard before what is written now. */
RT_SAFE uint64_t follower_steer(struct follower *follower,
				const struct interpolator *interpolator,
				uint64_t heard, uint64_t queued,
				const struct follow_look *look);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* follower_sound.h - between follower.c, which says what of the tap is to be
 * heard when, and follower_sound.c, which puts it onto the deck. Threads: the
 * follower's output thread. RT: all RT_SAFE. */
#ifndef ROTARY_OUTPUT_FOLLOWER_SOUND_H
#define ROTARY_OUTPUT_FOLLOWER_SOUND_H

#include "daemon/output/follower.h"

enum { FOLLOWER_LAG_MS_MIN = 60 };

/* Begins the deck once, with some silence so that it is gone over to; how many
 * frames of it. */
RT_SAFE uint64_t follower_begin_deck(struct follower *follower);
RT_SAFE void follower_write_silence(struct follower *follower, uint64_t frames);
/* From the place up to frame `end` of the tap, as far as the deck has room.
 * False: what comes next is not there any more. */
RT_SAFE bool follower_play_up_to(struct follower *follower,
				 const struct follow_plan *plan,
				 const struct interpolator *interpolator,
				 uint64_t end, uint64_t step);
/* Out of plan->before, where it was cut off. */
RT_SAFE void follower_fade_out(struct follower *follower,
			       const struct follow_plan *plan);

#endif

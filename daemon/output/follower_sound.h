/* SPDX-License-Identifier: GPL-3.0-or-later */
/* follower_sound.h - between follower.c, which says what of the tap is to be
 * heard when, and follower_sound.c, which puts it onto the deck. Threads: the
 * follower's output thread. RT: all RT_SAFE. */
#ifndef ROTARY_OUTPUT_FOLLOWER_SOUND_H
#define ROTARY_OUTPUT_FOLLOWER_SOUND_H

#include "daemon/output/follower.h"

/* How a piece of the tap is read. */
struct follow_read {
	enum tap_mix kind;
	const struct interpolator *interpolator;
	uint64_t until; /* frame of the tap: silence from there on */
	uint64_t step;
};

/* A beginning, after silence or at the deck's start: not to be faded in. */
RT_SAFE void follower_begin_sound(struct follower *follower);
RT_SAFE void follower_write_silence(struct follower *follower, uint64_t frames);
/* From the place up to frame `end` of the tap, most_frames of the card at most,
 * and as far as the deck has room. False: what comes next is not there any
 * more. */
RT_SAFE bool follower_play_up_to(struct follower *follower,
				 const struct follow_read *read, uint64_t end,
				 uint64_t most_frames);
/* Lets what comes next fade out. */
RT_SAFE void follower_fade_out(struct follower *follower,
			       const struct follow_read *read);
/* From this place on, out of what there is now. */
RT_SAFE void follower_fade_to(struct follower *follower, uint64_t frame,
			      enum follow_fade fade);
/* Takes frames from the deck's end, and the place back to where that was. What
 * comes there instead is faded to from what was there. */
RT_SAFE void follower_take_back(struct follower *follower, uint64_t frames);

#endif

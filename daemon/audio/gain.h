/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gain.h - gains that change, and sums of what they are laid on.
 *
 * A ramp is a pure function of the frame number: linear from `from`, which
 * holds up to `start`, to `to`, which holds from start + frames on. So any
 * frame can be mixed again at any time and come out the same.
 * Pure; RT_SAFE; any thread. */
#ifndef ROTARY_AUDIO_GAIN_H
#define ROTARY_AUDIO_GAIN_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct gain_ramp {
	uint64_t start;  /* frame */
	uint32_t frames; /* 0: a step */
	float from;
	float to;
};

RT_SAFE float gain_ramp_at(const struct gain_ramp *ramp, uint64_t frame);
/* The ramp has one value over all frames from this one on. */
RT_SAFE bool gain_ramp_done(const struct gain_ramp *ramp, uint64_t frame);

/* A gain for each of frames frames: set to one value; times a ramp. */
RT_SAFE void gain_fill(float *gains, size_t frames, float value);
RT_SAFE void gain_multiply(float *gains, size_t frames,
			   const struct gain_ramp *ramp, uint64_t first_frame);

/* Adds in, each frame times its gain, to sum. */
RT_SAFE void gain_add_f32(float *sum, const float *in, const float *gains,
			  size_t frames, uint32_t channels);
RT_SAFE void gain_add_s32(float *sum, const int32_t *in, const float *gains,
			  size_t frames, uint32_t channels);

#endif

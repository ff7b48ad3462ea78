/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interpolate.h - a signal's value at any place between its frames: for rates
 * that are nearly, but never exactly, each other's, and change all the time.
 *
 * It has no memory: what comes out at a place is a function of the place and of
 * the frames around it alone. So one may go on from anywhere, and a change of
 * the pace is heard as nothing but a change of pitch.
 * Threads: create and destroy MAY_BLOCK; the rest any, RT_SAFE.
 * Errors: -ENOMEM, -EINVAL (rates). */
#ifndef ROTARY_AUDIO_INTERPOLATE_H
#define ROTARY_AUDIO_INTERPOLATE_H

#include "lib/base/attr.h"

struct interpolator;

/* A place: whole frames in the upper half, parts of one in the lower. */
#define INTERPOLATE_FRAME (UINT64_C(1) << 32)

enum { INTERPOLATE_TAPS_MAX = 4096 };

/* What lies above half the lower rate is left out. */
NODISCARD MAY_BLOCK int
interpolator_create(uint32_t in_hz, uint32_t out_hz,
		    struct interpolator **ret_interpolator);
MAY_BLOCK void interpolator_destroy(struct interpolator *interpolator);

/* Frames that an output takes from up to its place, that frame included, and
 * from behind it. */
RT_SAFE uint32_t interpolator_before(const struct interpolator *interpolator);
RT_SAFE uint32_t interpolator_after(const struct interpolator *interpolator);
/* From a place to the next, where both rates are what they say. */
RT_SAFE uint64_t interpolator_step(const struct interpolator *interpolator);

/* One channel. in[interpolator_before() - 1] is place 0. */
RT_SAFE void interpolate(const struct interpolator *interpolator,
			 const float *in, uint64_t place, uint64_t step,
			 float *out, size_t frames);

#endif

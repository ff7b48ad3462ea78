/* SPDX-License-Identifier: GPL-3.0-or-later */
/* planes.h - samples by channel, as decoder libraries give them, into frames.
 *
 * Threads: any. RT: RT_SAFE. Cost: O(frames x channels), a few samples an
 * instruction where there are two channels. */
#ifndef ROTARY_DECODE_PLANES_H
#define ROTARY_DECODE_PLANES_H

#include "lib/base/attr.h"

/* Integers, moved to the left by shift, below 32. */
RT_SAFE void planes_join_s32(uint32_t *to, const int32_t *const planes[],
			     uint32_t channels, size_t frames, uint32_t shift);
/* Floats; channel c of a frame is plane map[c]. */
RT_SAFE void planes_join_f32(float *to, float *const planes[],
			     const uint8_t *map, uint32_t channels,
			     size_t frames);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channels.h - more or fewer channels, after ITU-R BS.775-3.
 *
 * A layout follows from the number of channels, in the order of format.h:
 * 1 C, 2 L R, 3 L R C, 4 L R BL BR, 5 L R C BL BR, 6 L R C LFE BL BR,
 * 7 L R C LFE BC SL SR, 8 L R C LFE BL BR SL SR.
 * Threads: any. RT: map_init and apply are RT_SAFE. */
#ifndef ROTARY_AUDIO_CHANNELS_H
#define ROTARY_AUDIO_CHANNELS_H

#include "daemon/audio/format.h"
#include "lib/base/attr.h"

#include <stdbool.h>

struct channel_map {
	uint32_t in;
	uint32_t out;
	/* True when each output is one input or silence: then integers stay
	 * the decoder's own. */
	bool copies;
	/* for copies: the input of each output, or -1 */
	int8_t source[AUDIO_CHANNELS_MAX];
	float matrix[AUDIO_CHANNELS_MAX][AUDIO_CHANNELS_MAX]; /* [out][in] */
};

/* in and out from 1 to AUDIO_CHANNELS_MAX. */
RT_SAFE void channel_map_init(struct channel_map *map, uint32_t in,
			      uint32_t out);
/* Only for a map that copies. in and out do not overlap. */
RT_SAFE void channel_map_copy(const struct channel_map *map, void *out,
			      const void *in, size_t frames);
RT_SAFE void channel_map_mix(const struct channel_map *map, float *out,
			     const float *in, size_t frames);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channels.h - more or fewer channels, after ITU-R BS.775-3.
 *
 * A layout follows from the number of channels, in the order of format.h:
 * 1 C, 2 L R, 3 L R C, 4 L R BL BR, 5 L R C BL BR, 6 L R C LFE BL BR,
 * 7 L R C LFE BC SL SR, 8 L R C LFE BL BR SL SR.
 * A file that says which places its channels have is taken at its word: by a
 * mask of the bits of WAVEFORMATEXTENSIBLE, the lowest bit that of channel 0.
 * Threads: any. RT: map_init and apply are RT_SAFE. */
#ifndef ROTARY_AUDIO_CHANNELS_H
#define ROTARY_AUDIO_CHANNELS_H

#include "daemon/audio/format.h"
#include "lib/base/attr.h"

#include <stdbool.h>

enum {
	CHANNEL_FL = 1 << 0,
	CHANNEL_FR = 1 << 1,
	CHANNEL_FC = 1 << 2,
	CHANNEL_LFE = 1 << 3,
	CHANNEL_BL = 1 << 4,
	CHANNEL_BR = 1 << 5,
	CHANNEL_FLC = 1 << 6,
	CHANNEL_FRC = 1 << 7,
	CHANNEL_BC = 1 << 8,
	CHANNEL_SL = 1 << 9,
	CHANNEL_SR = 1 << 10,
	CHANNELS_KNOWN = (1 << 11) - 1,
};

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
/* The same for channels in these places; as if there were no mask when it does
 * not name as many, and only such as we know. */
RT_SAFE void channel_map_init_mask(struct channel_map *map, uint32_t in,
				   uint32_t mask, uint32_t out);
/* Only for a map that copies. in and out do not overlap. */
RT_SAFE void channel_map_copy(const struct channel_map *map, void *out,
			      const void *in, size_t frames);
RT_SAFE void channel_map_mix(const struct channel_map *map, float *out,
			     const float *in, size_t frames);

#endif

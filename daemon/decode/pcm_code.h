/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcm_code.h - how the samples of a PCM file are written down, and what they
 * are inside the player: S32 left-justified, or F32.
 *
 * Floats that are no numbers become silence, and what is absurdly loud is
 * clamped, so that neither reaches a resampler, which never forgets them.
 * Pure; RT_SAFE; any thread. */
#ifndef ROTARY_DECODE_PCM_CODE_H
#define ROTARY_DECODE_PCM_CODE_H

#include "daemon/audio/format.h"
#include "lib/base/attr.h"

#include <stdbool.h>

enum pcm_code {
	PCM_SIGNED,   /* 1 to 4 bytes */
	PCM_UNSIGNED, /* 1 byte */
	PCM_FLOAT,    /* 4 or 8 bytes */
	PCM_ALAW,     /* 1 byte, as all that follow; G.711 */
	PCM_ULAW,
};

struct pcm_layout {
	enum pcm_code code;
	uint32_t bytes; /* of a sample */
	bool big_endian;
};

/* The largest value that a float of a file is taken for: 96 dB over full
 * scale. */
#define PCM_FLOAT_MAX 0x1p16F

RT_SAFE enum sample_kind pcm_layout_kind(const struct pcm_layout *layout);
/* samples samples from in, to 4 bytes each. */
RT_SAFE void pcm_layout_decode(const struct pcm_layout *layout, void *out,
			       const uint8_t *in, size_t samples);

#endif

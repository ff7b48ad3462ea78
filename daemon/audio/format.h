/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format.h - what a run of PCM is.
 *
 * Inside the player a sample is 4 bytes: S32 left-justified (a 16-bit v is
 * v << 16) or F32 (1.0 is full scale). Channels are interleaved in the order
 * of WAVEFORMATEXTENSIBLE: FL FR FC LFE BL BR SL SR. */
#ifndef ROTARY_AUDIO_FORMAT_H
#define ROTARY_AUDIO_FORMAT_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum { AUDIO_CHANNELS_MAX = 8, AUDIO_RATE_MIN = 1, AUDIO_RATE_MAX = 1048575 };

/* The formats inside the player. */
enum sample_kind { SAMPLE_S32, SAMPLE_F32 };

/* What a stream holds. */
struct audio_spec {
	uint32_t rate_hz;
	uint32_t channels;
	enum sample_kind kind;
	uint32_t bits; /* significant bits of S32: 4..32; 0 for F32 */
};

/* What a card takes, little endian as the kernel's SND_PCM_FORMAT_*_LE. */
enum card_format {
	CARD_S16,
	CARD_S24,   /* 4 bytes, low 3 used */
	CARD_S24_3, /* 3 bytes */
	CARD_S32,
	CARD_F32,
	CARD_FORMAT_COUNT,
};

struct card_spec {
	uint32_t rate_hz;
	uint32_t channels;
	enum card_format format;
	uint32_t bits; /* that the card uses: 16, 24 or 32 */
};

bool audio_spec_valid(const struct audio_spec *spec);
RT_SAFE size_t card_format_bytes(enum card_format format);
const char *card_format_name(enum card_format format);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format.c - the facts about PCM formats, in tables.
 *
 * Pure: no state, no allocation; every function may be called on any thread.
 * card_format_name() gives the names that alsa-lib uses, since these are what
 * a user finds in `aplay --dump-hw-params` and in forums. */
#include "daemon/audio/format.h"

static const struct {
	const char *name;
	size_t bytes;
} card_formats[CARD_FORMAT_COUNT] = {
	[CARD_S16] = {"S16_LE", 2},    [CARD_S24] = {"S24_LE", 4},
	[CARD_S24_3] = {"S24_3LE", 3}, [CARD_S32] = {"S32_LE", 4},
	[CARD_F32] = {"FLOAT_LE", 4},
};

bool
audio_spec_valid(const struct audio_spec *spec)
{
	if (spec->rate_hz < AUDIO_RATE_MIN || spec->rate_hz > AUDIO_RATE_MAX)
		return false;
	if (spec->channels < 1 || spec->channels > AUDIO_CHANNELS_MAX)
		return false;
	switch (spec->kind) {
	case SAMPLE_S32:
		return spec->bits >= 4 && spec->bits <= 32;
	case SAMPLE_F32:
		return spec->bits == 0;
	}
	return false;
}

RT_SAFE size_t
card_format_bytes(enum card_format format)
{
	return format < CARD_FORMAT_COUNT ? card_formats[format].bytes : 0;
}

const char *
card_format_name(enum card_format format)
{
	return format < CARD_FORMAT_COUNT ? card_formats[format].name
					  : "unknown";
}

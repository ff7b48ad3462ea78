/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcm_code.c - a loop for each way of writing a sample down. What differs
 * between them is constant where the loops are used, so each becomes plain
 * loads and shifts. */
#include "daemon/decode/pcm_code.h"

#include <string.h>

enum { CODE_BYTES_MAX = 8 };

RT_SAFE enum sample_kind
pcm_layout_kind(const struct pcm_layout *layout)
{
	return layout->code == PCM_FLOAT ? SAMPLE_F32 : SAMPLE_S32;
}

/* Left-justified in 32 bits. */
static inline RT_SAFE void
decode_integers(uint32_t *out, const uint8_t *in, size_t samples,
		unsigned bytes, bool big_endian)
{
	size_t i = 0;
	unsigned k = 0;

	for (i = 0; i < samples; i++, in += bytes) {
		uint32_t value = 0;

		for (k = 0; k < bytes; k++) {
			const unsigned place = big_endian ? bytes - 1 - k : k;

			value |= (uint32_t)in[k] << (8 * (4 - bytes + place));
		}
		out[i] = value;
	}
}

static RT_SAFE void
decode_signed(const struct pcm_layout *layout, uint32_t *out, const uint8_t *in,
	      size_t samples)
{
	const bool big = layout->big_endian;

	switch (layout->bytes) {
	case 1:
		decode_integers(out, in, samples, 1, false);
		break;
	case 2:
		big ? decode_integers(out, in, samples, 2, true)
		    : decode_integers(out, in, samples, 2, false);
		break;
	case 3:
		big ? decode_integers(out, in, samples, 3, true)
		    : decode_integers(out, in, samples, 3, false);
		break;
	default:
		big ? decode_integers(out, in, samples, 4, true)
		    : decode_integers(out, in, samples, 4, false);
		break;
	}
}

static RT_SAFE void
decode_unsigned(uint32_t *out, const uint8_t *in, size_t samples)
{
	size_t i = 0;

	for (i = 0; i < samples; i++)
		out[i] = (uint32_t)(in[i] ^ 0x80) << 24;
}

/* Unsigned integers of the machine from bytes in either order. */
static inline RT_SAFE uint64_t
load(const uint8_t *in, unsigned bytes, bool big_endian)
{
	uint64_t value = 0;
	unsigned k = 0;

	for (k = 0; k < bytes; k++) {
		const unsigned place = big_endian ? bytes - 1 - k : k;

		value |= (uint64_t)in[k] << (8 * place);
	}
	return value;
}

/* A NaN fails every comparison. */
static inline RT_SAFE float
sane(float value)
{
	if (value > PCM_FLOAT_MAX)
		return PCM_FLOAT_MAX;
	if (value < -PCM_FLOAT_MAX)
		return -PCM_FLOAT_MAX;
	return value == value ? value : 0.0F;
}

static RT_SAFE void
decode_singles(float *out, const uint8_t *in, size_t samples, bool big_endian)
{
	size_t i = 0;

	for (i = 0; i < samples; i++, in += sizeof(float)) {
		const uint32_t bits =
			(uint32_t)load(in, sizeof(float), big_endian);
		float value = 0.0F;

		memcpy(&value, &bits, sizeof(value));
		out[i] = sane(value);
	}
}

static RT_SAFE void
decode_doubles(float *out, const uint8_t *in, size_t samples, bool big_endian)
{
	size_t i = 0;

	for (i = 0; i < samples; i++, in += sizeof(double)) {
		const uint64_t bits = load(in, sizeof(double), big_endian);
		double value = 0.0;

		memcpy(&value, &bits, sizeof(value));
		/* What a float can't hold is undefined to convert. */
		if (value > (double)PCM_FLOAT_MAX)
			value = (double)PCM_FLOAT_MAX;
		else if (value < -(double)PCM_FLOAT_MAX)
			value = -(double)PCM_FLOAT_MAX;
		out[i] = sane((float)value);
	}
}

/* G.711: a sign, a chord of 3 bits and a step of 4 in it, to 16 bits. */
static inline RT_SAFE int32_t
expand_alaw(uint8_t code)
{
	const uint8_t bits = code ^ 0x55;
	const int32_t chord = bits >> 4 & 7;
	int32_t value = (bits & 15) << 4 | 8;

	if (chord > 0)
		value = (value | 0x100) << (chord - 1);
	return (bits & 0x80) != 0 ? value : -value;
}

static inline RT_SAFE int32_t
expand_ulaw(uint8_t code)
{
	const uint8_t bits = (uint8_t)~code;
	const int32_t bias = 0x84;
	const int32_t value =
		((((bits & 15) << 3) + bias) << (bits >> 4 & 7)) - bias;

	return (bits & 0x80) != 0 ? -value : value;
}

static RT_SAFE void
decode_companded(const struct pcm_layout *layout, uint32_t *out,
		 const uint8_t *in, size_t samples)
{
	const bool alaw = layout->code == PCM_ALAW;
	size_t i = 0;

	for (i = 0; i < samples; i++)
		out[i] = (uint32_t)(alaw ? expand_alaw(in[i])
					 : expand_ulaw(in[i]))
			 << 16;
}

RT_SAFE void
pcm_layout_decode(const struct pcm_layout *layout, void *out, const uint8_t *in,
		  size_t samples)
{
	switch (layout->code) {
	case PCM_SIGNED:
		decode_signed(layout, out, in, samples);
		break;
	case PCM_UNSIGNED:
		decode_unsigned(out, in, samples);
		break;
	case PCM_FLOAT:
		if (layout->bytes == CODE_BYTES_MAX)
			decode_doubles(out, in, samples, layout->big_endian);
		else
			decode_singles(out, in, samples, layout->big_endian);
		break;
	case PCM_ALAW:
	case PCM_ULAW:
		decode_companded(layout, out, in, samples);
		break;
	}
}

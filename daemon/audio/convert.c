/* SPDX-License-Identifier: GPL-3.0-or-later */
/* convert.c - in two steps, a few hundred samples at a time: quantize to right-
 * justified integers of the card's bits, then store these in the card's
 * layout. Where no bit is lost the first step is a shift.
 *
 * Rounding is to nearest. F32 is scaled and dithered in double, since a
 * float's 24 bits leave no room for noise below the 24th. The loops are plain,
 * for the compiler to make vectors of. */
#include "daemon/audio/convert.h"

#include "daemon/audio/dither.h"

#include <math.h>
#include <string.h>

/* Samples quantized at a time: whole frames for up to 8 channels. */
enum { PIECE_SAMPLES = 384 };

static RT_SAFE void
store_s16(int16_t *out, const int32_t *in, size_t samples)
{
	size_t i = 0;

	for (i = 0; i < samples; i++)
		out[i] = (int16_t)in[i];
}

static RT_SAFE void
store_s24_3(uint8_t *out, const int32_t *in, size_t samples)
{
	size_t i = 0;

	for (i = 0; i < samples; i++) {
		const uint32_t value = (uint32_t)in[i];

		out[3 * i] = (uint8_t)value;
		out[3 * i + 1] = (uint8_t)(value >> 8);
		out[3 * i + 2] = (uint8_t)(value >> 16);
	}
}

static RT_SAFE void
store_s32(int32_t *out, const int32_t *in, size_t samples, uint32_t shift)
{
	size_t i = 0;

	for (i = 0; i < samples; i++)
		out[i] = (int32_t)((uint32_t)in[i] << shift);
}

/* in: right-justified integers of card->bits bits. */
static RT_SAFE void
store(const struct card_spec *card, void *out, const int32_t *in,
      size_t samples)
{
	switch (card->format) {
	case CARD_S16:
		store_s16(out, in, samples);
		break;
	case CARD_S24_3:
		store_s24_3(out, in, samples);
		break;
	case CARD_S24:
		store_s32(out, in, samples, 0);
		break;
	case CARD_S32:
		store_s32(out, in, samples, 32 - card->bits);
		break;
	case CARD_F32:
	case CARD_FORMAT_COUNT:
		break;
	}
}

static RT_SAFE void
shift_right(int32_t *out, const int32_t *in, size_t samples, uint32_t shift)
{
	size_t i = 0;

	for (i = 0; i < samples; i++)
		out[i] = in[i] >> shift;
}

/* Noise for frames frames, in DITHER_ONEths of a step. */
static RT_SAFE void
make_noise(int32_t *out, uint64_t first_frame, size_t frames, uint32_t channels)
{
	uint32_t channel = 0;
	size_t i = 0;

	for (i = 0; i < frames; i++, out += channels) {
		for (channel = 0; channel + 1 < channels; channel += 2) {
			const uint64_t hash =
				dither_hash(first_frame + i, channel / 2);

			out[channel] = dither_even(hash);
			out[channel + 1] = dither_odd(hash);
		}
		if (channel < channels)
			out[channel] = dither_tpdf(first_frame + i, channel);
	}
}

/* Takes shift bits away. noise is scaled to the bits that go. */
static RT_SAFE void
quantize_s32(int32_t *out, const int32_t *in, const int32_t *noise,
	     size_t samples, uint32_t shift)
{
	const int64_t half = INT64_C(1) << (shift - 1);
	const int64_t max = INT32_MAX >> shift;
	size_t i = 0;

	for (i = 0; i < samples; i++) {
		const int64_t dither =
			((int64_t)noise[i] << shift) / DITHER_ONE;
		const int64_t value = (in[i] + dither + half) >> shift;

		out[i] = (int32_t)(value > max        ? max
				   : value < -max - 1 ? -max - 1
						      : value);
	}
}

/* noise NULL: none. */
static RT_SAFE void
quantize_f32(int32_t *out, const float *in, const int32_t *noise,
	     size_t samples, uint32_t bits)
{
	const double scale = (double)(UINT32_C(1) << (bits - 1));
	const double max = scale - 1.0;
	size_t i = 0;

	for (i = 0; i < samples; i++) {
		double value = (double)in[i] * scale;

		if (noise != NULL)
			value += (double)noise[i] * (1.0 / DITHER_ONE);
		value = value > max ? max : value;
		value = value < -scale ? -scale : value;
		/* A NaN, which no comparison caught, is silence. */
		out[i] = value == value ? (int32_t)lrint(value) : 0;
	}
}

static RT_SAFE size_t
piece_frames(const struct card_spec *card, size_t frames)
{
	const size_t most = PIECE_SAMPLES / card->channels;

	return frames < most ? frames : most;
}

RT_SAFE void
convert_s32_to_card(const struct card_spec *card, void *out, const int32_t *in,
		    size_t frames, uint64_t first_frame, uint32_t bits)
{
	const size_t frame_bytes =
		card_format_bytes(card->format) * card->channels;
	int32_t noise[PIECE_SAMPLES], values[PIECE_SAMPLES];
	uint8_t *to = out;

	if (card->format == CARD_F32) {
		convert_s32_to_f32(out, in, frames * card->channels);
		return;
	}
	if (card->format == CARD_S32 && (bits <= card->bits)) {
		memcpy(out, in, frames * frame_bytes);
		return;
	}
	while (frames > 0) {
		const size_t count = piece_frames(card, frames);
		const size_t samples = count * card->channels;
		const uint32_t shift = 32 - card->bits;

		if (bits <= card->bits) {
			shift_right(values, in, samples, shift);
		} else {
			make_noise(noise, first_frame, count, card->channels);
			quantize_s32(values, in, noise, samples, shift);
		}
		store(card, to, values, samples);
		to += count * frame_bytes;
		in += samples;
		first_frame += count;
		frames -= count;
	}
}

RT_SAFE void
convert_f32_to_card(const struct card_spec *card, void *out, const float *in,
		    size_t frames, uint64_t first_frame)
{
	const size_t frame_bytes =
		card_format_bytes(card->format) * card->channels;
	const bool dithered = card->bits <= 24;
	int32_t noise[PIECE_SAMPLES], values[PIECE_SAMPLES];
	uint8_t *to = out;

	if (card->format == CARD_F32) {
		memcpy(out, in, frames * frame_bytes);
		return;
	}
	while (frames > 0) {
		const size_t count = piece_frames(card, frames);
		const size_t samples = count * card->channels;

		if (dithered)
			make_noise(noise, first_frame, count, card->channels);
		quantize_f32(values, in, dithered ? noise : NULL, samples,
			     card->bits);
		store(card, to, values, samples);
		to += count * frame_bytes;
		in += samples;
		first_frame += count;
		frames -= count;
	}
}

/* One sample, left-justified. memcpy: card memory may lie anywhere. */
static RT_SAFE int32_t
load(enum card_format format, const uint8_t *in)
{
	uint32_t value = 0;

	memcpy(&value, in, card_format_bytes(format));
	switch (format) {
	case CARD_S16:
		return (int32_t)(value << 16);
	case CARD_S24:
	case CARD_S24_3:
		return (int32_t)(value << 8);
	default:
		return (int32_t)value;
	}
}

RT_SAFE void
convert_card_to_s32(enum card_format format, int32_t *out, const void *in,
		    size_t samples)
{
	const struct card_spec spec = {
		.channels = 1, .format = CARD_S32, .bits = 32};
	const size_t bytes = card_format_bytes(format);
	const uint8_t *from = in;
	size_t i = 0;

	if (format == CARD_F32) {
		convert_f32_to_card(&spec, out, in, samples, 0);
		return;
	}
	for (i = 0; i < samples; i++)
		out[i] = load(format, from + i * bytes);
}

RT_SAFE void
convert_card_to_f32(enum card_format format, float *out, const void *in,
		    size_t samples)
{
	const size_t bytes = card_format_bytes(format);
	const uint8_t *from = in;
	size_t i = 0;

	if (format == CARD_F32) {
		memcpy(out, in, samples * sizeof(float));
		return;
	}
	for (i = 0; i < samples; i++)
		out[i] = (float)load(format, from + i * bytes) * 0x1p-31F;
}

RT_SAFE void
convert_s32_to_f32(float *out, const int32_t *in, size_t samples)
{
	size_t i = 0;

	for (i = 0; i < samples; i++)
		out[i] = (float)in[i] * 0x1p-31F;
}

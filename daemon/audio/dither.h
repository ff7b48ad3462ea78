/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dither.h - triangular noise of +-1 step, as a pure function of the frame
 * number and the channel, so that frames mixed again after a rewind carry the
 * same noise.
 *
 * One 64-bit hash serves two channels: four uniform numbers of 16 bits, and a
 * pair's difference is triangular. Pure; RT_SAFE; any thread. */
#ifndef ROTARY_AUDIO_DITHER_H
#define ROTARY_AUDIO_DITHER_H

#include "lib/base/attr.h"

/* The steps that one least significant bit is divided into. */
enum { DITHER_ONE = 65536 };

/* A counter spread by two odd constants, then the 64-bit finalizer that David
 * Stafford found for MurmurHash3 ("Mix13"). */
static inline RT_SAFE uint64_t
dither_hash(uint64_t frame, uint32_t channel_pair)
{
	uint64_t x = frame * UINT64_C(0x9E3779B97F4A7C15) +
		     (channel_pair + 1) * UINT64_C(0xD1B54A32D192ED03);

	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

/* Both channels' noise from their pair's hash, in DITHER_ONEths of a step. */
static inline RT_SAFE int32_t
dither_even(uint64_t hash)
{
	return (int32_t)(hash & 0xFFFF) - (int32_t)(hash >> 16 & 0xFFFF);
}

static inline RT_SAFE int32_t
dither_odd(uint64_t hash)
{
	return dither_even(hash >> 32);
}

static inline RT_SAFE int32_t
dither_tpdf(uint64_t frame, uint32_t channel)
{
	const uint64_t hash = dither_hash(frame, channel / 2);

	return channel % 2 == 0 ? dither_even(hash) : dither_odd(hash);
}

#endif

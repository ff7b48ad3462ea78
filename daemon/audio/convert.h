/* SPDX-License-Identifier: GPL-3.0-or-later */
/* convert.h - samples between the player's two formats and a card's.
 *
 * Integers go to an integer card unchanged when its bits hold theirs; where
 * bits are taken away, TPDF dither is added (dither.h). What is past full
 * scale is clamped to it; a float card gets floats as they are.
 * Pure; RT_SAFE; any thread. Card memory is little endian. */
#ifndef ROTARY_AUDIO_CONVERT_H
#define ROTARY_AUDIO_CONVERT_H

#include "daemon/audio/format.h"
#include "lib/base/attr.h"

/* frames frames of S32 with bits significant bits, for a card. first_frame
 * numbers the first of them, for the dither. */
RT_SAFE void convert_s32_to_card(const struct card_spec *card, void *out,
				 const int32_t *in, size_t frames,
				 uint64_t first_frame, uint32_t bits);
RT_SAFE void convert_f32_to_card(const struct card_spec *card, void *out,
				 const float *in, size_t frames,
				 uint64_t first_frame);

/* Exact, but S32 to F32, which keeps the upper 24 bits. */
RT_SAFE void convert_card_to_s32(enum card_format format, int32_t *out,
				 const void *in, size_t samples);
RT_SAFE void convert_card_to_f32(enum card_format format, float *out,
				 const void *in, size_t samples);
RT_SAFE void convert_s32_to_f32(float *out, const int32_t *in, size_t samples);

#endif

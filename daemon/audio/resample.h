/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resample.h - interleaved floats from one rate to another.
 *
 * Output frame k is the input at k * in / out: no delay, and after a flush
 * exactly round(frames in * out / in) frames have come out. One resampler
 * outlives the tracks of a lane; it is flushed only at a real end, and then
 * restarted.
 * Threads: create and destroy on control or a worker, the rest on whichever
 * thread holds the lane. RT: process and flush are RT_SAFE but for libsoxr
 * itself, whose memory is warmed up by create; the others MAY_BLOCK.
 * Errors: -ENOMEM, -EINVAL (rates, channels), -ELIBACC (no libsoxr). */
#ifndef ROTARY_AUDIO_RESAMPLE_H
#define ROTARY_AUDIO_RESAMPLE_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct allocator;
struct resampler;

/* libsoxr's recipes, from 16 bits with a soft slope to 28 bits. */
enum resample_quality {
	RESAMPLE_LOW,
	RESAMPLE_MEDIUM,
	RESAMPLE_HIGH,
	RESAMPLE_BEST,
};

/* Frames in one call of process, in or out, that no memory is wanted for. */
enum { RESAMPLE_CHUNK_FRAMES = 2048 };

NODISCARD MAY_BLOCK int resampler_create(struct allocator *allocator,
					 uint32_t in_hz, uint32_t out_hz,
					 uint32_t channels,
					 enum resample_quality quality,
					 struct resampler **ret_resampler);
MAY_BLOCK void resampler_destroy(struct resampler *resampler);
/* As new, at the same rates. */
NODISCARD MAY_BLOCK int resampler_restart(struct resampler *resampler);

/* Takes up to in_frames, gives up to out_frames; each call may take or give
 * nothing, never both while in_frames and out_frames are not 0. */
RT_SAFE void resampler_process(struct resampler *resampler, const float *in,
			       size_t in_frames, float *out, size_t out_frames,
			       size_t *ret_taken, size_t *ret_given);
/* What is still inside; returns how many frames, 0 when it was all. Nothing
 * but flush and restart may follow it. */
RT_SAFE size_t resampler_flush(struct resampler *resampler, float *out,
			       size_t out_frames);
/* Frames taken and given since the start. */
RT_SAFE uint64_t resampler_taken(const struct resampler *resampler);
RT_SAFE uint64_t resampler_given(const struct resampler *resampler);

#endif

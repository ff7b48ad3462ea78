/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gain.c - the value of a ramp is computed for each frame from its number, and
 * never from the value before, so that no rounding gathers and the order in
 * which frames are asked for does not matter. Two ramps over the same frames,
 * one down from 1 and one up to 1, sum to 1. */
#include "daemon/audio/gain.h"

RT_SAFE float
gain_ramp_at(const struct gain_ramp *ramp, uint64_t frame)
{
	if (frame < ramp->start)
		return ramp->from;
	if (frame - ramp->start >= ramp->frames)
		return ramp->to;
	return ramp->from +
	       (ramp->to - ramp->from) *
		       ((float)(frame - ramp->start) / (float)ramp->frames);
}

RT_SAFE bool
gain_ramp_done(const struct gain_ramp *ramp, uint64_t frame)
{
	return ramp->from == ramp->to || frame >= ramp->start + ramp->frames;
}

RT_SAFE void
gain_fill(float *gains, size_t frames, float value)
{
	size_t i = 0;

	for (i = 0; i < frames; i++)
		gains[i] = value;
}

RT_SAFE void
gain_multiply(float *gains, size_t frames, const struct gain_ramp *ramp,
	      uint64_t first_frame)
{
	const bool done = gain_ramp_done(ramp, first_frame);
	size_t i = 0;

	if (done && ramp->to == 1.0F)
		return;
	for (i = 0; done && i < frames; i++)
		gains[i] *= ramp->to;
	for (i = 0; !done && i < frames; i++)
		gains[i] *= gain_ramp_at(ramp, first_frame + i);
}

/* Stereo has loops of its own, which the compiler can make vectors of. */
static RT_SAFE void
add_stereo_f32(float *sum, const float *in, const float *gains, size_t frames)
{
	size_t i = 0;

	for (i = 0; i < frames; i++) {
		sum[2 * i] += in[2 * i] * gains[i];
		sum[2 * i + 1] += in[2 * i + 1] * gains[i];
	}
}

static RT_SAFE void
add_stereo_s32(float *sum, const int32_t *in, const float *gains, size_t frames)
{
	size_t i = 0;

	for (i = 0; i < frames; i++) {
		const float gain = gains[i] * 0x1p-31F;

		sum[2 * i] += (float)in[2 * i] * gain;
		sum[2 * i + 1] += (float)in[2 * i + 1] * gain;
	}
}

RT_SAFE void
gain_add_f32(float *sum, const float *in, const float *gains, size_t frames,
	     uint32_t channels)
{
	uint32_t channel = 0;
	size_t i = 0;

	if (channels == 2) {
		add_stereo_f32(sum, in, gains, frames);
		return;
	}
	for (i = 0; i < frames; i++, sum += channels, in += channels) {
		for (channel = 0; channel < channels; channel++)
			sum[channel] += in[channel] * gains[i];
	}
}

RT_SAFE void
gain_add_s32(float *sum, const int32_t *in, const float *gains, size_t frames,
	     uint32_t channels)
{
	uint32_t channel = 0;
	size_t i = 0;

	if (channels == 2) {
		add_stereo_s32(sum, in, gains, frames);
		return;
	}
	for (i = 0; i < frames; i++, sum += channels, in += channels) {
		const float gain = gains[i] * 0x1p-31F;

		for (channel = 0; channel < channels; channel++)
			sum[channel] += (float)in[channel] * gain;
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* planes.c - two channels are what nearly all songs have, and the only case
 * that a compiler makes vectors of: each has a loop of its own. Stores go to
 * memory once and in order, so `to` may be a ring that no cache holds. */
#include "daemon/decode/planes.h"

static RT_SAFE void
join_two_s32(uint32_t *restrict to, const int32_t *restrict left,
	     const int32_t *restrict right, size_t frames, uint32_t shift)
{
	for (size_t i = 0; i < frames; i++) {
		to[2 * i] = (uint32_t)left[i] << shift;
		to[2 * i + 1] = (uint32_t)right[i] << shift;
	}
}

static RT_SAFE void
join_two_f32(float *restrict to, const float *restrict left,
	     const float *restrict right, size_t frames)
{
	for (size_t i = 0; i < frames; i++) {
		to[2 * i] = left[i];
		to[2 * i + 1] = right[i];
	}
}

RT_SAFE void
planes_join_s32(uint32_t *to, const int32_t *const planes[], uint32_t channels,
		size_t frames, uint32_t shift)
{
	if (channels == 2) {
		join_two_s32(to, planes[0], planes[1], frames, shift);
		return;
	}
	for (uint32_t channel = 0; channel < channels; channel++) {
		const int32_t *plane = planes[channel];
		uint32_t *sample = to + channel;

		for (size_t i = 0; i < frames; i++) {
			*sample = (uint32_t)plane[i] << shift;
			sample += channels;
		}
	}
}

RT_SAFE void
planes_join_f32(float *to, float *const planes[], const uint8_t *map,
		uint32_t channels, size_t frames)
{
	if (channels == 2) {
		join_two_f32(to, planes[map[0]], planes[map[1]], frames);
		return;
	}
	for (uint32_t channel = 0; channel < channels; channel++) {
		const float *plane = planes[map[channel]];
		float *sample = to + channel;

		for (size_t i = 0; i < frames; i++) {
			*sample = plane[i];
			sample += channels;
		}
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edge.c - at distance n from the end frame e, where frame k lies n on the
 * other side of it (or is the furthest that there is):
 *
 *   (2 * e - k) * weight(n),   weight falls from 1 to 0 without a bend */
#include "daemon/audio/edge.h"

static RT_SAFE float
weight(size_t distance, size_t count)
{
	const float t = (float)distance / (float)(count + 1);

	return 1.0F - t * t * (3.0F - 2.0F * t);
}

static RT_SAFE void
turn(float *out, const float *end, const float *other, float gain,
     uint32_t channels)
{
	uint32_t channel = 0;

	for (channel = 0; channel < channels; channel++)
		out[channel] = (2.0F * end[channel] - other[channel]) * gain;
}

RT_SAFE void
edge_after(float *out, size_t count, const float *in, size_t frames,
	   uint32_t channels)
{
	const float *end = in + (frames - 1) * channels;
	size_t n = 0;

	for (n = 1; n <= count; n++) {
		const size_t back = n < frames ? n : frames - 1;

		turn(out + (n - 1) * channels, end, end - back * channels,
		     weight(n, count), channels);
	}
}

RT_SAFE void
edge_before(float *out, size_t count, const float *in, size_t frames,
	    uint32_t channels)
{
	size_t n = 0;

	for (n = 1; n <= count; n++) {
		const size_t ahead = n < frames ? n : frames - 1;

		turn(out + (count - n) * channels, in, in + ahead * channels,
		     weight(n, count), channels);
	}
}

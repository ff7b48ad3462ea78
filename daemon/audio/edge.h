/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edge.h - what a sound is continued with beyond its ends, for a filter that
 * looks that far. Silence would be a step, which the filter smears over the
 * sound's own first and last frames; so it is turned about its last frame,
 * which keeps level and slope, and fades out. Pure; RT_SAFE; any thread. */
#ifndef ROTARY_AUDIO_EDGE_H
#define ROTARY_AUDIO_EDGE_H

#include "lib/base/attr.h"

/* count frames that follow on the last of frames frames, at least 1. */
RT_SAFE void edge_after(float *out, size_t count, const float *in,
			size_t frames, uint32_t channels);
/* count frames that lead to the first of frames frames, at least 1. */
RT_SAFE void edge_before(float *out, size_t count, const float *in,
			 size_t frames, uint32_t channels);

#endif

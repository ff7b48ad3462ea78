/* SPDX-License-Identifier: GPL-3.0-or-later */
/* overlapping.h - for tests of songs that are heard together: a rig that lets
 * them, and what should be heard, told by the files' own samples and by the
 * gains as they are documented, not by the engine's code for them. */
#ifndef ROTARY_TESTS_OVERLAPPING_H
#define ROTARY_TESTS_OVERLAPPING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/engine.h"
#include "lib/base/clock.h"
#include "tests/kit/rig/rig.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	BUFFER_MS = 100,
	NEAR = 2, /* 16 bits, with dither */
};

static inline int
set_up_with(void **state, const struct rig_options *options)
{
	struct rig *rig = (struct rig *)malloc(sizeof(*rig));

	if (rig == NULL)
		return -1;
	rig_init_with(rig, options);
	engine_set_overlaps(rig->engine, true);
	*state = rig;
	return 0;
}

static inline int
set_up(void **state)
{
	const struct rig_options options = {.driver = &card_wav,
					    .buffer_ms = BUFFER_MS};

	return set_up_with(state, &options);
}

static inline int
tear_down(void **state)
{
	rig_finish((struct rig *)*state);
	free(*state);
	return 0;
}

static inline int64_t
frames_ns(uint64_t frames)
{
	return (int64_t)(frames * NS_PER_S / RIG_RATE);
}

/* next follows, and overlaps by frames of the card. */
static inline void
overlap(struct rig *rig, uint64_t stream, uint64_t next, uint64_t frames)
{
	engine_overlap(rig->engine, next, frames_ns(frames) + 1);
	rig_follow(rig, stream, next);
}

/* From frame `at` of the wav on, song 1 from frame `from` on goes and song 2
 * comes. */
static inline void
check_mix(const struct rig_wav *wav, size_t at, uint64_t from, size_t frames)
{
	size_t i;
	unsigned c;

	assert_true(at + frames <= wav->frames);
	for (i = 0; i < frames; i++) {
		const double angle =
			acos(0.0) * ((double)i + 0.5) / (double)frames;

		for (c = 0; c < wav->channels; c++) {
			const double want =
				rig_sample(1, from + i, c) * cos(angle) +
				rig_sample(2, i, c) * sin(angle);
			const double got =
				wav->samples[(at + i) * wav->channels + c];

			if (fabs(got - want) > NEAR)
				fail_msg("frame %zu of %zu: %.1f, not %.1f", i,
					 frames, got, want);
		}
	}
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mix_block.h - a run of frames that are mixed alike, between mix.c, which
 * finds it, and mix_render.c, which mixes it. Threads: output. RT: all RT_SAFE.
 */
#ifndef ROTARY_OUTPUT_MIX_BLOCK_H
#define ROTARY_OUTPUT_MIX_BLOCK_H

#include "daemon/output/mix.h"

enum { MIX_VOICES = LANE_COUNT * 4 };

/* A span that has frames for the block. */
struct mix_voice {
	const struct mix_span *span;
	struct deck *deck;
	const struct mix_gain *gain;
	uint64_t position;
	uint64_t until_cut; /* no frame of it is heard from there on */
	unsigned lane;
	bool ended; /* nothing more will be written on the deck */
	struct deck_stretch stretch;
	struct gain_ramp duck; /* while something is said over it */
};

struct mix_block {
	size_t frames;
	bool sounds; /* some span is live or fading, with frames or without */
	bool waits;  /* a live span has no frames */
	bool again;  /* a span was left, or a cut is due: decide anew */
	bool go_on;  /* nothing is waited for */
	unsigned voice_count;
	struct mix_voice voices[MIX_VOICES];
};

/* Mixes the block, or its first frames, into memory and goes on behind them:
 * then block->frames tells how many. */
RT_SAFE void mix_render(struct mix *mix, struct mix_block *block,
			uint8_t *memory);
/* The ring's frames from position on; *ret_frames in one run of memory. */
RT_SAFE const void *mix_read_at(struct pcm_ring *ring, uint64_t position,
				size_t *ret_frames);
/* Makes the block end with its cell of ducking, and the voices' gains. */
RT_SAFE void mix_duck_block(struct mix *mix, struct mix_block *block);
/* Frames of silence that are made without a block. */
RT_SAFE void mix_tap_silence(struct mix *mix, size_t frames);
/* What a frame of this stretch must be watched for by the limiter. */
RT_SAFE enum limiter_watch mix_watch(const struct mix *mix,
				     const struct deck_stretch *stretch);
RT_SAFE struct gain_ramp mix_fade_in(const struct mix *mix,
				     const struct mix_span *span);

#endif

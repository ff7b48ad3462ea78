/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tape.h - a lane for tests: streams whose every sample is known from its
 * number, written onto decks. Static functions, for this folder only. */
#ifndef ROTARY_TESTS_OUTPUT_TAPE_H
#define ROTARY_TESTS_OUTPUT_TAPE_H

#include "daemon/output/deck.h"
#include "daemon/output/output.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { TAPE_RATE_HZ = 48000, TAPE_CHANNELS = 2 };

/* A sample of bits bits, left-justified; never 0, so that silence shows. */
static inline int32_t
tape_s32(uint64_t stream, uint64_t frame, uint32_t channel, uint32_t bits)
{
	uint64_t x =
		stream * UINT64_C(0x9E3779B97F4A7C15) + frame * 8 + channel;

	x = (x ^ (x >> 31)) * UINT64_C(0xD6E8FEB86659FD93);
	x = (x ^ (x >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
	x ^= x >> 32;
	/* Half of full scale, so that two may be added. */
	return (int32_t)((((uint32_t)x >> (33 - bits) | 1) << (32 - bits))) -
	       (INT32_C(1) << 30);
}

static inline float
tape_f32(uint64_t stream, uint64_t frame, uint32_t channel)
{
	return (float)tape_s32(stream, frame, channel, 24) * 0x1p-31F;
}

struct tape {
	struct mix_bus *bus;
	void *memory;
	uint32_t channels;
};

static inline void
tape_init(struct tape *tape, size_t capacity_frames, size_t history_frames,
	  uint32_t channels)
{
	const size_t bytes = capacity_frames * channels * 4;
	char *memory;
	unsigned lane, i;

	tape->bus = aligned_alloc(CACHE_LINE, sizeof(*tape->bus));
	assert(tape->bus != NULL);
	memset((void *)tape->bus, 0, sizeof(*tape->bus));
	tape->bus->duck_db = 15;
	memory = calloc((size_t)LANE_COUNT * LANE_DECKS, bytes);
	assert(memory != NULL);
	tape->memory = memory;
	tape->channels = channels;
	for (lane = 0; lane < LANE_COUNT; lane++) {
		for (i = 0; i < LANE_DECKS; i++, memory += bytes)
			deck_init(&tape->bus->decks[lane][i], memory,
				  capacity_frames, channels, history_frames);
	}
}

static inline void
tape_finish(struct tape *tape)
{
	free(tape->memory);
	free(tape->bus);
}

/* The deck that holds cut, or NULL. */
static inline struct deck *
tape_deck(const struct tape *tape, unsigned lane, uint64_t cut)
{
	for (unsigned i = 0; i < LANE_DECKS; i++) {
		struct deck *deck = &tape->bus->decks[lane][i];

		if (atomic_load(&deck->state) == DECK_FILLING &&
		    atomic_load(&deck->cut) == cut)
			return deck;
	}
	return NULL;
}

/* Takes a free deck for cut, or NULL. */
static inline struct deck *
tape_begin(const struct tape *tape, unsigned lane, uint64_t cut)
{
	for (unsigned i = 0; i < LANE_DECKS; i++) {
		if (deck_begin(&tape->bus->decks[lane][i], cut))
			return &tape->bus->decks[lane][i];
	}
	return NULL;
}

static inline void
tape_stretch(struct deck *deck, uint64_t stream, uint64_t stream_frame,
	     enum sample_kind kind, uint32_t bits)
{
	const struct deck_stretch stretch = {
		.first_frame = pcm_ring_written(&deck->ring),
		.stream_id = stream,
		.stream_frame = stream_frame,
		.stream_rate_hz = TAPE_RATE_HZ,
		.kind = kind,
		.bits = bits,
		.exact = 1,
	};
	const bool added = deck_add_stretch(deck, &stretch);

	assert(added);
	(void)added;
}

/* Up to frames frames of stream from stream_frame on; how many went in. */
static inline size_t
tape_write(struct deck *deck, uint64_t stream, uint64_t stream_frame,
	   size_t frames, enum sample_kind kind, uint32_t bits)
{
	const uint32_t channels = deck->ring.channels;
	size_t done = 0;

	while (done < frames) {
		size_t span;
		void *memory = pcm_ring_write_span(&deck->ring, &span);
		int32_t *integers = memory;
		float *floats = memory;

		if (span > frames - done)
			span = frames - done;
		if (span == 0)
			break;
		for (size_t i = 0; i < span * channels; i++) {
			const uint64_t frame =
				stream_frame + done + i / channels;
			const uint32_t channel = (uint32_t)(i % channels);

			if (kind == SAMPLE_S32)
				integers[i] =
					tape_s32(stream, frame, channel, bits);
			else
				floats[i] = tape_f32(stream, frame, channel);
		}
		pcm_ring_commit(&deck->ring, span);
		done += span;
	}
	return done;
}

/* A stretch and all its frames. */
static inline void
tape_song(struct deck *deck, uint64_t stream, uint64_t stream_frame,
	  size_t frames, uint32_t bits)
{
	size_t written;

	tape_stretch(deck, stream, stream_frame, SAMPLE_S32, bits);
	written = tape_write(deck, stream, stream_frame, frames, SAMPLE_S32,
			     bits);
	assert(written == frames);
	(void)written;
}

#endif

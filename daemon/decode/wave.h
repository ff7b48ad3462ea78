/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wave.h - the inside of the decoder of PCM files, for its own files only:
 * wave.c (frames), wave_open.c (the header) and wave_places.c (channels). */
#ifndef ROTARY_DECODE_WAVE_H
#define ROTARY_DECODE_WAVE_H

#include "daemon/decode/comments.h"
#include "daemon/decode/decoder.h"
#include "daemon/decode/pcm_code.h"
#include "daemon/decode/window.h"

struct wave {
	struct decoder base;
	struct allocator *allocator;
	struct window window;
	struct comments comments;
	struct decoder_info info;
	struct pcm_layout layout;
	uint32_t frame_bytes;
	bool reorder; /* channel i of ours is order[i] of the file's */
	uint8_t order[AUDIO_CHANNELS_MAX];
	uint64_t data;     /* offset of the first frame */
	uint64_t position; /* of the next frame */
};

/* The head of a file of a container that we know, behind any ID3v2 tag. */
bool wave_knows(const uint8_t *head, size_t length);
/* decoder_ops::open and destroy. Errors beside those of decoder.h: -ENODATA
 * (not one frame), -ECHRNG (channels), -EPROTONOSUPPORT (compressed),
 * -ELIBACC (no libsndfile), -ESPIPE (the reader cannot seek). */
MAY_BLOCK int wave_open(struct allocator *allocator, struct reader *reader,
			struct decoder **ret_decoder);
void wave_destroy(struct decoder *decoder);

/* The places of its channels, from the bytes that the file has on them: the
 * body of a format chunk (extensible) or that of a "chan" or "CHAN" chunk. Says
 * nothing where they say nothing that could be true. */
void wave_place_by_format(struct wave *wave, const uint8_t *chunk,
			  size_t length);
void wave_place_by_layout(struct wave *wave, const uint8_t *chunk,
			  size_t length);
/* Brings frames into our order. */
void wave_reorder(const struct wave *wave, uint32_t *samples, size_t frames);

extern const struct decoder_ops decoder_wave;

#endif

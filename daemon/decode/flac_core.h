/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac_core.h - libFLAC, one frame at a time.
 *
 * Whoever knows the container hands over the bytes of one frame; the core
 * gives its samples, or says what is wrong with it. It keeps nothing between
 * two frames, so there is nothing to lose and nothing to flush.
 * Threads: the decoder's. RT: flac_core_decode() runs libFLAC, which works in
 * the memory that it got with the first block of that size.
 * Memory: the object from the allocator; libFLAC's own from malloc. */
#ifndef ROTARY_DECODE_FLAC_CORE_H
#define ROTARY_DECODE_FLAC_CORE_H

#include "daemon/decode/flac_frame.h"
#include "daemon/decode/stage.h"

struct allocator;
struct flac_core;

enum flac_core_status {
	FLAC_CORE_OK,
	FLAC_CORE_SHORT,   /* the frame goes on past length */
	FLAC_CORE_DAMAGED, /* no frame, or a broken one */
	FLAC_CORE_MEMORY,
};

struct flac_block {
	uint32_t frames;
	uint32_t rate_hz;
	uint32_t channels;
	uint32_t bits;
	size_t used_bytes;
};

/* 0 or -ENOMEM. */
MAY_BLOCK NODISCARD int flac_core_create(struct allocator *allocator,
					 const struct flac_stream_info *info,
					 struct flac_core **ret_core);
void flac_core_destroy(struct flac_core *core);

/* Decodes the frame that begins at bytes. Its samples go into the stage's
 * block if it has stage's channels; the caller then puts it in its place. */
enum flac_core_status flac_core_decode(struct flac_core *core,
				       const uint8_t *bytes, size_t length,
				       struct stage *stage,
				       struct flac_block *ret_block);

#endif

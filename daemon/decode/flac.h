/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac.h - the inside of the decoder of native FLAC, for its own files only:
 * flac.c (frames), flac_open.c (metadata, the first frame), flac_seek.c.
 *
 *   window: | S frame ... | T next frame ... |      S: window_bytes()
 *
 * A frame's end is told by the header of the next one. A header found may be
 * a chance pattern inside S, so T is only a try: if libFLAC wants more, the
 * next T is taken. */
#ifndef ROTARY_DECODE_FLAC_H
#define ROTARY_DECODE_FLAC_H

#include "daemon/decode/comments.h"
#include "daemon/decode/flac_track.h"
#include "daemon/decode/window.h"

enum {
	FLAC_WINDOW_BYTES = 64 << 10,
	FLAC_WINDOW_BYTES_MAX = 8 << 20,
};

struct flac {
	struct decoder base;
	struct allocator *allocator;
	struct window window;
	struct flac_track track;
	struct comments comments;
	uint64_t block_offset;    /* of the last metadata block's contents */
	uint64_t audio_offset;    /* of the first frame, in the file */
	size_t looked;            /* window bytes known to hold no T before */
	size_t first_next;        /* the first T of this S; 0: none yet */
	uint64_t lost_bytes;      /* since the last good frame */
	bool at_end;              /* the reader has no more */
	bool cut;                 /* the last frame wanted more than there is */
	enum decode_status final; /* what decode goes on saying; or OK */
};

enum flac_find {
	FLAC_FIND_FRAME, /* S is a header and [0, *ret_length) worth a try */
	FLAC_FIND_STARVED,
	FLAC_FIND_AGAIN, /* nothing yet, but something was done */
	FLAC_FIND_END,
	FLAC_FIND_STREAM, /* S is the "fLaC" of another stream */
	FLAC_FIND_ERROR,
};

/* One step towards the next frame. */
enum flac_find flac_find_frame(struct flac *flac, struct flac_frame *ret_frame,
			       size_t *ret_length);
/* What to do when libFLAC wanted more than length bytes, or found damage. */
void flac_frame_was_short(struct flac *flac, const struct flac_frame *frame,
			  size_t length);
void flac_frame_was_bad(struct flac *flac, size_t length);
void flac_frame_was_good(struct flac *flac, size_t used_bytes);
/* Looks for frames from offset on. 0 or -errno. */
MAY_BLOCK NODISCARD int flac_look_from(struct flac *flac, uint64_t offset);

/* decoder_ops::open and seek. */
MAY_BLOCK int flac_open(struct allocator *allocator, struct reader *reader,
			struct decoder **ret_decoder);
MAY_BLOCK int flac_seek(struct decoder *decoder, uint64_t frame);
void flac_destroy(struct decoder *decoder);

extern const struct decoder_ops decoder_flac;

#endif

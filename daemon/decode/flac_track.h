/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac_track.h - FLAC frames put in order: what native FLAC and FLAC in Ogg
 * have in common.
 *
 * A container finds frames; the track decodes them, says where each belongs by
 * the number in its header, and hands frames out. Positions count from the
 * track's first frame.
 * Threads: the decoder's. RT: flac_track_frame(), flac_track_take(). */
#ifndef ROTARY_DECODE_FLAC_TRACK_H
#define ROTARY_DECODE_FLAC_TRACK_H

#include "daemon/decode/decoder.h"
#include "daemon/decode/flac_core.h"

enum flac_numbering {
	FLAC_NUMBERS_FRAMES, /* each of fixed_block frames */
	FLAC_NUMBERS_SAMPLES,
};

struct flac_track {
	struct allocator *allocator;
	struct decoder_info info;
	struct flac_stream_info stream;
	bool has_stream; /* there was a STREAMINFO */
	struct flac_core *core;
	struct stage stage;
	enum flac_numbering numbering;
	uint32_t fixed_block;
	uint64_t base; /* what the file calls our position 0 */
	uint64_t end;  /* behind the last block put */
	bool placed;   /* end is known */
	bool unsure;   /* damage lies between end and the next frame */
};

enum flac_track_status {
	FLAC_TRACK_OK,      /* used_bytes, and a block is staged */
	FLAC_TRACK_SHORT,   /* the frame goes on past length */
	FLAC_TRACK_DAMAGED, /* no frame, or a broken one */
	FLAC_TRACK_BEYOND,  /* a good frame behind the length that the header
			       tells: left out */
	FLAC_TRACK_CHANGED, /* a good frame of another rate or shape */
	FLAC_TRACK_MEMORY,
};

/* What the first good frame says, and the header of the one behind it, if one
 * was seen (else NULL). 0, -ENOMEM, -ENOTSUP. */
MAY_BLOCK NODISCARD int flac_track_start(struct flac_track *track,
					 const struct flac_frame *first,
					 const struct flac_block *block,
					 const struct flac_frame *second);
void flac_track_finish(struct flac_track *track);

/* Where the frame belongs; may be before the track's begin: then 0. */
RT_SAFE uint64_t flac_track_place(const struct flac_track *track,
				  const struct flac_frame *frame);
enum flac_track_status flac_track_frame(struct flac_track *track,
					const struct flac_frame *frame,
					const uint8_t *bytes, size_t length,
					size_t *ret_used_bytes);
/* As decode of decoder_ops gives them; 0: another frame is needed. */
RT_SAFE size_t flac_track_take(struct flac_track *track, void *ret_samples,
			       size_t capacity);
/* The next frame given is position, whatever frame comes next. */
RT_SAFE void flac_track_move(struct flac_track *track, uint64_t position);
/* The file is over, and its last lost_bytes of audio_bytes were no good frames.
 * Stages the silence that stands for them, if the header tells how much.
 * cut: the file looks cut off, rather than damaged. */
RT_SAFE void flac_track_tail(struct flac_track *track, uint64_t lost_bytes,
			     uint64_t audio_bytes, bool cut);
/* More bytes than any sane encoder makes of a frame with this header. */
RT_SAFE size_t flac_track_frame_bound(const struct flac_track *track,
				      const struct flac_frame *frame);

#endif

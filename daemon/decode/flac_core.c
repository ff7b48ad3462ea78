/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac_core.c - a libFLAC decoder that is fed exactly one frame.
 *
 * libFLAC pulls its input and hates to be told "later": an empty read spins, an
 * end of stream is for ever, and after damage it searches on through whatever
 * it can get, for as long as that takes. None of this matters here: it gets
 * one frame's bytes, piece by piece, and an ABORT when it asks for more, and is
 * flushed before
 * each frame, which costs nothing (a few counters) and also keeps it from
 * putting in silence of its own by its own rules.
 *
 * It is shown a STREAMINFO made by us, because it must know the stream's rate,
 * width and block sizes to read headers that refer to them; length and MD5 are
 * left out so that it never stops or checks by itself. */
#include "daemon/decode/flac_core.h"

#include "daemon/decode/planes.h"
#include "lib/base/alloc.h"

#include <FLAC/stream_decoder.h>

#include <errno.h>
#include <string.h>

enum {
	HEAD_BYTES = 4 + 4 + FLAC_STREAM_INFO_BYTES,
	PIECES = 20, /* of a frame */
	LEAST_PIECE_BYTES = 64,
};

struct flac_core {
	struct allocator *allocator;
	FLAC__StreamDecoder *library;
	/* the frame in hand */
	const uint8_t *bytes;
	size_t length;
	size_t given;
	size_t piece; /* that is given at once */
	bool wanted_more;
	bool damaged;
	bool out_of_memory;
	bool written;
	struct stage *stage;
	struct flac_block block;
};

static FLAC__StreamDecoderReadStatus
give_bytes(const FLAC__StreamDecoder *library, FLAC__byte *ret_bytes,
	   size_t *length, void *context)
{
	struct flac_core *core = context;
	size_t count = core->length - core->given;

	(void)library;
	if (count == 0 || core->damaged) {
		core->wanted_more = true;
		*length = 0;
		return FLAC__STREAM_DECODER_READ_STATUS_ABORT;
	}
	if (count > *length)
		count = *length;
	if (count > core->piece)
		count = core->piece;
	if (core->stage != NULL)
		stage_ahead(core->stage, PIECES);
	memcpy(ret_bytes, core->bytes + core->given, count);
	core->given += count;
	*length = count;
	return FLAC__STREAM_DECODER_READ_STATUS_CONTINUE;
}

static FLAC__StreamDecoderTellStatus
tell_bytes(const FLAC__StreamDecoder *library, FLAC__uint64 *ret_offset,
	   void *context)
{
	const struct flac_core *core = context;

	(void)library;
	*ret_offset = core->given;
	return FLAC__STREAM_DECODER_TELL_STATUS_OK;
}

static FLAC__StreamDecoderWriteStatus
take_samples(const FLAC__StreamDecoder *library, const FLAC__Frame *frame,
	     const FLAC__int32 *const planes[], void *context)
{
	struct flac_core *core = context;

	(void)library;
	/* After an error libFLAC looks further; what it finds there is not
	 * the frame that was asked for. */
	if (core->damaged || core->written)
		return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
	core->block = (struct flac_block){
		.frames = frame->header.blocksize,
		.rate_hz = frame->header.sample_rate,
		.channels = frame->header.channels,
		.bits = frame->header.bits_per_sample,
	};
	if (core->stage->channels == core->block.channels) {
		if (stage_reserve(core->stage, core->block.frames) < 0) {
			core->out_of_memory = true;
			return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
		}
		planes_join_s32(stage_block(core->stage, core->block.frames),
				planes, core->block.channels,
				core->block.frames, 32 - core->block.bits);
	}
	core->written = true;
	return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

static void
note_error(const FLAC__StreamDecoder *library,
	   FLAC__StreamDecoderErrorStatus status, void *context)
{
	struct flac_core *core = context;

	(void)library;
	(void)status;
	core->damaged = true;
}

static void
put_big_endian(uint8_t *to, uint64_t value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = (uint8_t)(value >> (8 * (count - 1 - i)));
}

/* "fLaC" and a STREAMINFO that is the last block. */
static void
make_head(uint8_t *head, const struct flac_stream_info *info)
{
	static const uint8_t magic[] = {'f',  'L', 'a', 'C',
					0x80, 0,   0,   FLAC_STREAM_INFO_BYTES};

	memset(head, 0, HEAD_BYTES);
	memcpy(head, magic, sizeof(magic));
	head += sizeof(magic);
	put_big_endian(head, info->block_min, 2);
	put_big_endian(head + 2, info->block_max, 2);
	put_big_endian(head + 10,
		       (uint64_t)info->rate_hz << 44 |
			       (uint64_t)(info->channels - 1) << 41 |
			       (uint64_t)(info->bits - 1) << 36,
		       8);
}

static int
start_library(struct flac_core *core, const struct flac_stream_info *info)
{
	uint8_t head[HEAD_BYTES];

	core->library = FLAC__stream_decoder_new();
	if (core->library == NULL)
		return -ENOMEM;
	if (FLAC__stream_decoder_init_stream(
		    core->library, give_bytes, NULL, tell_bytes, NULL, NULL,
		    take_samples, NULL, note_error,
		    core) != FLAC__STREAM_DECODER_INIT_STATUS_OK)
		return -ENOMEM;
	make_head(head, info);
	core->bytes = head;
	core->length = sizeof(head);
	core->given = 0;
	core->piece = sizeof(head);
	if (!FLAC__stream_decoder_process_until_end_of_metadata(core->library))
		return -ENOMEM;
	core->bytes = NULL;
	return 0;
}

int
flac_core_create(struct allocator *allocator,
		 const struct flac_stream_info *info,
		 struct flac_core **ret_core)
{
	struct flac_core *core = allocator_new(allocator, sizeof(*core));
	int error = 0;

	if (core == NULL)
		return -ENOMEM;
	core->allocator = allocator;
	error = start_library(core, info);
	if (error < 0) {
		flac_core_destroy(core);
		return error;
	}
	*ret_core = core;
	return 0;
}

void
flac_core_destroy(struct flac_core *core)
{
	if (core == NULL)
		return;
	if (core->library != NULL)
		FLAC__stream_decoder_delete(core->library);
	allocator_delete(core->allocator, core);
}

/* libFLAC asks for more when it has decoded what it got: so many times it can
 * be used to look ahead. */
static size_t
piece_of(size_t length)
{
	const size_t piece = (length / PIECES + 7) / 8 * 8;

	return piece > LEAST_PIECE_BYTES ? piece : LEAST_PIECE_BYTES;
}

enum flac_core_status
flac_core_decode(struct flac_core *core, const uint8_t *bytes, size_t length,
		 struct stage *stage, struct flac_block *ret_block)
{
	FLAC__uint64 used = 0;

	core->bytes = bytes;
	core->length = length;
	core->given = 0;
	core->piece = piece_of(length);
	core->wanted_more = false;
	core->damaged = false;
	core->out_of_memory = false;
	core->written = false;
	core->stage = stage;
	if (!FLAC__stream_decoder_flush(core->library))
		return FLAC_CORE_MEMORY;
	(void)FLAC__stream_decoder_process_single(core->library);
	if (core->written && !core->damaged) {
		if (!FLAC__stream_decoder_get_decode_position(core->library,
							      &used))
			used = core->given;
		*ret_block = core->block;
		ret_block->used_bytes = (size_t)used;
		return FLAC_CORE_OK;
	}
	if (core->out_of_memory ||
	    FLAC__stream_decoder_get_state(core->library) ==
		    FLAC__STREAM_DECODER_MEMORY_ALLOCATION_ERROR)
		return FLAC_CORE_MEMORY;
	return core->wanted_more && !core->damaged ? FLAC_CORE_SHORT
						   : FLAC_CORE_DAMAGED;
}

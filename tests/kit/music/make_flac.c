/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_flac.c - libFLAC's encoder into memory. */
#include "tests/kit/music/music.h"

#include "daemon/decode/flac_frame.h"

#include <FLAC/metadata.h>
#include <FLAC/stream_encoder.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_SAMPLES = 512 };

struct sink {
	struct bytes *file;
	size_t begin; /* of this file in it */
	size_t at;
};

static FLAC__StreamEncoderWriteStatus
write_bytes(const FLAC__StreamEncoder *encoder, const FLAC__byte *bytes,
	    size_t length, uint32_t samples, uint32_t frame, void *context)
{
	struct sink *sink = context;
	const size_t end = sink->begin + sink->at + length;

	(void)encoder;
	(void)samples;
	(void)frame;
	if (end > sink->file->length)
		bytes_append(sink->file, NULL, end - sink->file->length);
	memcpy(sink->file->data + sink->begin + sink->at, bytes, length);
	sink->at += length;
	return FLAC__STREAM_ENCODER_WRITE_STATUS_OK;
}

static FLAC__StreamEncoderReadStatus
read_bytes(const FLAC__StreamEncoder *encoder, FLAC__byte *bytes,
	   size_t *length, void *context)
{
	struct sink *sink = context;
	const size_t left = sink->file->length - sink->begin - sink->at;

	(void)encoder;
	if (*length > left)
		*length = left;
	memcpy(bytes, sink->file->data + sink->begin + sink->at, *length);
	sink->at += *length;
	return *length > 0 ? FLAC__STREAM_ENCODER_READ_STATUS_CONTINUE
			   : FLAC__STREAM_ENCODER_READ_STATUS_END_OF_STREAM;
}

static FLAC__StreamEncoderSeekStatus
seek_bytes(const FLAC__StreamEncoder *encoder, FLAC__uint64 offset,
	   void *context)
{
	(void)encoder;
	((struct sink *)context)->at = (size_t)offset;
	return FLAC__STREAM_ENCODER_SEEK_STATUS_OK;
}

static FLAC__StreamEncoderTellStatus
tell_bytes(const FLAC__StreamEncoder *encoder, FLAC__uint64 *offset,
	   void *context)
{
	(void)encoder;
	*offset = ((struct sink *)context)->at;
	return FLAC__STREAM_ENCODER_TELL_STATUS_OK;
}

static void
require(bool good)
{
	if (!good)
		abort();
}

static FLAC__StreamMetadata *
make_comments(const char *const *tags)
{
	FLAC__StreamMetadata *block =
		FLAC__metadata_object_new(FLAC__METADATA_TYPE_VORBIS_COMMENT);

	require(block != NULL);
	for (; tags != NULL && tags[0] != NULL; tags += 2) {
		FLAC__StreamMetadata_VorbisComment_Entry entry;

		require(FLAC__metadata_object_vorbiscomment_entry_from_name_value_pair(
			&entry, tags[0], tags[1]));
		require(FLAC__metadata_object_vorbiscomment_append_comment(
			block, entry, false));
	}
	return block;
}

static void
configure(FLAC__StreamEncoder *encoder, const struct recipe *recipe)
{
	require(FLAC__stream_encoder_set_streamable_subset(encoder, false));
	require(FLAC__stream_encoder_set_channels(encoder, recipe->channels));
	require(FLAC__stream_encoder_set_bits_per_sample(encoder,
							 recipe->bits));
	require(FLAC__stream_encoder_set_sample_rate(encoder, recipe->rate_hz));
	require(FLAC__stream_encoder_set_compression_level(encoder, 3));
	if (recipe->block > 0)
		require(FLAC__stream_encoder_set_blocksize(encoder,
							   recipe->block));
	if (recipe->ogg)
		require(FLAC__stream_encoder_set_ogg_serial_number(
			encoder, recipe->serial));
}

static void
encode(FLAC__StreamEncoder *encoder, const struct recipe *recipe,
       struct bytes *ret_samples)
{
	const double scale = ldexp(1, (int)recipe->bits - 1) - 1;
	FLAC__int32 chunk[CHUNK_SAMPLES];
	uint32_t used = 0;

	for (uint64_t frame = 0; frame < recipe->frames; frame++) {
		for (uint32_t c = 0; c < recipe->channels; c++) {
			const FLAC__int32 value = (FLAC__int32)floor(
				music_sample(recipe, frame, c) * scale);
			const uint32_t left = (uint32_t)value
					      << (32 - recipe->bits);

			chunk[used++] = value;
			if (ret_samples != NULL)
				bytes_append(ret_samples, &left, sizeof(left));
		}
		if (used + recipe->channels > CHUNK_SAMPLES ||
		    frame + 1 == recipe->frames) {
			require(FLAC__stream_encoder_process_interleaved(
				encoder, chunk, used / recipe->channels));
			used = 0;
		}
	}
}

void
make_flac(const struct recipe *recipe, struct bytes *ret_file,
	  struct bytes *ret_samples)
{
	FLAC__StreamEncoder *encoder = FLAC__stream_encoder_new();
	FLAC__StreamMetadata *comments = make_comments(recipe->tags);
	struct sink sink = {.file = ret_file, .begin = ret_file->length};
	const bool seekable = !recipe->unknown_total;
	FLAC__StreamEncoderInitStatus status;

	require(encoder != NULL);
	configure(encoder, recipe);
	if (recipe->tags != NULL)
		require(FLAC__stream_encoder_set_metadata(encoder, &comments,
							  1));
	if (recipe->ogg)
		status = FLAC__stream_encoder_init_ogg_stream(
			encoder, seekable ? read_bytes : NULL, write_bytes,
			seekable ? seek_bytes : NULL,
			seekable ? tell_bytes : NULL, NULL, &sink);
	else
		status = FLAC__stream_encoder_init_stream(
			encoder, write_bytes, seekable ? seek_bytes : NULL,
			seekable ? tell_bytes : NULL, NULL, &sink);
	require(status == FLAC__STREAM_ENCODER_INIT_STATUS_OK);
	encode(encoder, recipe, ret_samples);
	require(FLAC__stream_encoder_finish(encoder));
	FLAC__stream_encoder_delete(encoder);
	FLAC__metadata_object_delete(comments);
}

size_t
flac_audio_of(const struct bytes *file)
{
	struct flac_frame frame;
	bool found;
	const size_t at =
		flac_frame_find(file->data, file->length, 42, &frame, &found);

	require(found && frame.number == 0);
	return at;
}

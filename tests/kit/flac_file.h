/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac_file.h - a real FLAC file of half a second with a title. */
#ifndef ROTARY_TESTS_SERVER_FLAC_FILE_H
#define ROTARY_TESTS_SERVER_FLAC_FILE_H

#include <FLAC/metadata.h>
#include <FLAC/stream_encoder.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static inline void
flac_file_write(const char *path, const char *title)
{
	enum { FRAMES = 22050 };
	static FLAC__int32 samples[FRAMES];
	FLAC__StreamMetadata *block =
		FLAC__metadata_object_new(FLAC__METADATA_TYPE_VORBIS_COMMENT);
	FLAC__StreamEncoder *encoder = FLAC__stream_encoder_new();
	FLAC__StreamMetadata_VorbisComment_Entry entry;

	assert_non_null(block);
	assert_non_null(encoder);
	assert_true(
		FLAC__metadata_object_vorbiscomment_entry_from_name_value_pair(
			&entry, "TITLE", title));
	assert_true(FLAC__metadata_object_vorbiscomment_append_comment(
		block, entry, false));
	FLAC__stream_encoder_set_channels(encoder, 1);
	FLAC__stream_encoder_set_metadata(encoder, &block, 1);
	assert_int_equal(
		FLAC__stream_encoder_init_file(encoder, path, NULL, NULL),
		FLAC__STREAM_ENCODER_INIT_STATUS_OK);
	assert_true(FLAC__stream_encoder_process_interleaved(encoder, samples,
							     FRAMES));
	assert_true(FLAC__stream_encoder_finish(encoder));
	FLAC__stream_encoder_delete(encoder);
	FLAC__metadata_object_delete(block);
}

#endif

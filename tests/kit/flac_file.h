/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac_file.h - a real FLAC file of some silence, with comments. */
#ifndef ROTARY_KIT_FLAC_FILE_H
#define ROTARY_KIT_FLAC_FILE_H

#include "lib/base/attr.h"

#include <FLAC/metadata.h>
#include <FLAC/stream_encoder.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { FLAC_FILE_RATE_HZ = 44100 };

/* comments: "NAME=VALUE", or what else a file may hold; NULL at the end. */
static inline void
flac_file_write(const char *path, const char *const *comments, unsigned frames)
{
	static FLAC__int32 samples[FLAC_FILE_RATE_HZ];
	FLAC__StreamMetadata *block =
		FLAC__metadata_object_new(FLAC__METADATA_TYPE_VORBIS_COMMENT);
	FLAC__StreamEncoder *encoder = FLAC__stream_encoder_new();

	assert_non_null(block);
	assert_non_null(encoder);
	assert_in_range(frames, 1, FLAC_FILE_RATE_HZ);
	for (; *comments != NULL; comments++) {
		FLAC__StreamMetadata_VorbisComment_Entry entry = {0};

		entry.length = (uint32_t)strlen(*comments);
		entry.entry = (FLAC__byte *)(uintptr_t)*comments;
		assert_true(FLAC__metadata_object_vorbiscomment_append_comment(
			block, entry, true));
	}
	FLAC__stream_encoder_set_channels(encoder, 1);
	FLAC__stream_encoder_set_metadata(encoder, &block, 1);
	assert_int_equal(
		FLAC__stream_encoder_init_file(encoder, path, NULL, NULL),
		FLAC__STREAM_ENCODER_INIT_STATUS_OK);
	assert_true(FLAC__stream_encoder_process_interleaved(encoder, samples,
							     frames));
	assert_true(FLAC__stream_encoder_finish(encoder));
	FLAC__stream_encoder_delete(encoder);
	FLAC__metadata_object_delete(block);
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac_frame.h - what FLAC's headers say (RFC 9639).
 *
 * Pure: bytes in, facts out. RT: RT_SAFE. */
#ifndef ROTARY_DECODE_FLAC_FRAME_H
#define ROTARY_DECODE_FLAC_FRAME_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum {
	FLAC_STREAM_INFO_BYTES = 34,
	FLAC_FRAME_HEADER_MAX = 16,
	FLAC_FRAME_BYTES_MIN = 10,
	FLAC_BLOCK_MAX = 65536, /* frames */
};

struct flac_stream_info {
	uint32_t block_min; /* frames */
	uint32_t block_max;
	uint32_t frame_bytes_max; /* 0: unknown */
	uint32_t rate_hz;
	uint32_t channels;
	uint32_t bits;
	uint64_t frames; /* 0: unknown */
};

struct flac_frame {
	uint32_t header_bytes;
	uint32_t block_frames;
	uint32_t rate_hz; /* 0: as the stream's */
	uint32_t channels;
	uint32_t bits;   /* 0: as the stream's */
	uint64_t number; /* of the frame, or of its first sample */
	bool variable;   /* the header says: number counts samples */
};

enum flac_parse {
	FLAC_PARSE_NO,
	FLAC_PARSE_SHORT, /* a good beginning */
	FLAC_PARSE_OK,
};

/* A STREAMINFO block's FLAC_STREAM_INFO_BYTES bytes. False when they cannot be
 * one. */
RT_SAFE bool flac_stream_info_parse(const uint8_t *bytes,
				    struct flac_stream_info *ret_info);

/* A frame's header at bytes; its checksum is checked. */
RT_SAFE enum flac_parse flac_frame_parse(const uint8_t *bytes, size_t length,
					 struct flac_frame *ret_frame);

/* length bytes, which begin with a header, are a frame: its checksum fits. */
RT_SAFE bool flac_frame_is_whole(const uint8_t *bytes, size_t length);

/* Finds the first header at or after bytes[from]. Returns its place; where
 * there is none, the place from which to look again when more bytes are
 * there, and *ret_frame is untouched and *ret_found false. */
RT_SAFE size_t flac_frame_find(const uint8_t *bytes, size_t length, size_t from,
			       struct flac_frame *ret_frame, bool *ret_found);

#endif

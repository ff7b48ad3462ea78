/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Native FLAC. The checksums of frame headers are made good first, or nearly
 * every input would end there. */
#include "daemon/decode/flac_frame.h"
#include "tests/fuzz/decode/decode_input.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Tries all checksums for the header at bytes; a few inputs a second less. */
static void
seal_header(uint8_t *bytes, size_t length)
{
	const size_t reach =
		length < FLAC_FRAME_HEADER_MAX ? length : FLAC_FRAME_HEADER_MAX;
	struct flac_frame frame;

	if (flac_frame_parse(bytes, reach, &frame) == FLAC_PARSE_OK)
		return;
	for (size_t at = 5; at < reach; at++) {
		const uint8_t before = bytes[at];

		/* A header is as long as its own bytes say; only there can
		 * the checksum be. Shorter tells: what was short is not. */
		if (flac_frame_parse(bytes, at, &frame) != FLAC_PARSE_SHORT)
			return;
		for (unsigned int crc = 0; crc < 256; crc++) {
			bytes[at] = (uint8_t)crc;
			if (flac_frame_parse(bytes, at + 1, &frame) ==
			    FLAC_PARSE_OK)
				return;
		}
		bytes[at] = before;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (copy == NULL)
		abort();
	if (size > 0)
		memcpy(copy, data, size);
	for (size_t at = 0; at + 1 < size; at++)
		if (copy[at] == 0xff && (copy[at + 1] & 0xfe) == 0xf8)
			seal_header(copy + at, size - at);
	decode_input(copy, size);
	free(copy);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ogg with Vorbis and FLAC in it. The checksums of pages are made good first,
 * or nearly every input would end there. */
#include "daemon/decode/ogg_page.h"
#include "tests/fuzz/decode/decode_input.h"

#include <ogg/ogg.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	size_t at = 0;

	if (copy == NULL)
		abort();
	if (size > 0)
		memcpy(copy, data, size);
	while (at < size) {
		struct ogg_page_info page;
		ogg_page whole;

		if (!ogg_page_parse(copy + at, size - at, &page) ||
		    page.bytes > size - at) {
			at++;
			continue;
		}
		whole = (ogg_page){
			.header = copy + at,
			.header_len = (long)page.head_bytes,
			.body = copy + at + page.head_bytes,
			.body_len = (long)(page.bytes - page.head_bytes),
		};
		ogg_page_checksum_set(&whole);
		at += page.bytes;
	}
	decode_input(copy, size);
	free(copy);
	return 0;
}

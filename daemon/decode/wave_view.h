/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wave_view.h - a file as libsndfile sees it: without ID3v2 tags in front, with
 * BW64 called RF64 (which it is but for its name), and with an end to all
 * patience, since a hostile file can lead a parser in circles.
 * Threads: the worker's that opens. RT: MAY_BLOCK. */
#ifndef ROTARY_DECODE_WAVE_VIEW_H
#define ROTARY_DECODE_WAVE_VIEW_H

#include "lib/base/attr.h"

#include <sndfile.h>
#include <stdbool.h>

struct reader;

struct wave_view {
	struct reader *reader;
	uint64_t base; /* of its byte 0 in the file */
	uint64_t length;
	uint64_t at;
	bool is_bw64;
	uint32_t calls; /* patience left */
	uint64_t bytes; /* likewise */
	int error;      /* of the reader */
};

/* For libsndfile; the context is the view. */
extern const SF_VIRTUAL_IO wave_view_io;

/* Begins behind the ID3v2 tags that the reader stands at. 0, -EINVAL (hardly a
 * byte), -ESPIPE (the reader cannot seek), -errno of the source. */
NODISCARD int wave_view_init(struct wave_view *view, struct reader *reader);
/* Bytes from the place that it is at, as far as there are any. */
size_t wave_view_take(struct wave_view *view, uint8_t *ret_bytes,
		      size_t length);

#endif

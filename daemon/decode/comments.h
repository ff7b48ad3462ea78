/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comments.h - Vorbis comments, taken in as they stream by.
 *
 * The block may come in pieces of any size and may be of any size: what is
 * kept is bounded (COMMENTS_VALUE_MAX each, COMMENTS_TOTAL_MAX in all), and
 * what is longer, a picture most of the time, is passed over without being
 * held. So is a name that the format does not allow.
 * Threads: one. RT: MAY_BLOCK. Memory: the allocator. */
#ifndef ROTARY_DECODE_COMMENTS_H
#define ROTARY_DECODE_COMMENTS_H

#include "daemon/decode/decoder.h"

enum {
	COMMENTS_VALUE_MAX = 64 << 10,
	COMMENTS_TOTAL_MAX = 256 << 10,
};

struct comments {
	struct allocator *allocator;
	char *kept; /* "NAME\0value\0" after its 4-byte value length, ... */
	size_t kept_length;
	size_t kept_capacity;
	/* the parser */
	int phase;
	uint32_t number; /* being read, little endian */
	uint32_t number_bytes;
	uint32_t left;  /* of the string in hand */
	uint32_t count; /* comments yet to come */
	size_t item;    /* where the comment in hand begins in kept */
	bool keeping;
};

/* An empty list; {0} with an allocator is one too. */
void comments_init(struct comments *comments, struct allocator *allocator);
void comments_finish(struct comments *comments);
/* Begins a block; what earlier blocks gave is kept. */
void comments_begin(struct comments *comments);
/* The next piece of the block. Stops listening when the block is over or
 * memory is. */
void comments_feed(struct comments *comments, const uint8_t *bytes,
		   size_t length);
void comments_each(const struct comments *comments, decoder_tag_fn *tag,
		   void *context);

#endif

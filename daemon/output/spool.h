/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spool.h - the memory of a card that a thread of ours plays from: a ring
 * between the output thread, which writes frames and takes them back, and a
 * draining thread, which takes them for good.
 *
 *   heard <= taken <= written <= heard + ring
 *
 * Both ends that race, written and taken, are the halves of one word, so that
 * no frame is taken and taken back at once.
 *
 *           | begin commit rewind reset | take | say_heard
 *  output   |             X             |  -   |    -      X: one thread
 *  draining |             -             |  X   |    X      -: none needed
 *
 * Threads: init and finish on a worker when nothing else runs. RT: all RT_SAFE
 * but these two; a retry means that the other side moved on. Units: frames. */
#ifndef ROTARY_OUTPUT_SPOOL_H
#define ROTARY_OUTPUT_SPOOL_H

#include "lib/base/attr.h"

struct spool {
	/* immutable */
	uint8_t *memory;
	size_t frame_bytes;
	uint32_t ring_frames;
	/* output */
	uint64_t written;
	/* draining */
	uint64_t taken;
	/* between them: the low halves of written and taken */
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) ends;
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) heard;
};

/* -ENOMEM. ring_frames is below 2^31. */
NODISCARD MAY_BLOCK int spool_init(struct spool *spool, size_t frame_bytes,
				   uint32_t ring_frames);
MAY_BLOCK void spool_finish(struct spool *spool);

/* Output. */
RT_SAFE uint64_t spool_heard(const struct spool *spool);
/* Room for up to *ret_frames frames in one run of memory. */
RT_SAFE void *spool_begin(struct spool *spool, size_t *ret_frames);
RT_SAFE void spool_commit(struct spool *spool, size_t frames);
/* Takes back the newest that were not taken, at most frames; how many. */
RT_SAFE size_t spool_rewind(struct spool *spool, size_t frames);

/* Draining. The oldest frames, at most *ret_frames, in one run of memory; they
 * stay there until spool_say_heard() passes them. */
RT_SAFE const void *spool_take(struct spool *spool, size_t *ret_frames);
/* Frames that can be taken. */
RT_SAFE size_t spool_takeable(const struct spool *spool);
/* Never goes back. */
RT_SAFE void spool_say_heard(struct spool *spool, uint64_t frames);

#endif

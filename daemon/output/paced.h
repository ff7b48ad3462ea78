/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paced.h - a sound card without hardware: a ring that the clock plays from.
 * null and wav stand on it.
 *
 *   stored <= played <= written <= played + buffer, written - stored <= ring
 *
 * Frames that have been played may be stored by another thread, which reads
 * them with paced_read(); until then they stay in the ring.
 * Threads: init and finish on a worker when nothing else runs; paced_read() by
 * one storing thread; the rest by output. RT: all RT_SAFE but init, finish. */
#ifndef ROTARY_OUTPUT_PACED_H
#define ROTARY_OUTPUT_PACED_H

#include "daemon/output/card.h"
#include "lib/base/attr.h"

#include <stdbool.h>

struct paced {
	/* immutable */
	uint8_t *memory;
	size_t frame_bytes;
	uint32_t rate_hz;
	uint32_t buffer_frames;
	uint32_t ring_frames;
	/* output */
	uint64_t written;
	uint64_t base;    /* played before the clock was started */
	int64_t start_ns; /* 0: stands still */
	bool dry;
	/* between output and the storing thread */
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) played;
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) stored;
};

/* spare_frames: room for what is played but not stored yet. -ENOMEM. */
NODISCARD MAY_BLOCK int paced_init(struct paced *paced,
				   const struct card_info *info,
				   uint32_t spare_frames);
MAY_BLOCK void paced_finish(struct paced *paced);
/* What the request comes to: its rate and channels, and a format. */
void paced_info(const struct card_request *request, enum card_format format,
		uint32_t bits, struct card_info *ret_info);

/* As the members of struct card_ops. */
RT_SAFE int paced_status(struct paced *paced, struct card_status *ret_status);
RT_SAFE int paced_begin(struct paced *paced, void **ret_memory,
			size_t *ret_frames);
RT_SAFE int paced_commit(struct paced *paced, size_t frames);
RT_SAFE long paced_rewind(struct paced *paced, size_t frames);
RT_SAFE int paced_start(struct paced *paced);
RT_SAFE int paced_reset(struct paced *paced);

/* The oldest frames that were played and not stored, in one run of memory. */
RT_SAFE const void *paced_read(struct paced *paced, size_t *ret_frames);
RT_SAFE void paced_stored(struct paced *paced, size_t frames);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stage.h - decoded blocks on their way out, put in their place in time.
 *
 * A decoder says where a block of frames belongs; whoever takes frames gets an
 * unbroken run. What lies between the place reached and a later block comes
 * out as silence (a gap, counted); what lies before the place reached is left
 * out (an overlap, or the run-up of a seek). So a seek is nothing but a new
 * place to go on from, and a frame of silence is four zero bytes a channel in
 * either kind of sample.
 * A block that goes on from the place reached, and fits, is written where it is
 * taken to at once; only others are kept in the stage's own memory.
 * Threads: the decoder's. RT: RT_SAFE but init, finish and reserve.
 * Memory: one block of the allocator. Units: frames. */
#ifndef ROTARY_DECODE_STAGE_H
#define ROTARY_DECODE_STAGE_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct allocator;

struct stage {
	struct allocator *allocator;
	uint32_t *samples; /* S32 or F32, interleaved */
	size_t capacity;   /* frames that samples holds */
	uint32_t channels;
	uint64_t next;       /* the frame that is taken next */
	uint64_t block_at;   /* the frame that samples begin with */
	size_t block_frames; /* of samples that are valid */
	uint64_t gap_frames; /* silence given so far */
	uint32_t *aim;       /* where frames are taken to, or NULL */
	size_t aim_capacity; /* frames */
	size_t aimed;        /* frames that are there already */
	uint32_t *ahead;     /* up to there the aim is in a cache */
	bool on_aim;         /* the block in the making is written there */
};

/* 0 or -ENOMEM. */
NODISCARD int stage_init(struct stage *stage, struct allocator *allocator,
			 uint32_t channels, size_t capacity);
void stage_finish(struct stage *stage);
/* Makes room for blocks of that many frames; drops the block that it holds.
 * 0 or -ENOMEM. */
MAY_BLOCK NODISCARD int stage_reserve(struct stage *stage, size_t capacity);

/* Where the next stage_take() will take to; NULL: that is not known any more.
 */
RT_SAFE void stage_aim(struct stage *stage, void *samples, size_t capacity);
/* Where to write a block of so many frames, which the stage has room for. */
RT_SAFE uint32_t *stage_block(struct stage *stage, size_t frames);
/* Has one part in `parts` of the aim brought into a cache, while there is still
 * something else to do: it may be a ring that lies in none. More than some
 * lines at a time would be waited for. */
RT_SAFE void stage_ahead(struct stage *stage, unsigned parts);
/* Says that a block of frames was written there, or, with none, not; it begins
 * at block_at. */
RT_SAFE void stage_put(struct stage *stage, uint64_t block_at, size_t frames);
/* Up to capacity frames; 0: another block is needed. */
RT_SAFE size_t stage_take(struct stage *stage, void *ret_samples,
			  size_t capacity);
/* True when stage_take() would give something. */
RT_SAFE bool stage_holds(const struct stage *stage);
/* Goes on from frame, whatever it holds. */
RT_SAFE void stage_move(struct stage *stage, uint64_t frame);

#endif

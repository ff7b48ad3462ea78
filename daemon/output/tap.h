/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tap.h - what one output's thread has mixed, for those of other outputs: a
 * ring of frames that is written over whoever reads.
 *
 * There is one for each time that the card of the clock was opened; its frames
 * are counted as those of that card, from 0. Two mixes of them may be kept:
 * all that sounds, and music alone, not lowered for what is not heard there.
 * Both are floats, before the volume and the limiter, which are each output's
 * own.
 *
 * The writer mixes ahead of what is heard, and may take it back and mix it
 * anew. So a reader that is ahead of what is heard asks, before it reads and
 * after, whether the writer turned back, and how far: then what it read from
 * there on is not what will be heard. Until the writer has published once more,
 * what lies behind that frame may be the old or the new.
 *
 *            | write, publish | read, look
 *  write     |       X        |     -       X: outside order needed
 *  read      |       -        |     -       -: none
 *
 * Progress: all wait-free; a look that the writer got in the way of says so.
 * Threads: write, publish: the clock's output thread; read, look: any; create,
 * destroy, want: control, destroy when nobody reads or writes any more.
 * RT: all RT_SAFE but create and destroy. Units: frames. */
#ifndef ROTARY_OUTPUT_TAP_H
#define ROTARY_OUTPUT_TAP_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum tap_mix { TAP_ALL, TAP_MUSIC, TAP_MIXES };

/* As of time_ns. */
struct tap_view {
	uint64_t mixed; /* frames */
	uint64_t heard;
	int64_t time_ns;
	uint32_t lead_frames; /* at least as much is mixed ahead, while it runs
			       */
	uint32_t turns;       /* how often the writer has turned back */
	bool running;         /* it is heard on and on */
	bool ended;           /* nothing will ever follow */
};

enum { TAP_TURNS = 16 }; /* that are remembered */

struct tap {
	/* immutable */
	uint32_t rate_hz;
	uint32_t channels;
	uint64_t capacity_frames;
	ATOMIC(float) * frames[TAP_MIXES]; /* NULL: never made */
	void *memory[TAP_MIXES];           /* the same */
	size_t bytes;                      /* of each */
	/* control */
	ALIGNED(CACHE_LINE) ATOMIC(bool) wanted[TAP_MIXES];
	/* the writer */
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) first[TAP_MIXES];
	ATOMIC(uint64_t) claimed; /* what lies a capacity before is gone */
	ATOMIC(uint32_t) sequence;
	ATOMIC(uint64_t) mixed;
	ATOMIC(uint64_t) heard;
	ATOMIC(int64_t) time_ns;
	ATOMIC(uint32_t) lead_frames;
	ATOMIC(uint32_t) flags;
	ATOMIC(uint32_t) published_turns;
	ATOMIC(uint32_t) turns;
	ATOMIC(uint64_t) turned_to[TAP_TURNS];
};

/* ahead_frames: how far the writer may be ahead of what is heard. music: both
 * mixes are kept. NULL: no memory. */
NODISCARD MAY_BLOCK struct tap *tap_create(uint32_t rate_hz, uint32_t channels,
					   uint32_t ahead_frames, bool music);
MAY_BLOCK void tap_destroy(struct tap *tap);
/* Nothing is written of a mix that nobody wants. */
void tap_want(struct tap *tap, enum tap_mix mix, bool wanted);

/* Writer. */
RT_SAFE bool tap_wants(const struct tap *tap, enum tap_mix mix);
/* The frames from frame on, which may have been written before. NULL: all is
 * silent. */
RT_SAFE void tap_write(struct tap *tap, enum tap_mix mix, uint64_t frame,
		       const float *frames, size_t count);
/* Frames from this one on are about to be mixed anew. */
RT_SAFE void tap_turn_back(struct tap *tap, uint64_t frame);
/* Frames go by that nobody wants: what is wanted again later begins anew. */
RT_SAFE void tap_pass(struct tap *tap, enum tap_mix mix);
/* The turns of the view are the tap's own. */
RT_SAFE void tap_publish(struct tap *tap, const struct tap_view *view);

/* Reader. False: the writer was at it, ask again later. */
RT_SAFE bool tap_look(const struct tap *tap, struct tap_view *ret_view);
/* Frames before this one were never written of the mix; UINT64_MAX: none was.
 */
RT_SAFE uint64_t tap_first(const struct tap *tap, enum tap_mix mix);
/* The frame that is heard at now_ns. */
RT_SAFE uint64_t tap_heard(const struct tap *tap, const struct tap_view *view,
			   int64_t now_ns);
RT_SAFE uint32_t tap_turns(const struct tap *tap);
/* The lowest frame that was turned back to since there were `turns` turns;
 * UINT64_MAX: there was none. */
RT_SAFE uint64_t tap_turned_to(const struct tap *tap, uint32_t turns);
/* Copies count frames from frame on; those before the first are silent, and so
 * are those from `until` on. False: some of them were written over. */
RT_SAFE bool tap_read(const struct tap *tap, enum tap_mix mix, int64_t frame,
		      uint64_t until, float *out, size_t count);

#endif

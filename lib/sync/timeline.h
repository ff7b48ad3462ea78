/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.h - what is heard now: a seqlock that the output thread writes and
 * anyone reads.
 *
 * A point says at which output frame a stretch of a stream begins; it lasts to
 * the next point. heard = written - delay, carried on by the clock from the
 * time of the measurement and never past what was written.
 *
 *          | publish | read
 *  publish |    X    |  -      X: outside order needed, -: none
 *  read    |    -    |  -
 *
 * Orders: a read gives one whole publication, the last one that ended before it
 * began or a later one; what came before that publication is seen.
 * Progress: publish is wait-free; a read goes on once no publish runs: it waits
 * for a writer that stands still in the midst of one. So it is for readers of
 * less weight than the output thread, which publishes some ten times a second
 * for a microsecond. Cost: a load or store for each word of the view (some 70).
 * RT: all RT_SAFE. Source: H.-J. Boehm, "Can seqlocks get along
 * with programming language memory models?", MSPC 2012 (data words are atomic).
 */
#ifndef ROTARY_SYNC_TIMELINE_H
#define ROTARY_SYNC_TIMELINE_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum { TIMELINE_POINTS = 16 };

struct timeline_point {
	uint64_t output_frame; /* first frame of the stretch at the card */
	uint64_t stream_id;    /* 0: silence */
	uint64_t stream_frame; /* of the stream, at its own rate */
	uint32_t stream_rate_hz;
	uint32_t lane;
};

struct timeline_view {
	int64_t time_ns;         /* when written and delay were measured */
	uint64_t written_frames; /* handed to the card so far */
	uint64_t delay_frames;   /* not heard yet at time_ns */
	uint32_t rate_hz;        /* of the card; 0: no card is open */
	uint32_t running;        /* 1 while the card consumes frames */
	uint32_t point_count;
	uint32_t reserved;
	/* ascending; the first holds what is heard */
	struct timeline_point points[TIMELINE_POINTS];
};

struct timeline {
	ALIGNED(CACHE_LINE) ATOMIC(uint32_t) sequence; /* odd: being written */
	ATOMIC(uint64_t) words[sizeof(struct timeline_view) / 8];
};

void timeline_init(struct timeline *timeline);
RT_SAFE void timeline_publish(struct timeline *timeline,
			      const struct timeline_view *view);
RT_SAFE void timeline_read(const struct timeline *timeline,
			   struct timeline_view *ret_view);

/* The output frame heard at now_ns. */
RT_SAFE uint64_t timeline_heard_frame(const struct timeline_view *view,
				      int64_t now_ns);
/* What is heard of lane at now_ns: the point it lies in, with stream_frame
 * moved on to the very frame. False when the lane is silent. */
RT_SAFE bool timeline_heard(const struct timeline_view *view, uint32_t lane,
			    int64_t now_ns, struct timeline_point *ret_point);

#endif

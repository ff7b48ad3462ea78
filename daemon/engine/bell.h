/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bell.h - how a decoder thread or a worker calls control: an event into the
 * queue that the output thread uses too, then the eventfd. And how a lane calls
 * the output thread that mixes from its decks: by an eventfd of its own, since
 * control, on the way, may have to wait for a CPU.
 *
 * An event only says "look there": what happened is in flags of the stream or
 * the lane, so that an event lost to a full queue is made good by a look at
 * everything (engine_events.c).
 * Threads: any. RT: RT_DEVICE (one write of 8 bytes, which never waits). */
#ifndef ROTARY_ENGINE_BELL_H
#define ROTARY_ENGINE_BELL_H

#include "daemon/output/output.h"
#include "lib/base/attr.h"

struct queue;

/* The engine's own kinds, behind those of output.h. */
enum engine_event_kind {
	ENGINE_EVENT_LEFT = 64, /* lane, id stream: its last frame is taken */
	ENGINE_EVENT_ASTRAY,    /* lane, id cut: cannot go on as planned */
	ENGINE_EVENT_LOOK,      /* nothing of its own */
};

struct bell {
	struct queue *queue; /* of struct rt_event */
	int event_fd;
	int deck_fd; /* polled by the output thread that has the decks */
};

RT_DEVICE void bell_ring(const struct bell *bell, uint32_t kind, uint32_t lane,
			 uint64_t id, uint64_t value);
/* There is enough in a deck. */
RT_DEVICE void bell_tell_output(const struct bell *bell);

#endif

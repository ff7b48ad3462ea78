/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decoders.h - the threads that pull items from the rotary set.
 *
 * As many as wanted are active; one more is parked. When a quantum uses up its
 * budget the thread is demoted in the signal handler, which lets a parked one
 * take over; when the quantum has returned, that thread parks itself and
 * control promotes it again. A thread whose quantum does not return at all is
 * given up after DECODERS_STUCK_NS, or when its stream has waited for its
 * overruns that long in all: the stream is marked as one that takes too long.
 * A new spare is started as soon as none is left, so that several that run away
 * at once do not hold up the others.
 *
 *   PARKED --(a turn is free)--> ACTIVE --(overrun)--> DEMOTED --(returns)--+
 *      ^                                                                    |
 *      +--------------------------------------------------------------------+
 *
 * Invariant: ACTIVE threads + free turns == wanted, while fewer than all are
 * demoted.
 * Threads: control, but decoder_main(): each its own. */
#ifndef ROTARY_ENGINE_DECODERS_H
#define ROTARY_ENGINE_DECODERS_H

#include "daemon/engine/bell.h"
#include "daemon/engine/item.h"
#include "daemon/output/mix_plan.h"
#include "lib/base/attr.h"
#include "lib/base/thread.h"
#include "lib/rt/rt.h"
#include "lib/sync/hazard.h"
#include "lib/sync/rotary.h"
#include "lib/sync/wake.h"

#include <stdbool.h>

struct decoders;
struct lane;
struct promotion;
struct snapshot;
struct text;
struct work;

enum {
	DECODERS_MAX = 4,         /* active */
	DECODER_THREADS_MAX = 16, /* with spares and those given up */
	DECODER_BURST_NS = 8 * 1000 * 1000,
	DECODER_CALM_BURST_NS = 1000 * 1000,
	DECODER_CALM_RESTS = 4,
	/* Times real time: twice what the lanes can play together. What is
	 * urgent and decoded so fast will soon be urgent no more. */
	DECODER_HASTE = 8,
	DECODER_ROUND_SLACK = 2,
	DECODER_RESERVE_NS = 2 * 1000 * 1000,
	DECODER_RESERVE_TRIES = 25,
};
/* All that is urgent together has its turns within this time, two fifths of a
 * stream's stock when it is ready: the rest is for a quantum that runs away and
 * for the sleep after it. */
#define DECODER_ROUND_NS (100 * NS_PER_MS)
#define DECODERS_STUCK_NS (1500 * NS_PER_MS)

enum decoder_state {
	DECODER_NONE, /* setting itself up */
	DECODER_PARKED,
	DECODER_ACTIVE,
	DECODER_DEMOTED,
	DECODER_GONE, /* its main has returned */
};

struct decoder_thread {
	/* immutable after its start */
	struct decoders *decoders;
	unsigned index;  /* hazard reader */
	unsigned reader; /* slot of the plan snapshot */
	struct thread thread;
	struct rt_figures figures;
	/* its own */
	struct rt_budget budget;
	uint64_t item_id; /* of what is in the quantum; for the handler */
	int64_t begin_ns; /* of the quantum, on its CPU clock */
	int64_t ran_ns;   /* and has not slept for yet */
	int64_t made_ns;  /* sound, in that time */
	bool marked;      /* its malloc keeps out of the kernel */
	unsigned unready; /* waits for its private reserve, in a row */
	/* atomic */
	ALIGNED(CACHE_LINE) ATOMIC(uint32_t) state; /* enum decoder_state */
	ATOMIC(uint32_t) returned; /* from an overrun: to be promoted */
	ATOMIC(int64_t) demoted_ns;
	ATOMIC(uint64_t) reserve_waits;  /* quanta put off for it */
	ATOMIC(uint64_t) reserve_missed; /* begun without it at last */
	/* In the quantum, or NULL. Only control frees items, and only those
	 * that no thread holds, so that it may look at what it reads here. */
	ATOMIC(struct item *) item;
	/* control's */
	bool given_up;
	struct promotion *promotion; /* under way, or NULL */
};

struct decoders {
	/* immutable */
	struct rotary *set;
	struct hazard_domain *hazards;
	struct snapshot *plans;
	unsigned first_reader; /* snapshot slot of thread 0 */
	struct wake *wake;
	const struct bell *bell;
	struct work *work; /* NULL: in tests */
	unsigned wanted;
	int priority;
	enum rt_fence fence;
	bool lock_memory;
	/* atomic */
	ALIGNED(CACHE_LINE) ATOMIC(uint32_t) items; /* in the set */
	ATOMIC(uint32_t) stop;
	/* Streams are being opened, which somebody waits for: until then at
	 * most, those that have enough leave the CPUs to that. 0: none are. */
	ATOMIC(int64_t) calm_until_ns;
	struct wake park;
	ATOMIC(uint32_t) turns; /* free */
	/* What who left a turn has run and not slept for: who takes it must. */
	ATOMIC(int64_t) debt_ns;
	/* Control sets them once; they are in the set for ever. */
	ATOMIC(struct lane *) lanes[LANE_COUNT];
	/* control's */
	bool spare_missed; /* that was said */
	unsigned count;
	struct decoder_thread threads[DECODER_THREADS_MAX];
};

struct decoders_config {
	struct rotary *set;
	struct hazard_domain *hazards;
	struct snapshot *plans;
	unsigned first_reader;
	struct wake *wake;
	const struct bell *bell;
	struct work *work;
	int wanted; /* 0: one per CPU, at most DECODERS_MAX */
	int priority;
	enum rt_fence fence;
	bool lock_memory;
};

/* How many will be active; wanted as in the configuration. */
unsigned decoders_wanted(int wanted);
/* Fills decoders, which are zeroed, and starts the threads. 0, -EAGAIN. */
NODISCARD int decoders_start(struct decoders *decoders,
			     const struct decoders_config *config);
/* Stops them; true when all have returned before deadline_ns. Else what they
 * may touch must be kept for ever. */
bool decoders_stop(struct decoders *decoders, int64_t deadline_ns);
/* Puts it into the set. */
void decoders_add_lane(struct decoders *decoders, struct lane *lane);
/* After an overrun: promotes who has returned, replaces who has not. Returns
 * when to call again, INT64_MAX: at the next overrun. */
int64_t decoders_look_after(struct decoders *decoders, int64_t now_ns);
/* None has to ask for its turn. */
bool decoders_are_realtime(const struct decoders *decoders);
void decoders_add_figures(const struct decoders *decoders, struct text *text);

/* The loop (decoder_rt.c). */
RT_DEVICE void decoder_loop(struct decoder_thread *self);
/* The budget's handler. */
RT_DEVICE void decoder_on_overrun(void *context);

#endif

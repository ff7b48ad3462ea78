/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_rt.h - the output thread. All that it sees is in one struct; others
 * reach it by the atomics at its top only.
 *
 *   control: offered, order, quit; a write to wake_fd
 *   thread:  returned, finished; events in links.events
 *   both:    takeback
 *
 * output_rt.c is the loop, output_feed.c what a cycle does with the card,
 * output_fault.c what when it fails, output_wait.c how long to sleep then,
 * output_sleep.c the sleep;
 * output_follow.c lets one that follows another read the tap; output_setup.c
 * starts and ends the thread, watch.c finds out that it is stuck. */
#ifndef ROTARY_OUTPUT_OUTPUT_RT_H
#define ROTARY_OUTPUT_OUTPUT_RT_H

#include "daemon/output/card.h"
#include "daemon/output/guard.h"
#include "daemon/output/mix.h"
#include "daemon/output/mix_plan.h"
#include "daemon/output/output.h"
#include "lib/base/attr.h"
#include "lib/base/thread.h"
#include "lib/rt/rt.h"
#include "lib/sync/takeback.h"
#include "lib/sync/wake.h"

#include <errno.h>
#include <stdbool.h>

/* What is to become of the card, the hastier the higher. */
enum output_order {
	OUTPUT_ORDER_PLAY,
	OUTPUT_ORDER_DRAIN, /* give it back when all has been heard */
	OUTPUT_ORDER_STOP,  /* the same, but fade out now */
	OUTPUT_ORDER_DROP,  /* give it back */
};

/* What a cycle knows about the card. */
struct output_feed {
	struct card_status status;
	uint64_t status_frame; /* mix.frame when it was so */
	enum mix_result result;
	uint32_t low_frames;       /* wake up when so much is queued */
	uint32_t emergency_frames; /* when to leave behind what is dry */
	uint32_t silence_frames;   /* when to write silence behind the music */
	uint32_t guard_frames;     /* never taken back */
	struct guard guard;        /* how many that should be */
	uint64_t music_end;        /* output frame: behind it only silence was
				      written */
	uint32_t pad_frames;       /* silence still to write before running
				      dry */
	uint32_t settle_frames;    /* silence still to write at the start */
	int64_t fill_since_ns;     /* something is queued and not started; 0:
				      nothing */
	int64_t waiting_ns;        /* a deck is dry, since; 0: none */
	int64_t awaited_ns;        /* a cut is to be made, since; 0: none */
	int64_t suspended_ns;      /* since; 0: not */
	bool must_reset;           /* a suspended card that cannot resume */
	bool resumed;              /* just now */
	bool running;
	bool started; /* just now */
	bool drying;  /* nothing more comes: running dry is no fault */
};

struct output_rt {
	/* immutable while the thread runs */
	struct output_links links;
	/* and while it has a card */
	struct output_part part;
	int wake_fd;
	int priority;
	enum rt_fence fence;
	uint32_t settle_ms;
	bool keep_open;
	unsigned number; /* by which the log names it */
	struct thread thread;
	/* from control */
	ALIGNED(CACHE_LINE) ATOMIC(struct card *) offered;
	ATOMIC(uint32_t) order; /* enum output_order */
	ATOMIC(bool) quit;
	int64_t quit_ns; /* since when, control's; 0: not yet */
	/* to control */
	ALIGNED(CACHE_LINE) ATOMIC(struct card *) returned;
	ATOMIC(int) lost_error; /* why, set before returned; 0: not lost */
	ATOMIC(bool) has_figures;
	ATOMIC(bool) finished;
	struct wake finished_wake;
	struct rt_figures figures;
	/* by both */
	ALIGNED(CACHE_LINE) struct takeback takeback;
	/* the thread's own */
	ALIGNED(CACHE_LINE) struct card *card;
	struct mix_plan plan; /* as of this cycle, with the order worked in */
	bool has_plan;
	bool taken; /* touch nothing of the engine's any more */
	bool draining;
	bool ending; /* the card is about to be given back */
	bool sealed;
	struct output_feed feed;
	struct mix mix;
	struct timeline_view view;
	int64_t drain_until_ns; /* 0: not draining, or not at the end yet */
	uint32_t tap_told;      /* see tell_tap() */
	unsigned fd_errors;     /* descriptors that cried for nothing */
};

/* The thread's main: runs until quit. */
RT_DEVICE void output_rt_run(struct output_rt *rt);
/* The thread's own, before the first frame to a card that can be used so. */
MAY_BLOCK void output_rt_seal(struct output_rt *rt);

/* Control has given the thread up, as the last call showed. */
static inline RT_SAFE bool
output_rt_abandoned(const struct output_rt *rt)
{
	return rt->taken;
}

/* Before each call into the card, which may not return. */
static inline RT_SAFE void
output_rt_enter(struct output_rt *rt)
{
	takeback_enter(&rt->takeback);
}

/* After each, and after a sleep: false, the thread was given up meanwhile. */
static inline RT_SAFE bool
output_rt_leave(struct output_rt *rt)
{
	rt->taken = !takeback_leave(&rt->takeback);
	return !rt->taken;
}

/* What a call into the card came to. A thread that was given up meanwhile must
 * not touch the decks again. */
static inline RT_SAFE int
output_rt_checked(struct output_rt *rt, int error)
{
	return output_rt_leave(rt) ? error : -ECANCELED;
}

/* Starts the thread, which a write to wake_fd wakes. 0, -ENOMEM, -EAGAIN. */
NODISCARD MAY_BLOCK int output_rt_create(const struct output_config *config,
					 const struct output_links *links,
					 int wake_fd,
					 struct output_rt **ret_rt);
enum output_rt_end {
	OUTPUT_RT_ENDED,     /* and can be freed */
	OUTPUT_RT_ABANDONED, /* in the card, with its memory */
	OUTPUT_RT_STARVED,   /* without a CPU: may go on any time */
};

/* Gives the order to end, and does not wait. */
void output_rt_quit(struct output_rt *rt);
/* Ends the thread. wait_ns after the order, or a little later, it is given up
 * where it is in a call; while it runs it cannot be, and is waited for,
 * starved_ns at most. May be tried again. */
MAY_BLOCK enum output_rt_end
output_rt_stop(struct output_rt *rt, int64_t wait_ns, int64_t starved_ns);
/* Gives it up, with its card and its memory, if it is still in the call in
 * which it was seen. */
NODISCARD bool output_rt_abandon(struct output_rt *rt, uint32_t seen);
MAY_BLOCK void output_rt_free(struct output_rt *rt);
/* Control. The card that the thread has let go of, or never took; or NULL. */
struct card *output_rt_take_back(struct output_rt *rt);
/* Between output_rt.c and output_feed.c. */
/* A new card: nothing is written yet. */
RT_SAFE void output_feed_begin(struct output_rt *rt);
/* Looks at the card and gives it what it takes. 0 or -errno of the card. */
RT_DEVICE int output_feed_step(struct output_rt *rt);
/* After a suspension: 0, and suspended_ns is 0 if it is over. */
RT_DEVICE int output_feed_resume(struct output_rt *rt);
RT_DEVICE void output_feed_count_xrun(struct output_rt *rt);
/* Gets over an error; 0: it did, step again; else the card is lost. */
RT_DEVICE int output_feed_recover(struct output_rt *rt, int error);
/* Frames written and not heard yet, as reckoned from the last status. */
RT_SAFE uint64_t output_feed_delay(const struct output_rt *rt);
/* When a card that does not run yet will, if not before. */
RT_SAFE int64_t output_feed_start_ns(const struct output_rt *rt);
/* Frames in the card's buffer, as of the last status. */
RT_SAFE uint32_t output_feed_queued(const struct output_rt *rt);
/* The card gives back what it can of the last frames. 0 or -errno. */
RT_DEVICE int output_feed_go_back(struct output_rt *rt, uint64_t frames);
/* A follower puts what the tap has onto its deck. 0 or -errno of the card. */
RT_DEVICE int output_feed_follow(struct output_rt *rt);
/* ns until a follower should look at the tap again; INT64_MAX: when woken. */
RT_SAFE int64_t output_follow_wait(const struct output_rt *rt);
/* It gives nothing back, and has enough: what is mixed now is heard no sooner
 * than what is mixed at the low mark. */
RT_SAFE bool output_feed_is_ahead(const struct output_rt *rt);
/* ns until the next step is due; -1: not before something happens. */
RT_SAFE int64_t output_feed_wait(const struct output_rt *rt);
/* Until then, or somebody calls. False: the thread was given up. */
RT_DEVICE bool output_sleep(struct output_rt *rt);
/* Sets guard_frames from what was seen so far. */
RT_SAFE void output_guard_set(struct output_rt *rt);
/* After a step: how the card moved. */
RT_SAFE void output_guard_look(struct output_rt *rt);
/* After a sleep that was to end by itself. */
RT_SAFE void output_guard_late(struct output_rt *rt, int64_t late_ns);

#endif

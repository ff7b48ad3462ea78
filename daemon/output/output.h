/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output.h - one sound card and the thread that feeds it.
 *
 * Control owns the device's state machine (device.c):
 *
 *   CLOSED -> OPENING -> OPEN -> DRAINING -> CLOSING -> CLOSED
 *               |          |
 *               +-> RETRY <+   (busy, gone: tried again each 500 ms)
 *
 * A worker opens and closes the card; the output thread only writes to it. The
 * thread is replaced when it is sealed and the next card cannot be used under
 * the fence, and given up when it has been in one call into the card for 2 s.
 *
 * One cycle: read the plan; account for what the card has played; rewind if a
 * command wants to be heard at once and the card can; mix every writable frame
 * from the lanes' decks; hand it over; publish the timeline; sleep in ppoll
 * until the low mark or the eventfd. All ramps are functions of the frame
 * number, so frames mixed again after a rewind are the same but for what the
 * new plan changed.
 *
 * Threads: control, but what says otherwise. */
#ifndef ROTARY_OUTPUT_OUTPUT_H
#define ROTARY_OUTPUT_OUTPUT_H

#include "daemon/output/card.h"
#include "daemon/output/deck.h"
#include "daemon/output/mix_plan.h"
#include "lib/base/attr.h"
#include "lib/rt/rt.h"

#include <stdbool.h>

struct follower;
struct output;
struct queue;
struct snapshot;
struct tap;
struct timeline;
struct timeline_view;
struct wake;
struct work;

enum output_state {
	OUTPUT_CLOSED,
	OUTPUT_OPENING,
	OUTPUT_OPEN,
	OUTPUT_DRAINING,
	OUTPUT_CLOSING,
	OUTPUT_RETRY,
};

/* What real-time threads tell control; pushed into the engine's event queue,
 * followed by a write to the engine's eventfd. 32 bytes. */
enum rt_event_kind {
	RT_EVENT_STRETCH,      /* lane, id stream, value its frame: the first
				  of it was written; heard at time_ns. Told
				  again if a rewind made it another frame */
	RT_EVENT_LANE_DRAINED, /* lane, id cut: its deck has ended and was all
				  written; heard to its end at time_ns */
	RT_EVENT_LANE_PAUSED,  /* lane stands still at frame value of stream id
				  (0: none), silent from time_ns on */
	RT_EVENT_CUT,          /* lane, id cut: now mixed from */
	RT_EVENT_CARD,         /* id: -errno as int64: the card failed */
	RT_EVENT_CARD_BACK,    /* the thread let go of the card */
	RT_EVENT_REFILL,       /* id stream: byte ring under its mark */
	RT_EVENT_STREAM_END,   /* id stream: its decoder gave its last frame */
	RT_EVENT_STREAM_LINK,  /* id stream: a chain link follows */
	RT_EVENT_STREAM_FAIL,  /* id stream: decoder error */
	RT_EVENT_OVERRUN,      /* id stream: used up its quantum */
	RT_EVENT_TAP,          /* the clock starts, stops or mixes anew: those
				  who follow it should look */
	RT_EVENT_LANE_AT_END,  /* lane, id cut: everything planned is in the
				  deck */
};

struct rt_event {
	uint32_t kind;
	uint32_t lane;
	uint64_t id;
	int64_t time_ns;
	uint64_t value; /* frames, where a kind says so */
};

/* The lanes' decks; owned by the engine, which sets them up for the card that
 * was opened before output_run(). */
struct mix_bus {
	struct deck decks[LANE_COUNT][LANE_DECKS];
	ATOMIC(uint32_t) lane_filling[LANE_COUNT]; /* deck index, by the lane */
	/* The cut whose deck holds all there is until more comes, or 0; by the
	 * lane. It runs dry without a fault. */
	ATOMIC(uint64_t) lane_awaits[LANE_COUNT];
	/* Not 0: the output lacks frames of the lane to go on, and may be
	 * asleep. The lane clears it when there are enough, and rings. Each by
	 * an exchange: the later one sees what came before the other. */
	ATOMIC(uint32_t) lane_dry[LANE_COUNT];
	/* The cut that awaited more until the card needed something, by the
	 * output: the lane ends it. */
	ATOMIC(uint64_t) lane_spent[LANE_COUNT];
	/* What is mixed is written there too; NULL: nobody listens. Set up as
	 * the decks are. */
	struct tap *tap;
	/* The card hears the music alone, and at its own level. */
	bool music_only;
	/* How far below what is said music stands; 0: wherever it is. Of cells
	 * that are begun from now on (mix_duck.c). */
	ATOMIC(uint32_t) duck_db;
};

struct output_config {
	const struct card_ops *driver;
	const char *device;
	uint32_t buffer_ms;
	uint32_t period_ms;
	int rewind;              /* -1 auto */
	enum card_format format; /* of a pipe */
	uint32_t settle_ms;
	bool keep_open;
	int priority;
	enum rt_fence fence;
	bool lock_memory;
	unsigned number; /* by which the log names it */
};

/* What the output thread mixes from, and where it says what is heard. */
struct output_part {
	struct snapshot *plans; /* of struct mix_plan, or of follow_plan */
	unsigned plan_reader;   /* the output thread's slot */
	struct mix_bus *bus;
	struct timeline *timeline;
	struct follower *follower; /* NULL: lanes fill the decks */
	uint32_t buffer_ms; /* that its card gets, at most; 0: as configured */
};

/* Shared with the engine; outlives the output. */
struct output_links {
	struct work *work;
	struct output_part part;
	struct queue *events; /* of struct rt_event */
	int event_fd;
	int deck_fd;           /* readable: look at the decks now; -1: none */
	struct wake *decoders; /* posted when a deck falls under its mark */
};

struct output_events {
	/* The card is open with this info; call output_run() when the decks
	 * are ready for it. */
	void (*opened)(void *context, const struct card_info *info);
	/* It could not be opened or was lost; it is tried again until
	 * output_close(). */
	void (*failed)(void *context, int error, const char *reason);
	void (*closed)(void *context);
};

NODISCARD int output_create(const struct output_config *config,
			    const struct output_links *links,
			    const struct output_events *events, void *context,
			    struct output **ret_output);
/* The end, in three steps, so that several outputs end together: each step for
 * all of them, then the next. A step does those before it, where they were left
 * out. No other call may follow.
 * quit: tells the thread, and waits for nothing.
 * leave: waits 200 ms for the thread, at most, and 2 s more where it has no
 * CPU; begins to close the card.
 * destroy: waits 200 ms for that. False: the thread may go on at any time, so
 * that all that the links name must stay for ever, as the output does. */
void output_quit(struct output *output);
void output_leave(struct output *output);
bool output_destroy(struct output *output);

/* Opens the card for this spec; when it is open with another one, it is
 * drained and closed first. Answers by events, never from within the call; when
 * it was opened for this very spec already there is no answer. */
void output_open(struct output *output, const struct audio_spec *spec);
/* Lets the thread play. */
void output_run(struct output *output);
/* Another part: its buffer from the next opening of the card on, the rest from
 * the next output_run() on. While the thread has no card. */
void output_take_part(struct output *output, const struct output_part *part);
/* drain: what the decks hold up to their ends is heard first; a lane whose deck
 * has not ended fades out. Else everything fades out at once. */
void output_close(struct output *output, bool drain);
/* A new plan is there: look now. Any thread but a sealed decoder, which writes
 * to deck_fd. */
RT_DEVICE void output_wake(struct output *output);
/* Feeds an event whose kind is RT_EVENT_CARD or RT_EVENT_CARD_BACK. */
void output_handle_event(struct output *output, const struct rt_event *event);
/* For timers: does what is due; returns the next deadline. */
int64_t output_tick(struct output *output, int64_t now_ns);

enum output_state output_state(const struct output *output);
/* Info of the open card, or NULL. */
const struct card_info *output_info(const struct output *output);
const struct rt_figures *output_figures(const struct output *output);
/* One sentence, or "". */
const char *output_error(const struct output *output);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_parts.h - the engine's own state and what its files call of each
 * other.
 *
 * Everything that changes anything ends in engine_settle(), which looks at the
 * whole: streams, lines, card, plan. It is level-triggered: what it does
 * depends on the state alone, not on which event led to it. What is to be told
 * to the player is queued as news and told by engine_dispatch(), so that no
 * callback runs inside a call of the player's.
 * Threads: control. */
#ifndef ROTARY_ENGINE_ENGINE_PARTS_H
#define ROTARY_ENGINE_ENGINE_PARTS_H

#include "daemon/engine/bell.h"
#include "daemon/engine/commons.h"
#include "daemon/engine/decoders.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/line.h"
#include "daemon/engine/plan.h"
#include "daemon/engine/pool.h"
#include "daemon/engine/stream.h"
#include "lib/base/attr.h"
#include "lib/base/clock.h"
#include "lib/base/list.h"
#include "lib/rt/rt.h"
#include "lib/sync/hazard.h"
#include "lib/sync/queue.h"
#include "lib/sync/rotary.h"
#include "lib/sync/snapshot.h"
#include "lib/sync/timeline.h"
#include "lib/sync/wake.h"

#include <stdbool.h>

enum {
	ENGINE_EVENTS = 1024,
	ENGINE_OUTPUT_READER = 0, /* slots of the plan snapshot */
	ENGINE_FIRST_DECODER_READER = 1,
	ENGINE_SETTLE_ROUNDS = 16,
	ENGINE_TAPS = 8,   /* that wait to be freed */
	ENGINE_PACES = 16, /* of two taps, to the rates of seven followers */
};
#define ENGINE_RECLAIM_NS (10 * NS_PER_MS)
#define ENGINE_RETRY_NS (100 * NS_PER_MS) /* when memory ran out */
#define ENGINE_ORPHAN_NS (250 * NS_PER_MS)
#define ENGINE_IDLE_CLOSE_NS (500 * NS_PER_MS)
#define ENGINE_SPEECH_CLOSE_NS (10 * NS_PER_S)
#define ENGINE_PAUSE_CLOSE_NS (10 * NS_PER_S)
/* A card that is to be given back, and does not fall silent. */
#define ENGINE_HOLD_NS NS_PER_S
/* Opening that takes longer is not waited for by who plays. */
#define ENGINE_CALM_NS (500 * NS_PER_MS)
/* A card's volume that has not been set by then does not hold music up. */
#define ENGINE_MIXER_WAIT_NS (200 * NS_PER_MS)

enum news_kind {
	NEWS_READY,
	NEWS_FAILED,
	NEWS_STARTED,
	NEWS_ENDED,
	NEWS_OUTPUT,
};

struct interpolator;
struct follower;
struct tap;

struct news {
	struct list link; /* engine.news */
	enum news_kind kind;
	enum lane_id lane;
	uint64_t stream; /* the root */
	char reason[STREAM_REASON_BYTES];
};

enum card_phase {
	CARD_DOWN,    /* closed */
	CARD_OPENING, /* asked for; the output tries until it is there */
	CARD_UP,      /* decks are set up, the output thread plays */
	CARD_SINKING, /* waits until no lane touches a deck any more */
	CARD_CLOSING,
};

/* The card as the engine sees it (engine_card.c). */
struct card_side {
	enum card_phase phase;
	struct audio_spec asked; /* of the last output_open() */
	struct card_spec spec;   /* while UP */
	bool info_known;         /* the output has said opened */
	struct card_info info;
	bool reopen; /* after SINKING: open sink_spec, else close */
	struct audio_spec sink_spec;
	bool drain;
	uint64_t decks;           /* of the plan; 0: none */
	uint64_t deck_setups;     /* ever */
	uint64_t sink_generation; /* the first plan without decks */
	struct pool_extent memory[LANE_COUNT][LANE_DECKS];
	int64_t idle_ns; /* since when nothing plays, or 0 */
	bool spoke;      /* what sounded last was speech or a chime */
	int64_t due_ns;
};

/* One of the outputs (engine_outputs.c). */
struct output_side {
	struct engine_output_config config;
	char *strings[5]; /* that config points to */
	unsigned string_count;
	bool enabled;
	/* immutable */
	struct engine *engine;
	unsigned index;
	struct output *output;
	struct snapshot *plans; /* of struct follow_plan */
	/* control's */
	uint64_t generation;       /* of its current plan */
	struct follower *follower; /* while it has a card as one, else NULL */
	bool follows; /* its card is, or was last, asked for as a follower's */
	bool leaving; /* and is to be given back */
	bool failed;  /* since it was open */
	struct mixer *mixer; /* NULL: its volume is made here alone */
	bool mixer_was_there, mixer_was_away; /* as told by news */
	int64_t mixer_wait_ns; /* the card plays once the mixer is done; 0: so
				  it is */
};

/* From one rate to another, for followers. */
struct engine_pace {
	uint32_t in_hz, out_hz;
	struct interpolator *interpolator; /* NULL: none */
};

struct engine {
	/* immutable */
	struct engine_config config;
	struct work *work;
	const struct engine_events *events;
	void *context;

	/* shared with the real-time threads, by their own rules */
	struct hazard_domain *hazards;
	struct rotary *set;
	struct snapshot *plans;
	struct timeline *timeline;
	struct commons *commons;
	struct mix_bus *bus;
	struct decoders *decoders;
	struct output *output; /* the clock's */
	size_t deck_reserve;
	int64_t pause_close_ns; /* a pause as long gives the card back */

	/* control's */
	struct line *lines;  /* LANE_COUNT */
	struct list streams; /* stream.link, in the order of their ids */
	unsigned stream_count;
	unsigned opening; /* jobs that are out for it */
	uint64_t last_id;
	uint64_t last_cut;
	uint64_t generation; /* of the current plan */
	int mixers_fd;       /* of all of them; -1: there is none */
	float wanted_volume;
	struct replay_gain_settings replay_gain;
	bool overlaps; /* songs are going to: the card has to suit them all */
	struct card_side card;
	struct output_side outputs[ENGINE_OUTPUTS_MAX];
	unsigned output_count;
	bool held;       /* no output may sound: all lines stand still */
	int64_t held_ns; /* since when */
	unsigned clock;  /* index of the output that mixes */
	struct tap *tap, *tap_before; /* of its card; NULL: none */
	struct tap *retired_taps[ENGINE_TAPS];
	unsigned retired_tap_count;
	struct engine_pace paces[ENGINE_PACES];
	struct list news;               /* news.link */
	struct list retired_resamplers; /* retired.link, engine_plan.c */
	uint64_t dropped_seen;
	int64_t deadline_ns;
	int64_t stuck_due_ns;
	int64_t output_due_ns;
	bool settling;
	bool settle_again;
	bool stopped; /* no real-time thread runs any more */
};

/* engine_events.c */
void engine_settle(struct engine *engine);
void engine_add_news(struct engine *engine, enum news_kind kind,
		     enum lane_id lane, uint64_t stream, const char *reason);
void engine_drop_news(struct engine *engine, uint64_t stream);
/* Looks again after in_ns at the latest. */
void engine_due(struct engine *engine, int64_t in_ns);

/* engine_plan.c: builds the plan and publishes it when it differs. */
void engine_publish(struct engine *engine);
/* Drops a stream's share of its resampler, once no plan names it. */
void engine_retire_resampler(struct engine *engine, struct stream *stream);
void engine_reclaim_resamplers(struct engine *engine);
/* The one for an entry whose rate is not the deck's; shared with before. */
struct resampler *engine_resampler(struct engine *engine, struct stream *stream,
				   const struct stream *before);

/* engine_streams.c */
struct stream *streams_add(struct engine *engine, enum lane_id lane,
			   const struct source_ref *ref, int64_t start_ns);
/* The same song from a frame of the song on, under the same root. NULL: no
 * memory. */
struct stream *streams_add_replacement(struct engine *engine,
				       const struct stream *old,
				       uint64_t song_frame);
/* The chain link that follows another. */
struct stream *streams_add_link(struct engine *engine, const struct stream *of);
struct stream *streams_find(struct engine *engine, uint64_t id);
/* All of root's streams are not wanted any more. */
void streams_release(struct engine *engine, uint64_t root);
void streams_set_album(struct engine *engine, uint64_t root, bool album);
/* It left its line. */
void streams_left_line(struct engine *engine, struct stream *stream);
void streams_fail(struct engine *engine, struct stream *stream,
		  const char *reason);
/* It was heard to its end. Tells the player that the song broke off, if it did:
 * true when it was told. Logs that the file is cut short, if it is. */
bool streams_tell_end(struct engine *engine, struct stream *stream);
bool streams_is_ready(const struct stream *stream);
void streams_settle(struct engine *engine, int64_t now_ns);
void streams_on_event(struct engine *engine, const struct rt_event *event);
/* After the real-time threads have gone. leak: they have not. */
void streams_abandon(struct engine *engine, bool leak);

void streams_leave_set(struct engine *engine, struct stream *stream);
/* Not wanted in any line, or for ever out of it. */
bool streams_wants_end(const struct stream *stream);
bool streams_is_spent(const struct stream *stream);

/* engine_jobs.c */
extern const struct work_job_ops stream_job_ops;
void streams_submit(struct engine *engine, struct stream *stream,
		    enum stream_phase phase);
/* Nothing is being opened any more, but decoder threads were asked to keep calm
 * for it; and the end of that. */
bool streams_are_opened(const struct engine *engine);
void streams_end_calm(struct engine *engine);
/* Why it failed, in a user's words, unless that was said before. */
void streams_set_reason(struct stream *stream, int error);
/* Gives it what its flags ask for. */
void streams_look_at(struct engine *engine, struct stream *stream);

/* engine_volume.c */
NODISCARD int volume_create(struct engine *engine);
void volume_destroy(struct engine *engine);
void volume_dispatch(struct engine *engine);
/* Its card was opened, and may be another one. */
void volume_on_card(struct output_side *side);
/* The clock's volume is set, or has had its time. */
bool volume_is_set(struct engine *engine);
/* That is made in the mix of this output. */
float volume_of(const struct engine *engine, unsigned index);

/* engine_outputs.c */
NODISCARD int outputs_create(struct engine *engine,
			     const struct engine_config *config);
void outputs_destroy(struct engine *engine);
bool outputs_any_enabled(const struct engine *engine);
/* What may sound does; else the lines are held, and the card is given back. */
void outputs_hold(struct engine *engine);

/* engine_clock.c */
extern const struct output_events clock_output_events; /* context: the side */
struct output_side *clock_side(struct engine *engine);
bool clock_is_enabled(const struct engine *engine);
/* While no card is open: the output to open next; false: none is enabled. */
bool clock_choose(struct engine *engine);
/* While the clock's card fails, or is unwanted: true when another took over. */
bool clock_replace(struct engine *engine);
/* Opens its card, if need be as soon as it follows no more. */
void clock_open(struct engine *engine, const struct audio_spec *spec);

/* engine_followers.c */
NODISCARD int followers_create(struct engine *engine);
/* Ends all outputs; then, when nothing runs any more, frees what is left.
 * False: a thread of theirs may still go on. */
bool followers_stop(struct engine *engine);
void followers_finish(struct engine *engine);
/* The clock's card is about to play. */
void followers_begin_tap(struct engine *engine);
/* Opens and closes cards, publishes plans; ticks every output. */
void followers_settle(struct engine *engine, int64_t now_ns);
/* The clock has something to tell them. */
void followers_wake(struct engine *engine);
void followers_take_part(struct output_side *side);
void followers_close(struct output_side *side);
void followers_on_opened(struct output_side *side,
			 const struct card_info *info);
void followers_on_gone(struct output_side *side, int error);

/* engine_spec.c */
/* Some lane but this one is heard. */
bool card_others_active(const struct engine *engine, const struct line *line);
/* What the card should be opened with for this stream. */
struct audio_spec card_spec_for(const struct engine *engine,
				const struct stream *stream);
bool card_has_decks(const struct engine *engine, enum lane_id lane);
/* The stream can be joined, or begun, on the card as it is open. */
bool card_usable(const struct engine *engine, const struct line *line,
		 const struct stream *stream);
/* ... and it, which is joined without need, loses little by it. */
bool card_can_keep(const struct engine *engine, const struct line *line,
		   const struct stream *stream);

/* engine_decks.c */
/* When no lane can touch any. */
void decks_give(struct engine *engine);
/* Those of lanes that need some and have none. False: there is no memory. */
bool decks_set_up(struct engine *engine);
/* A piece more of their memory. False: they are whole. */
bool decks_populate(struct engine *engine);

/* engine_card.c */
void card_settle(struct engine *engine, int64_t now_ns);
void card_on_opened(struct engine *engine, const struct card_info *info);
void card_on_failed(struct engine *engine);
void card_on_closed(struct engine *engine);
void card_finish(struct engine *engine);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine.h - everything that sounds, seen from control.
 *
 * A stream is one thing that sounds; a lane is a sequence of streams. Control
 * opens streams ahead of time, and tells a lane what to play now and what
 * after it; the engine keeps the plan, the decks and the card in step, opens
 * the card when there is something to play, re-opens it when the rate must
 * change, and closes it when the music has ended.
 *
 *   OPENING -> PRIMING -> READY -> PLAYING -> DRAINED
 *        (FAILED and CANCELLED from any)
 *
 * Threads: control. Errors: -errno as listed; what goes wrong later comes by
 * events. */
#ifndef ROTARY_ENGINE_ENGINE_H
#define ROTARY_ENGINE_ENGINE_H

#include "daemon/audio/format.h"
#include "daemon/audio/replay_gain.h"
#include "daemon/audio/resample.h"
#include "daemon/decode/decoder.h"
#include "daemon/output/mix_plan.h"
#include "daemon/output/mixer.h"
#include "daemon/output/output.h"
#include "daemon/source/source.h"
#include "lib/base/attr.h"

#include <stdbool.h>

struct engine;
struct text;
struct work;

enum stream_state {
	STREAM_OPENING,
	STREAM_PRIMING,
	STREAM_READY,
	STREAM_PLAYING,
	STREAM_DRAINED,
	STREAM_FAILED,
	STREAM_CANCELLED,
};

enum {
	/* The first one included. */
	ENGINE_OUTPUTS_MAX = 8,
};

/* Where an output's volume is made. */
enum engine_volume {
	ENGINE_VOLUME_SOFTWARE,
	ENGINE_VOLUME_HARDWARE, /* the card's own, as far as it has one */
	ENGINE_VOLUME_NONE,     /* nowhere: an amplifier behind it does */
};

/* An output beside the first. Names and devices are copied. */
struct engine_output_config {
	const char *name;
	struct output_config output;
	enum engine_volume volume;
	struct mixer_config mixer;
	uint32_t rate_hz; /* 0: follow */
	enum resample_quality resample_quality;
	bool speech; /* it hears more than music */
};

struct engine_config {
	/* The first output; rate_hz and resample_quality are its own too. */
	struct output_config output;
	const char *name; /* NULL: the driver's word */
	enum engine_volume volume;
	struct mixer_config mixer;
	bool music_only; /* it hears no speech */
	/* The others, in the order of their ids, 1 and up. */
	const struct engine_output_config *others;
	unsigned other_count; /* below ENGINE_OUTPUTS_MAX */
	struct path_root music;
	int decoders; /* 0: one per CPU, at most 4 */
	int decoder_priority;
	enum rt_fence fence;
	bool lock_memory;
	size_t ring_bytes;    /* ring_mb */
	size_t reserve_bytes; /* reserve_mb */
	uint32_t rate_hz;     /* 0: follow */
	enum resample_quality resample_quality;
};

struct engine_events {
	/* The stream can be played. info lives as long as the stream. */
	void (*ready)(void *context, uint64_t stream,
		      const struct decoder_info *info);
	/* It will not sound, or sounds no further; reason says why,
	 * without the name of the song. */
	void (*failed)(void *context, uint64_t stream, const char *reason);
	/* Its first frame is heard now. */
	void (*started)(void *context, enum lane_id lane, uint64_t stream);
	/* Its last frame is heard now and nothing follows it in the lane. */
	void (*ended)(void *context, enum lane_id lane, uint64_t stream);
	/* The card: open, lost (reason), back. */
	void (*output_changed)(void *context);
	/* The card's volume was set by somebody else. NULL: nobody cares. */
	void (*volume_changed)(void *context, float volume);
};

NODISCARD int engine_create(const struct engine_config *config,
			    struct work *work,
			    const struct engine_events *events, void *context,
			    struct engine **ret_engine);
/* Ends within 500 ms, with a fade if something sounds. */
void engine_destroy(struct engine *engine);

/* The loop: readable when engine_dispatch() has something to do; also due at
 * engine_next_deadline(). */
int engine_event_fd(const struct engine *engine);
void engine_dispatch(struct engine *engine);
int64_t engine_next_deadline(const struct engine *engine);
/* The same, of the card's volume; -1: it has none to do with it. */
int engine_mixer_fd(const struct engine *engine);

/* Opens ref for a lane, from start_ns on. Answers by ready or failed. ref is
 * copied. 0 and the new id (never 0, never used again), -ENOMEM, -EAGAIN (too
 * many streams). */
NODISCARD int engine_open(struct engine *engine, enum lane_id lane,
			  const struct source_ref *ref, int64_t start_ns,
			  uint64_t *ret_stream);
/* Not wanted any more; harmless while it sounds: then it is freed when the
 * lane has left it. No event for it follows. */
void engine_release(struct engine *engine, uint64_t stream);

/* The lane crosses over to this READY stream as soon as can be. What followed
 * is forgotten. 0, -ENOENT (no such stream), -EBUSY (not READY). */
NODISCARD int engine_play(struct engine *engine, enum lane_id lane,
			  uint64_t stream);
/* next, READY, begins where stream ends, to the sample. Replaces what followed
 * stream before. next == 0: nothing follows. */
NODISCARD int engine_follow(struct engine *engine, enum lane_id lane,
			    uint64_t stream, uint64_t next);
/* Where next follows another song it is heard together with the end of that for
 * fade_ns, the one fading out as the other fades in; for less where a song is
 * short, or there is not time enough, and in half of a song at most. It is
 * started where the overlap begins. Lasts as long as the stream; what has been
 * mixed stays as it is. 0: it begins where the other ends. */
void engine_overlap(struct engine *engine, uint64_t next, int64_t fade_ns);
/* Songs are going to overlap. A card that is opened is given at least two
 * channels and 44.1 kHz, since it is kept open for songs of other rates. */
void engine_set_overlaps(struct engine *engine, bool overlaps);
/* Something will follow what is last in the lane, and cannot be told yet. The
 * lane leaves its end open for it as long as there is something to be heard;
 * what comes later begins after a silence. Holds until it is called again. */
void engine_expect(struct engine *engine, enum lane_id lane, bool more);
/* Fades out and forgets all that the lane plays. */
void engine_stop(struct engine *engine, enum lane_id lane);
void engine_pause(struct engine *engine, enum lane_id lane, bool paused);
/* Linear gain of everything, ramped; or of the card, where the card's volume is
 * used: then it is 1 here, and where the card has none, it is made here. */
void engine_set_volume(struct engine *engine, float volume);
/* What becomes of the songs' own gains. Ramped; heard when what was mixed ahead
 * has been. */
void engine_set_replay_gain(struct engine *engine,
			    const struct replay_gain_settings *settings);

/* The stream's song is one of an album that is played in order: what AUTO goes
 * by. At first it is not. */
void engine_set_album(struct engine *engine, uint64_t stream, bool album);

/* How many dB below what is said over it music stands; 0: it is not lowered.
 * At first 15. */
void engine_set_duck(struct engine *engine, unsigned db);

struct engine_position {
	uint64_t stream;    /* heard now; 0: none */
	int64_t elapsed_ns; /* in the file: start_ns included */
	uint32_t rate_hz;
};
/* Where the lane is, as heard. */
void engine_position(const struct engine *engine, enum lane_id lane,
		     struct engine_position *ret_position);

struct engine_output {
	enum output_state state;
	bool held; /* no output is enabled: what plays stands still */
	const struct card_info *card; /* NULL when none is open */
	const char *driver;
	const char *error;       /* "" when there is none */
	const char *mixer_error; /* likewise, of the card's volume */
	bool bit_perfect;        /* of what is heard now */
};
void engine_output(const struct engine *engine,
		   struct engine_output *ret_output);

/* The outputs by their index, which is their id to clients: 0 is the first. One
 * that is disabled has given its card back. The first that is enabled and
 * lives is the clock, whose state engine_output() tells; while none is enabled,
 * what plays stands still at the frame that was heard last, and goes on there
 * when one is again. */
struct engine_output_info {
	const char *name;
	const char *driver;
	const char *device; /* NULL: the driver's own */
	bool enabled;
	bool is_clock;
	bool speech;
	enum engine_volume volume;
	enum output_state state;
	const struct card_info *card; /* NULL when none is open */
	const char *error;            /* "" when there is none */
	const char *mixer_error;      /* likewise, of the card's volume */
	/* Of one that follows the clock. */
	double drift_ppm;        /* its clock against the mix's, as corrected */
	uint64_t dropped_frames; /* it was too slow for */
	uint64_t dry_frames;     /* of silence, since no mix was there */
};
unsigned engine_output_count(const struct engine *engine);
/* 0, -ENOENT (no such output). */
NODISCARD int engine_output_info(const struct engine *engine, unsigned index,
				 struct engine_output_info *ret_info);
/* 0, -ENOENT. Harmless when it is so already. output_changed tells of it. */
NODISCARD int engine_output_enable(struct engine *engine, unsigned index,
				   bool enabled);

/* The lines of the rtstats command. */
MAY_BLOCK void engine_add_rtstats(const struct engine *engine,
				  struct text *text);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player.h - what plays and what comes next: a pure state machine.
 *
 * Commands and the engine's events go in; wishes to the engine and marks of
 * what has changed come out, through struct player_ops. No clock, no I/O, no
 * thread: the same messages give the same wishes, so tests are scripts.
 *
 *            play                first frame heard
 *   STOP ----------> (opening) ------------------> PLAY <-> PAUSE
 *    ^                                               |
 *    +---- stop, end of the queue, all failed -------+
 *
 * The next song is opened while the current one plays and told to the engine
 * with follow; a change of queue or options asks anew. A song that fails is
 * skipped and its reason kept as the error; when every song of a round has
 * failed, playing stops.
 * Threads: control. Errors: -errno as the commands list them. */
#ifndef ROTARY_PLAYER_PLAYER_H
#define ROTARY_PLAYER_PLAYER_H

#include "daemon/audio/replay_gain.h"
#include "daemon/player/queue.h"
#include "lib/base/attr.h"

#include <stdbool.h>

struct player;

enum { MIXRAMP_MAX = 1000000 }; /* dB, or seconds */
enum player_state { PLAYER_STOP, PLAYER_PLAY, PLAYER_PAUSE };
enum player_mode { PLAYER_OFF, PLAYER_ON, PLAYER_ONESHOT };

/* What has changed, for idle and for the saving of the state. */
enum player_change {
	PLAYER_CHANGE_PLAYER = 1 << 0,
	PLAYER_CHANGE_QUEUE = 1 << 1,
	PLAYER_CHANGE_OPTIONS = 1 << 2,
	PLAYER_CHANGE_MIXER = 1 << 3,
};

struct player_ops {
	/* Opens a song from start_ns on; the stream's id, or 0 when it cannot
	 * even be tried. Answered by player_on_ready/failed. */
	uint64_t (*open)(void *context, const struct song *song,
			 int64_t start_ns);
	void (*release)(void *context, uint64_t stream);
	void (*play)(void *context, uint64_t stream);
	void (*follow)(void *context, uint64_t stream, uint64_t next);
	/* next, which follows, or will, another song, is to be heard together
	 * with the end of that for fade_ns. NULL: nobody cares. */
	void (*overlap)(void *context, uint64_t next, int64_t fade_ns);
	/* Songs are, or are not, going to overlap; told when that changes.
	 * NULL: nobody cares. */
	void (*set_overlaps)(void *context, bool overlaps);
	/* More is, or is not, to follow what was told last; told when that
	 * changes. NULL: nobody cares. */
	void (*expect)(void *context, bool more);
	void (*stop)(void *context);
	void (*pause)(void *context, bool paused);
	void (*set_volume)(void *context, unsigned percent);
	/* NULL: nobody cares. */
	void (*set_replay_gain)(void *context, enum replay_gain_mode mode);
	/* The stream's song is one of an album that is played in order, or is
	 * not, as at first: what AUTO goes by. Told before it is played or
	 * follows, and when it changes. NULL: nobody cares. */
	void (*set_album)(void *context, uint64_t stream, bool album);
	/* Elapsed time of the stream that is heard, or < 0. */
	int64_t (*elapsed)(void *context, uint64_t stream);
	uint32_t (*random)(void *context, uint32_t below);
	/* A set of enum player_change. */
	void (*changed)(void *context, unsigned changes);
};

NODISCARD struct player *player_create(struct play_queue *queue,
				       const struct player_ops *ops,
				       void *context);
void player_destroy(struct player *player);

/* Commands. Positions and ids as the protocol's; -ENOENT, -ERANGE. */
NODISCARD int player_play(struct player *player, int64_t position); /* -1: on */
NODISCARD int player_play_id(struct player *player, uint32_t id);
void player_pause(struct player *player, bool paused);
void player_toggle(struct player *player);
void player_stop(struct player *player);
void player_next(struct player *player);
void player_previous(struct player *player);
NODISCARD int player_seek(struct player *player, uint32_t position,
			  int64_t time_ns);
/* -ESRCH: nothing plays. relative: time_ns is added to what is heard. */
NODISCARD int player_seek_current(struct player *player, int64_t time_ns,
				  bool relative);
/* -ENOTSUP: there is no volume. */
NODISCARD int player_set_volume(struct player *player, unsigned percent);
/* From now on there is none: what was saved is kept, and nothing is told. */
void player_forgo_volume(struct player *player);
void player_set_repeat(struct player *player, bool on);
void player_set_random(struct player *player, bool on);
void player_set_single(struct player *player, enum player_mode mode);
void player_set_consume(struct player *player, enum player_mode mode);
/* How long the end of a song is heard together with the next; 0: not at all. As
 * an option says it, until a command does. */
void player_preset_crossfade(struct player *player, uint32_t seconds);
void player_set_crossfade(struct player *player, uint32_t seconds);
/* Kept for the clients; nothing follows from them. delay_s < 0: none. */
void player_set_mixramp_db(struct player *player, double db);
void player_set_mixramp_delay(struct player *player, double delay_s);
/* As an option says it, until a command does. */
void player_preset_replay_gain(struct player *player,
			       enum replay_gain_mode mode);
void player_set_replay_gain(struct player *player, enum replay_gain_mode mode);
void player_clear_error(struct player *player);
/* After any change of the queue that did not come from the player. */
void player_queue_changed(struct player *player);

/* The engine's events. */
void player_on_ready(struct player *player, uint64_t stream,
		     const struct audio_spec *spec, int64_t duration_ns,
		     uint32_t bitrate_bps);
void player_on_failed(struct player *player, uint64_t stream,
		      const char *reason);
void player_on_started(struct player *player, uint64_t stream);
void player_on_ended(struct player *player, uint64_t stream);
/* The card is gone: stand still; or back. */
void player_on_output_lost(struct player *player, const char *reason);
void player_on_output_back(struct player *player);
/* It was set elsewhere, and is so already. */
void player_on_volume(struct player *player, unsigned percent);

struct player_status {
	enum player_state state;
	int64_t song; /* position, -1: none */
	uint32_t song_id;
	int64_t next_song; /* -1: none */
	uint32_t next_song_id;
	int64_t elapsed_ns;     /* < 0: unknown */
	int64_t duration_ns;    /* < 0: unknown */
	struct audio_spec spec; /* rate_hz 0: unknown */
	uint32_t bitrate_bps;
	int volume; /* -1: there is none */
	bool repeat, random;
	enum player_mode single, consume;
	enum replay_gain_mode replay_gain;
	uint32_t crossfade_s;
	double mixramp_db;
	double mixramp_delay_s; /* < 0: none */
	const char *error;      /* NULL: none */
};
void player_get_status(const struct player *player,
		       struct player_status *ret_status);

/* Restores what was saved, before anything plays. */
struct player_saved {
	unsigned volume;
	bool repeat, random;
	enum player_mode single, consume;
	/* What no command has set is not kept: the option's counts. */
	bool has_replay_gain;
	enum replay_gain_mode replay_gain;
	bool has_crossfade;
	uint32_t crossfade_s;
	double mixramp_db;
	double mixramp_delay_s;  /* < 0: none */
	enum player_state state; /* the state to come back to */
	int64_t song;            /* -1: none */
	int64_t elapsed_ns;
};
void player_restore(struct player *player, const struct player_saved *saved);
/* What is to be saved: the state that was asked for, also while the card is
 * away. */
void player_get_saved(const struct player *player,
		      struct player_saved *ret_saved);

#endif

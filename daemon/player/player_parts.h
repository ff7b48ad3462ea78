/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player_parts.h - the inside of the player, for its own files.
 *
 * A slot is a song of the queue and the stream that was opened for it. Three
 * are in use: what is current, what comes next, and what still sounds while
 * the current song's stream is being opened. Behind a next song that is over
 * in no time further ones are opened ahead.
 *
 *   stream == 0           not open (stopped, or restored and paused)
 *   stream, !ready        opening
 *   ready, !told          could play: paused, or the engine waits for its turn
 *   told                  given to the engine by play or follow
 *   told, started         heard
 *
 * Invariants: leaving.stream != 0 only while current is not told; next.told
 * only while current is told, ahead[i].told only while what is before it is;
 * each stream is released exactly once.
 * Threads: control. */
#ifndef ROTARY_PLAYER_PLAYER_PARTS_H
#define ROTARY_PLAYER_PLAYER_PARTS_H

#include "daemon/player/order.h"
#include "daemon/player/player.h"
#include "lib/base/text.h"

/* With what is heard and what is next no more than the engine plans at once. */
enum { PLAYER_AHEAD = 6 };

struct slot {
	struct song *song; /* counted; NULL: the slot is empty */
	uint64_t stream;
	uint32_t id;
	uint32_t bitrate_bps;
	int64_t start_ns;
	int64_t duration_ns; /* < 0: unknown */
	int64_t fade_ns;     /* told: its overlap with the one before */
	struct audio_spec spec;
	bool ready;
	bool told;
	bool started;
	bool seek;  /* opened for a seek: leaving is the same song */
	bool album; /* as the engine was told of the stream */
	bool heard; /* the song was, with that: by this stream or, before a
		       seek, by another */
};

struct player {
	struct play_queue *queue;
	const struct player_ops *ops;
	void *context;

	enum player_state state;
	struct slot current;
	struct slot next;
	struct slot leaving;
	struct slot ahead[PLAYER_AHEAD]; /* after next, in order */
	unsigned ahead_count;
	uint32_t next_id; /* what comes next, opened or not; 0: nothing */
	int64_t seek_ns;  /* wanted once current is open; < 0: none */
	bool engine_paused;
	bool engine_expects; /* more to follow */

	unsigned volume;
	bool no_volume;
	bool repeat;
	bool random;
	enum player_mode single;
	enum player_mode consume;
	enum replay_gain_mode replay_gain;
	double mixramp_db;
	double mixramp_delay_s; /* < 0: none */
	uint32_t crossfade_s;
	bool has_crossfade;              /* a command has set it */
	bool told_overlaps;              /* to the engine */
	bool has_replay_gain;            /* a command has set it */
	enum replay_gain_mode told_gain; /* to the engine */
	struct order order;

	/* Songs that failed since the last command or round; they are passed
	 * over. progress: something was heard since then, so that a new round
	 * may try them again. */
	struct id_map failed;
	bool progress;
	/* Failures since a song was heard last, and where they began. */
	unsigned failures;
	uint32_t origin_id;
	int64_t origin_ns;
	bool origin_heard;

	struct text error;
	bool error_is_output;
	bool output_lost;
	struct text lost_reason;
	unsigned changes; /* not yet told */
};

enum player_cause {
	PLAYER_ENDED,   /* the current song played to its end */
	PLAYER_SKIPPED, /* the user wants the next one */
	PLAYER_FAILED,  /* it cannot be played */
};

/* player_gain.c: tells the engine what gain songs get, where that changed; all
 * that are open, or one. */
void player_tell_replay_gain(struct player *player);
void player_tell_album(struct player *player, struct slot *slot);

/* player_overlap.c: crossfade. */

/* Tells the engine how long next overlaps with what is current, when that has
 * changed. */
void player_tell_overlap(struct player *player);
/* Tells the engine whether songs may overlap. */
void player_tell_overlaps(struct player *player);

/* player_step.c: from song to song. */

/* Makes id the current song from start_ns on, in the present state; goes on
 * with what follows it when it cannot even be opened. 0: the end. */
void player_go_on(struct player *player, uint32_t id, int64_t start_ns);
/* Leaves the current song for the next one. */
void player_advance(struct player *player, enum player_cause cause);
/* The next song, which was primed, is heard now. */
void player_join_next(struct player *player);
void player_seek_within(struct player *player, int64_t time_ns);
/* Notes that it cannot be played; it sounds no more. */
void player_fail_current(struct player *player, const char *reason);
/* The same of the song that was primed, and primes another. */
void player_fail_next(struct player *player, const char *reason);
/* Gives the current stream to the engine when it may sound. */
void player_start_ready(struct player *player);
/* The same of one that was opened ahead. */
void player_fail_ahead(struct player *player, struct slot *slot,
		       const char *reason);
/* A seek failed: what still sounds is current again. */
void player_return_to_leaving(struct player *player);
/* Brings what is primed in line with what comes next. */
void player_plan_next(struct player *player);
/* Silence; the current song stays, unless forget. */
void player_silence(struct player *player, bool forget);

/* player_ahead.c: what is opened behind next, when that is short. */

/* Brings it in line with the queue and with next; called when next was. */
void player_plan_ahead(struct player *player);
/* Tells whether more will follow what the engine was told of; before play, and
 * after each follow. */
void player_tell_more(struct player *player);
/* The slot that holds stream, or NULL. */
struct slot *player_find_ahead(struct player *player, uint64_t stream);
/* Gives up slot and all behind it. */
void player_cut_ahead(struct player *player, const struct slot *slot);
/* Gives up all, when next is not to follow any more. */
void player_drop_ahead(struct player *player);
/* The first of them is next, if there is one. */
void player_shift_ahead(struct player *player);

/* player_slot.c */

/* Opens the song with this id into an empty slot. False: it cannot be opened;
 * the slot has the song all the same. */
bool slot_open(struct player *player, struct slot *slot, uint32_t id,
	       int64_t start_ns);
void slot_close(struct player *player, struct slot *slot); /* keeps the song */
void slot_release(struct player *player, struct slot *slot);
/* Duration as the stream or else the tags tell it; < 0: unknown. */
int64_t slot_duration_ns(const struct slot *slot);

/* player_next.c: which song comes. Ids; 0: none. */

/* Of what is sure to come after this song; 0: nothing is. */
uint32_t player_choose_after(const struct player *player, uint32_t id);
uint32_t player_choose_other(struct player *player);
uint32_t player_choose_natural(struct player *player);
uint32_t player_choose_previous(struct player *player);
/* single without repeat: stand still at the border. */
bool player_stops_at_border(const struct player *player);
/* A command of the user: all songs may be tried again. */
void player_begin(struct player *player);

/* player_status.c */

int64_t player_elapsed_ns(const struct player *player);
void player_set_song_error(struct player *player, const struct slot *slot,
			   const char *reason);
void player_drop_error(struct player *player);
/* The user plays something: only what is wrong with the output is an error. */
void player_renew_error(struct player *player);
/* Tells what has changed; the last act of every public function. */
void player_flush(struct player *player);

#endif

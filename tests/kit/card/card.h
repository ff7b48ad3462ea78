/* SPDX-License-Identifier: GPL-3.0-or-later */
/* card.h - the inside of the test card: an ALSA PCM plug-in that behaves as
 * real hardware does, paced by the monotonic clock, and writes down what was
 * HEARD: what a rewind or a drop took back in time is not in it.
 *
 * Threads: the application's calls (alsa-lib serializes them) and one keeper
 *	    thread of the card's own, which does all file work, arms the timer
 *	    that the application polls, and follows the faults.
 * RT:	    the application's calls make no system call but the reading of the
 *	    timer descriptor, nor do they lock or allocate; open, hw_params and
 *	    close excepted.
 * Units:   positions are frames. "Heard" positions count over all the runs of
 *	    a set-up: base + the position in the run. */
#ifndef ROTARY_KIT_CARD_H
#define ROTARY_KIT_CARD_H

#include "lib/base/attr.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>

enum {
	CARD_LIST_MAX = 16,
	CARD_PATH_MAX = 512,
	CARD_EVENTS = 1024, /* a power of two */
	CARD_STALLS = 64,
};

/* Values that the card takes: a range (the first two), or each by itself. */
struct card_list {
	bool range;
	unsigned count;
	unsigned values[CARD_LIST_MAX];
};

/* Immutable once the card is open. */
struct card_params {
	char dir[CARD_PATH_MAX]; /* where the files are; empty: none */
	struct card_list formats;
	struct card_list rates;
	struct card_list channels;
	struct card_list buffer_bytes;
	struct card_list period_bytes;
	long ppm;             /* how much faster than nominal the card runs */
	unsigned fifo_frames; /* fetched ahead of the position: too late */
	unsigned tick_us;     /* the keeper's pace while running */
	bool batch;           /* the position moves in whole periods */
	bool rewind;          /* else rewound samples are played all the same */
	bool resume;          /* else a suspended card must be prepared */
};

enum card_event_kind {
	CARD_EVENT_OPEN,
	CARD_EVENT_SETUP,
	CARD_EVENT_PREPARE,
	CARD_EVENT_START,
	CARD_EVENT_DROP,
	CARD_EVENT_DRAINED,
	CARD_EVENT_XRUN,
	CARD_EVENT_SUSPEND,
	CARD_EVENT_RESUME,
	CARD_EVENT_GONE,
	CARD_EVENT_REWIND,
	CARD_EVENT_FORWARD,
	CARD_EVENT_LATE,
	CARD_EVENT_BLOCK,
	CARD_EVENT_CLOSE,
};

struct card_event {
	enum card_event_kind kind;
	unsigned epoch; /* START: the run that begins */
	int64_t time_ns;
	uint64_t heard; /* START: its base; ends of a run: the last heard */
	int64_t value;  /* frames; START: the virtual time of position 0 */
	uint64_t start; /* START: the position in the run */
};

/* Each stop of the card's clock is one immutable slot: so that a reader is
 * never made to wait by the keeper. */
struct card_stall {
	int64_t frozen_ns; /* since when the clock stands; 0: it runs */
	int64_t lost_ns;   /* for how long it has stood before */
};

struct card_clock {
	struct card_stall stalls[CARD_STALLS];
	ATOMIC(unsigned) stall;
};

/* A run: from a start to the event that ends it. */
struct card_run {
	bool active;
	unsigned epoch;
	uint64_t base;    /* the heard position of the run's frame 0 */
	uint64_t start;   /* the position in the run at start_ns */
	int64_t start_ns; /* in virtual time */
};

struct card {
	snd_pcm_ioplug_t io;
	struct card_params params;
	char name[96];
	int number; /* of this open, from 1 */

	/* Immutable while a set-up stands. */
	unsigned frame_bytes;
	unsigned char *shadow; /* what was written, by heard position */
	uint64_t shadow_frames;
	uint64_t mrate; /* frames per second, times 1,000,000 */
	pthread_t keeper;
	bool keeping;
	int timer_fd;
	int cry_fd;    /* polled by the application: POLLERR when gone */
	int listen_fd; /* its other end; the keeper's, who closes it */
	int wake_fd;

	/* The application's. */
	struct card_run run;
	uint64_t position; /* the last told, in the run */
	uint64_t expected; /* the application's position as we left it */
	unsigned xruns_seen, suspends_seen, blocks_seen;
	bool suspended_running;

	/* Atomic, written by the application. */
	ATOMIC(uint64_t) written; /* heard position: shadow is valid below */
	ATOMIC(uint64_t) avail_min;
	ATOMIC(uint64_t) stop_threshold;
	ATOMIC(bool) draining;
	ATOMIC(bool) prepared;
	ATOMIC(unsigned) events_in;
	ATOMIC(unsigned) events_lost;
	/* Atomic, written by the keeper. */
	ATOMIC(uint64_t) captured; /* heard position: shadow is free below */
	ATOMIC(unsigned) events_out;
	ATOMIC(bool) gone;
	ATOMIC(bool) suspended; /* the fault stands */
	ATOMIC(unsigned) xruns, suspends, blocks;
	ATOMIC(unsigned) block_ms;
	ATOMIC(bool) stop;
	/* By both: see card_claim(). */
	ATOMIC(uint64_t) claim;
	struct card_event events[CARD_EVENTS];
	struct card_clock clock;

	/* The keeper's. */
	struct card_run view;  /* the run, as far as the events were read */
	uint64_t heard_frames; /* in the heard file */
	int64_t armed_ns;
	int notify_fd;
	int dir_fd;
	int heard_fd;
	FILE *log;
};

/* card_params.c */
void card_params_init(struct card_params *params);
/* -EINVAL: the name or the value means nothing. */
int card_params_set(struct card_params *params, const char *name,
		    const char *value);
/* From the environment (ROTARY_TEST_CARD_NAME) and from DIR/params, each line
 * of which is "name value". */
int card_params_override(struct card_params *params);

/* card_clock.c */
int64_t card_now_ns(void);
/* The card's own time: stands still while it is stalled. */
int64_t card_clock_virtual(const struct card_clock *clock, int64_t now_ns);
bool card_clock_frozen(const struct card_clock *clock);
void card_clock_freeze(struct card_clock *clock, int64_t now_ns);
void card_clock_thaw(struct card_clock *clock, int64_t now_ns);
/* Where in its run the card is; not limited to what was written. */
uint64_t card_run_position(const struct card *card, const struct card_run *run,
			   int64_t now_ns);
/* When (real time) it will be there; INT64_MAX: not as long as it stands. */
int64_t card_run_time(const struct card *card, const struct card_run *run,
		      uint64_t position);
/* The keeper takes all up to `heard` for itself: whatever is written there
 * later comes too late. False: the run has ended meanwhile. */
bool card_claim(struct card *card, unsigned epoch, uint64_t heard);
/* The application ends the run, or begins one; the first gives what was
 * claimed. */
uint64_t card_claim_close(struct card *card);
void card_claim_open(struct card *card, unsigned epoch, uint64_t heard);
uint64_t card_claim_read(const struct card *card);

/* card_files.c: open and close by the opener, all else by the keeper. */
int card_files_open(struct card *card);
void card_files_close(struct card *card);
/* A new heard file, where the present one is not empty. */
int card_files_renew(struct card *card);
void card_files_hear(struct card *card, const void *memory, size_t frames);
void card_files_silence(struct card *card, size_t frames);
void card_log_event(struct card *card, const struct card_event *event);
void card_log(struct card *card, int64_t time_ns, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* What DIR/fault says; absent: nothing. */
struct card_faults {
	bool gone, busy, stall, suspend, xrun;
	unsigned block_ms;
};
void card_faults_read(const char *dir, struct card_faults *ret_faults);

/* card_keeper.c */
int card_keeper_start(struct card *card);
void card_keeper_stop(struct card *card);
/* The application's thread says something; never waits. */
void card_event(struct card *card, enum card_event_kind kind, int64_t time_ns,
		uint64_t heard, int64_t value);
void card_event_start(struct card *card, int64_t time_ns);

/* card_pcm.c */
const snd_pcm_ioplug_callback_t *card_callbacks(const struct card *card);
void card_end_run(struct card *card, enum card_event_kind kind, int64_t now_ns);

/* card_open.c */
int card_hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *params);
int card_close(snd_pcm_ioplug_t *io);

#endif

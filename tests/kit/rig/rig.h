/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rig.h - a whole engine for tests: its own folder of music made on the spot,
 * a worker pool, an output, and control's loop. What the engine tells is kept
 * in order. The songs' samples are a function of seed, frame and channel, so
 * that what the wav output holds can be told sample by sample. A rig that
 * cannot go on ends the program. One thread, which is control. */
#ifndef ROTARY_KIT_RIG_H
#define ROTARY_KIT_RIG_H

#include "daemon/engine/engine.h"

struct work;
struct work_limits;

enum { RIG_EVENTS = 1024, RIG_RATE = 44100, RIG_BUFFER_MS = 120 };

#define RIG_PATIENCE_NS (20 * NS_PER_S)

/* For who waits for something: see rig_moves(). */
struct rig_motion {
	int64_t until_ns; /* 0: it begins now */
	uint64_t told;
	uint64_t stream;
	int64_t elapsed_ns;
};

enum rig_kind { RIG_READY, RIG_FAILED, RIG_STARTED, RIG_ENDED, RIG_OUTPUT };

struct rig_event {
	enum rig_kind kind;
	uint64_t stream;
	struct decoder_info info;
	char reason[160];
};

struct rig {
	char folder[64];
	char wav[128];
	char second[128];
	struct work *work;
	struct engine *engine;
	struct rig_event events[RIG_EVENTS]; /* the oldest are forgotten */
	unsigned count;
	uint64_t told; /* events so far, with those forgotten */
};

/* What is 0 is as usual. */
struct rig_options {
	const struct card_ops *driver;
	uint32_t rate_hz;
	uint32_t buffer_ms;
	size_t ring_bytes;
	int decoders; /* threads; 0: two */
	const struct work_limits *limits;
	/* 0: threads like all others */
	int decoder_priority;
	int output_priority;
	bool lock_memory;
	bool music_only; /* the first output hears it alone */
	bool second;     /* there is another, a wav, rig.second */
	bool second_hears_music_only;
};

struct rig_song {
	const char *name;
	unsigned seed;
	uint32_t frames;
	uint32_t rate_hz;
	uint32_t channels;
};

/* What the wav output holds: 16-bit samples or floats; of 24 bits floats are
 * made. */
struct rig_wav {
	int16_t *samples; /* of 16 bits, or NULL */
	float *floats;    /* of 32 bits, or NULL */
	size_t frames;
	uint32_t rate_hz;
	uint32_t channels;
	uint32_t bits;
};

/* A 16-bit sample of the song, never silent for long. */
int16_t rig_sample(unsigned seed, uint64_t frame, unsigned channel);

void rig_init(struct rig *rig, const struct card_ops *driver);
void rig_init_with(struct rig *rig, const struct rig_options *options);
/* The engine alone: the wav file is whole then. */
void rig_stop(struct rig *rig);
void rig_finish(struct rig *rig);

/* For tests that have a rig each, on the heap; 0. */
int rig_set_up_with(void **ret_rig, const struct rig_options *options);
int rig_set_up(void **ret_rig, const struct card_ops *driver);
int rig_set_up_wav(void **ret_rig);
int rig_tear_down(void **rig);

/* One turn of control's loop, until something happened or until_ns. */
void rig_turn(struct rig *rig, int64_t until_ns);
void rig_run(struct rig *rig, int64_t for_ns);
/* False when for RIG_PATIENCE_NS nothing was told and the music's position
 * stood still: however busy the machine is, who waits goes on as long as there
 * is progress. motion is zeroed when the wait begins. */
bool rig_moves(const struct rig *rig, struct rig_motion *motion);
/* The event's place, or -1. */
int rig_find(const struct rig *rig, enum rig_kind kind, uint64_t stream);
unsigned rig_count(const struct rig *rig, enum rig_kind kind);
/* Runs the loop until the event has come; its place. */
int rig_wait(struct rig *rig, enum rig_kind kind, uint64_t stream);
/* Until the heard position of stream is at least elapsed_ns. */
void rig_wait_position(struct rig *rig, uint64_t stream, int64_t elapsed_ns);
enum output_state rig_output_state(const struct rig *rig);
void rig_wait_output(struct rig *rig, enum output_state state);

/* Music, but where it says another lane. */
uint64_t rig_open(struct rig *rig, const char *name, int64_t start_ns);
uint64_t rig_open_ready(struct rig *rig, const char *name, int64_t start_ns);
uint64_t rig_open_ready_on(struct rig *rig, enum lane_id lane,
			   const char *name);
void rig_play(struct rig *rig, uint64_t stream);
void rig_play_on(struct rig *rig, enum lane_id lane, uint64_t stream);
void rig_follow(struct rig *rig, uint64_t stream, uint64_t next);

/* Music. rig_make(): a stereo song at RIG_RATE. */
void rig_path(const struct rig *rig, const char *name, char *ret_path,
	      size_t size);
void rig_write(const struct rig *rig, const char *name, const void *bytes,
	       size_t length);
void rig_make_flac(const struct rig *rig, const struct rig_song *song);
/* Every sample of it is level; its header tells of told frames. */
void rig_make_level(const struct rig *rig, const struct rig_song *song,
		    int16_t level, uint64_t told);
void rig_make(const struct rig *rig, const char *name, unsigned seed,
	      uint32_t frames);

/* samples and floats are the caller's to free. */
void rig_read_wav(const char *path, struct rig_wav *ret_wav);
/* How many frames of the wav, from at on, are the song's from song_frame on;
 * at most frames. */
size_t rig_same(const struct rig_wav *wav, size_t at, unsigned seed,
		uint64_t song_frame, size_t frames);

#endif

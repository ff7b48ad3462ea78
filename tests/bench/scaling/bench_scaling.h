/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_scaling.h - many streams of one file, opened and with all their bytes
 * read, decoded by the engine's threads or by bare processes. */
#ifndef ROTARY_BENCH_SCALING_H
#define ROTARY_BENCH_SCALING_H

#include "daemon/engine/commons.h"
#include "daemon/engine/stream.h"

enum { SCALING_STREAMS_MAX = 200, SCALING_MIX_SAMPLES = 1024 };

/* Below that of the mixer and of who starts them, who would else be kept from
 * it by what they have started. */
enum { SCALING_DECODER_PRIORITY = 40, SCALING_MIXER_PRIORITY = 45 };

struct crowd {
	struct commons *commons;
	struct stream *streams[SCALING_STREAMS_MAX];
	unsigned count;
	uint64_t primed_frames; /* in all; decoded before the clock starts */
};

/* Opens `count` streams of the file, as a worker does. -errno. */
int crowd_open(struct crowd *crowd, const char *path, unsigned count);
void crowd_close(struct crowd *crowd);

/* In which order a bare process decodes: one stream after the other into one
 * small buffer, or by turns, each into memory of its own, as streams that sound
 * at once need it; or one after the other by the libraries alone. */
enum scaling_order { SCALING_IN_SEQUENCE, SCALING_AT_ONCE, SCALING_BY_LIBRARY };

/* The song, open so many times; for a process's life (by_library.c). 0,
 * -errno. */
struct library;
int library_open(const char *path, unsigned count,
		 struct library **ret_library);
/* How many frames. */
uint64_t library_decode(struct library *library);

struct scaling_result {
	uint64_t frames;
	int64_t wall_ns;
	/* The most that one stream was behind another, in lengths of its ring.
	 */
	double lag;
};

/* 0, -errno; the engine's: -ETIME when a stream was starved. */
int scaling_by_engine(const char *path, unsigned threads, unsigned streams,
		      struct scaling_result *ret_result);
int scaling_by_processes(const char *path, unsigned processes, unsigned streams,
			 enum scaling_order order,
			 struct scaling_result *ret_result);

/* What an ordinary process on each CPU gets while the streams play at their own
 * pace, and with spins one more decoder never returns. Prints parts of the CPUs
 * as figures: of the hogs, our own, idle, of strangers; how often a stream was
 * late. Ends the program. */
_Noreturn void scaling_share(const char *path, unsigned threads,
			     unsigned streams, bool spins);

/* Adds what a stream decoded to the sum of all, SCALING_MIX_SAMPLES floats that
 * are used again and again. */
void scaling_mix(float *sum, const void *samples, size_t frames,
		 const struct audio_spec *spec);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* by_engine.c - a whole engine with its decoder threads, its workers and its
 * share of ring memory for each stream; a mixer takes the place of the lanes,
 * of which the engine has four.
 *
 * The streams are opened by engine_open() and wait with full rings. These are
 * emptied; then the mixer wakes every MIX_NS, takes what each stream has, and
 * adds it up, until all have ended. All is pinned to as many CPUs as there are
 * decoder threads, the mixer and control too, at the priorities that they have
 * in rotaryd.
 *
 * Nobody starves: the streams are alike, so none may ever be further behind
 * another one than a ring's length, in which none has more than its turn. */
#include "tests/bench/scaling/bench_scaling.h"

#include "daemon/engine/engine_parts.h"
#include "daemon/output/card.h"
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "tests/kit/rig/rig.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIX_NS NS_PER_MS
#define TURN_NS (20 * NS_PER_MS)

/* A stream's whole share, as pool.c cuts it: two fifths of what is left. */
enum { SHARE_BYTES = STREAM_BYTES_MAX + STREAM_PCM_MAX, SPARE_SHARES = 3 };

struct mixing {
	struct rig rig;
	struct stream *streams[SCALING_STREAMS_MAX];
	unsigned count;
	float sum[SCALING_MIX_SAMPLES];
	struct scaling_result result;
	uint64_t worst_lag; /* frames */
	ATOMIC(bool) done;
};

static char *
read_song(const char *path, size_t *ret_length)
{
	FILE *file = fopen(path, "rbe");
	char *bytes = NULL;
	long length = -1;

	if (file == NULL)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0)
		length = ftell(file);
	rewind(file);
	if (length > 0)
		bytes = malloc((size_t)length);
	if (bytes != NULL &&
	    fread(bytes, 1, (size_t)length, file) != (size_t)length) {
		free(bytes);
		bytes = NULL;
	}
	fclose(file);
	*ret_length = bytes != NULL ? (size_t)length : 0;
	return bytes;
}

/* Full, or at its end. */
static bool
is_filled(const struct stream *stream)
{
	return pcm_ring_writable(&stream->pcm) == 0 ||
	       pcm_ring_ended(&stream->pcm);
}

static int
open_streams(struct mixing *mixing, const char *path, unsigned count)
{
	const char *name = strrchr(path, '/');
	uint64_t ids[SCALING_STREAMS_MAX];
	size_t length;
	char *song = read_song(path, &length);
	unsigned i;

	if (song == NULL)
		return -ENOENT;
	name = name != NULL ? name + 1 : path;
	rig_write(&mixing->rig, name, song, length);
	free(song);
	for (i = 0; i < count; i++)
		ids[i] = rig_open(&mixing->rig, name, 0);
	for (i = 0; i < count; i++) {
		while (rig_find(&mixing->rig, RIG_READY, ids[i]) < 0)
			rig_turn(&mixing->rig, clock_now_ns() + TURN_NS);
		mixing->streams[i] = streams_find(mixing->rig.engine, ids[i]);
		while (!is_filled(mixing->streams[i]))
			rig_turn(&mixing->rig, clock_now_ns() + TURN_NS);
	}
	mixing->count = count;
	return 0;
}

static void
take(struct mixing *mixing, struct stream *stream)
{
	size_t frames;
	const void *span = pcm_ring_read_span(&stream->pcm, &frames);

	while (frames > 0) {
		scaling_mix(mixing->sum, span, frames, &stream->spec);
		pcm_ring_consume(&stream->pcm, frames);
		mixing->result.frames += frames;
		span = pcm_ring_read_span(&stream->pcm, &frames);
	}
}

/* How far the last one is behind the first. */
static void
watch_lag(struct mixing *mixing)
{
	uint64_t least = UINT64_MAX, most = 0;
	unsigned i;

	for (i = 0; i < mixing->count; i++) {
		const uint64_t written =
			pcm_ring_written(&mixing->streams[i]->pcm);

		least = written < least ? written : least;
		most = written > most ? written : most;
	}
	if (most - least > mixing->worst_lag)
		mixing->worst_lag = most - least;
}

/* The streams that have not ended. */
static unsigned
mix_once(struct mixing *mixing)
{
	unsigned left = 0, i;

	for (i = 0; i < mixing->count; i++) {
		struct stream *stream = mixing->streams[i];

		take(mixing, stream);
		left += !pcm_ring_at_end(&stream->pcm);
	}
	/* There is room again: as the output thread tells. */
	wake_post(&mixing->rig.engine->commons->wake);
	if (left == mixing->count)
		watch_lag(mixing);
	return left;
}

/* What was decoded before the clock started. */
static void
drop_all(struct mixing *mixing)
{
	unsigned i;

	for (i = 0; i < mixing->count; i++) {
		struct pcm_ring *ring = &mixing->streams[i]->pcm;

		pcm_ring_consume(ring, pcm_ring_readable(ring));
	}
	wake_post(&mixing->rig.engine->commons->wake);
}

static void *
mix(void *argument)
{
	const struct sched_param priority = {SCALING_MIXER_PRIORITY};
	const struct timespec pause = {0, MIX_NS};
	struct mixing *mixing = argument;
	int64_t begin_ns;

	(void)sched_setscheduler(0, SCHED_FIFO, &priority);
	begin_ns = clock_now_ns();
	drop_all(mixing);
	while (mix_once(mixing) > 0)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	mixing->result.wall_ns = clock_now_ns() - begin_ns;
	atomic_store(&mixing->done, true);
	return NULL;
}

static int
run(struct mixing *mixing)
{
	const size_t ring_frames = mixing->streams[0]->pcm.capacity_frames;
	pthread_t mixer;

	if (pthread_create(&mixer, NULL, mix, mixing) != 0)
		return -EAGAIN;
	while (!atomic_load(&mixing->done))
		rig_turn(&mixing->rig, clock_now_ns() + TURN_NS);
	pthread_join(mixer, NULL);
	mixing->result.lag = (double)mixing->worst_lag / (double)ring_frames;
	if (mixing->worst_lag > ring_frames)
		fprintf(stderr,
			"bench_scaling: one stream is %.1f rings behind "
			"another\n",
			mixing->result.lag);
	return mixing->worst_lag <= ring_frames ? 0 : -ETIME;
}

int
scaling_by_engine(const char *path, unsigned threads, unsigned streams,
		  struct scaling_result *ret_result)
{
	static struct mixing mixing;
	int result;

	thread_adopt(THREAD_ROLE_CONTROL, "scaling");
	rig_init_with(&mixing.rig,
		      &(struct rig_options){
			      .driver = &card_null,
			      .decoders = (int)threads,
			      .ring_bytes = (streams + SPARE_SHARES) *
					    (size_t)SHARE_BYTES,
			      .decoder_priority = SCALING_DECODER_PRIORITY,
			      .output_priority = SCALING_MIXER_PRIORITY});
	result = open_streams(&mixing, path, streams);
	if (result == 0)
		result = run(&mixing);
	*ret_result = mixing.result;
	rig_finish(&mixing.rig);
	return result;
}

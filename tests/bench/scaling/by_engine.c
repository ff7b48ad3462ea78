/* SPDX-License-Identifier: GPL-3.0-or-later */
/* by_engine.c - the engine's own decoder threads, rotary set and streams; a
 * mixer takes the place of the lanes, of which the engine has four.
 *
 * The mixer wakes every MIX_NS, takes what each stream has, and adds it up. All
 * is pinned to as many CPUs as there are decoder threads, the mixer too. */
#include "tests/bench/scaling/stage.h"

#include "lib/base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define MIX_NS (2 * NS_PER_MS)

struct mixing {
	struct stage stage;
	float sum[SCALING_MIX_SAMPLES];
	struct scaling_result result;
};

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

/* When the first stream has ended: how far the last one is. */
static double
least_part(const struct crowd *crowd)
{
	uint64_t least = UINT64_MAX, most = 1;
	unsigned i;

	for (i = 0; i < crowd->count; i++) {
		const uint64_t written =
			pcm_ring_written(&crowd->streams[i]->pcm);

		least = written < least ? written : least;
		most = written > most ? written : most;
	}
	return (double)least / (double)most;
}

/* The streams that have not ended. */
static unsigned
mix_once(struct mixing *mixing)
{
	const struct crowd *crowd = mixing->stage.crowd;
	unsigned left = 0, i;

	for (i = 0; i < crowd->count; i++) {
		struct stream *stream = crowd->streams[i];

		take(mixing, stream);
		left += !pcm_ring_at_end(&stream->pcm);
	}
	/* There is room again: as the output thread tells. */
	wake_post(&crowd->commons->wake);
	if (left < crowd->count && mixing->result.least_part == 0)
		mixing->result.least_part = least_part(crowd);
	return left;
}

static void *
mix(void *argument)
{
	struct mixing *mixing = argument;
	const struct timespec pause = {0, MIX_NS};

	while (mix_once(mixing) > 0)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	return NULL;
}

/* The mixer has our priority. */
static int
run(struct mixing *mixing)
{
	const struct sched_param priority = {SCALING_MIXER_PRIORITY};
	const struct crowd *crowd = mixing->stage.crowd;
	pthread_t mixer;
	int64_t begin_ns;

	(void)sched_setscheduler(0, SCHED_FIFO, &priority);
	begin_ns = clock_now_ns();
	stage_enter(&mixing->stage);
	if (pthread_create(&mixer, NULL, mix, mixing) != 0)
		return -EAGAIN;
	pthread_join(mixer, NULL);
	mixing->result.wall_ns = clock_now_ns() - begin_ns;
	mixing->result.frames -= crowd->primed_frames;
	return 0;
}

int
scaling_by_engine(const char *path, unsigned threads, unsigned streams,
		  struct scaling_result *ret_result)
{
	static struct mixing mixing;
	static struct crowd crowd;
	int result = crowd_open(&crowd, path, streams);

	if (result == 0)
		result = stage_make(&mixing.stage, &crowd, threads);
	if (result == 0) {
		result = run(&mixing);
		if (!stage_stop(&mixing.stage))
			return -ETIMEDOUT;
	}
	*ret_result = mixing.result;
	stage_unmake(&mixing.stage);
	crowd_close(&crowd);
	return result;
}

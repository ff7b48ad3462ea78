/* SPDX-License-Identifier: GPL-3.0-or-later */
/* by_engine.c - the engine's own decoder threads, rotary set and streams; a
 * mixer takes the place of the lanes, of which the engine has four.
 *
 * The mixer wakes every MIX_NS, takes what each stream has, and adds it up. All
 * is pinned to as many CPUs as there are decoder threads, the mixer too. */
#include "tests/bench/scaling/bench_scaling.h"

#include "daemon/engine/decoders.h"
#include "daemon/engine/plan.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "lib/sync/snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define MIX_NS (2 * NS_PER_MS)
#define PATIENCE_NS (10 * NS_PER_S)

struct stage {
	struct hazard_domain *hazards;
	struct rotary *set;
	struct decoders *decoders;
	struct snapshot *plans;
	struct crowd *crowd;
	float sum[SCALING_MIX_SAMPLES];
	struct scaling_result result;
};

static bool
make(struct stage *stage, struct crowd *crowd)
{
	enum { ALIGNMENT = 128 };

	stage->crowd = crowd;
	stage->hazards =
		allocator_new_aligned(NULL, sizeof(*stage->hazards), ALIGNMENT);
	stage->set =
		allocator_new_aligned(NULL, sizeof(*stage->set), ALIGNMENT);
	stage->decoders = allocator_new_aligned(NULL, sizeof(*stage->decoders),
						ALIGNMENT);
	stage->plans = snapshot_create(NULL, plan_release, NULL);
	if (stage->hazards == NULL || stage->set == NULL ||
	    stage->decoders == NULL || stage->plans == NULL)
		return false;
	hazard_domain_init(stage->hazards);
	rotary_init(stage->set, stage->hazards);
	return true;
}

static void
unmake(struct stage *stage)
{
	snapshot_destroy(stage->plans);
	allocator_delete(NULL, stage->decoders);
	allocator_delete(NULL, stage->set);
	allocator_delete(NULL, stage->hazards);
}

static int
start(struct stage *stage, unsigned threads)
{
	const struct decoders_config config = {
		.set = stage->set,
		.hazards = stage->hazards,
		.plans = stage->plans,
		.first_reader = 1,
		.wake = &stage->crowd->commons->wake,
		.bell = &stage->crowd->commons->bell,
		.wanted = (int)threads,
		.priority = SCALING_DECODER_PRIORITY,
	};

	return decoders_start(stage->decoders, &config);
}

static void
take(struct stage *stage, struct stream *stream)
{
	size_t frames;
	const void *span = pcm_ring_read_span(&stream->pcm, &frames);

	while (frames > 0) {
		scaling_mix(stage->sum, span, frames, &stream->spec);
		pcm_ring_consume(&stream->pcm, frames);
		stage->result.frames += frames;
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
mix_once(struct stage *stage)
{
	unsigned left = 0, i;

	for (i = 0; i < stage->crowd->count; i++) {
		struct stream *stream = stage->crowd->streams[i];

		take(stage, stream);
		left += !pcm_ring_at_end(&stream->pcm);
	}
	/* There is room again: as the output thread tells. */
	wake_post(&stage->crowd->commons->wake);
	if (left < stage->crowd->count && stage->result.least_part == 0)
		stage->result.least_part = least_part(stage->crowd);
	return left;
}

static void *
mix(void *argument)
{
	struct stage *stage = argument;
	const struct timespec pause = {0, MIX_NS};

	while (mix_once(stage) > 0)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	return NULL;
}

/* The mixer has our priority. */
static int
run(struct stage *stage)
{
	const struct sched_param priority = {SCALING_MIXER_PRIORITY};
	const struct crowd *crowd = stage->crowd;
	pthread_t mixer;
	int64_t begin_ns;
	unsigned i;

	(void)sched_setscheduler(0, SCHED_FIFO, &priority);
	begin_ns = clock_now_ns();
	for (i = 0; i < crowd->count; i++) {
		rotary_insert(stage->set, &crowd->streams[i]->item.node);
		atomic_fetch_add(&stage->decoders->items, 1);
	}
	wake_post(&crowd->commons->wake);
	if (pthread_create(&mixer, NULL, mix, stage) != 0)
		return -EAGAIN;
	pthread_join(mixer, NULL);
	stage->result.wall_ns = clock_now_ns() - begin_ns;
	stage->result.frames -= crowd->primed_frames;
	return 0;
}

int
scaling_by_engine(const char *path, unsigned threads, unsigned streams,
		  struct scaling_result *ret_result)
{
	static struct stage stage;
	static struct crowd crowd;
	int result = crowd_open(&crowd, path, streams);

	if (result == 0)
		result = make(&stage, &crowd) ? 0 : -ENOMEM;
	if (result == 0)
		result = start(&stage, threads);
	if (result == 0) {
		result = run(&stage);
		if (!decoders_stop(stage.decoders,
				   clock_now_ns() + PATIENCE_NS))
			return -ETIMEDOUT;
	}
	*ret_result = stage.result;
	unmake(&stage);
	crowd_close(&crowd);
	return result;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_plan.c - building the plan from the lines, and publishing it.
 *
 * A plan is built at each settling and thrown away when it says what the
 * current one says, so nobody has to remember to publish. Streams and
 * resamplers that a plan names outlive the last reader of it: a stream notes
 * the last generation that names it; a resampler that nobody shares any more is
 * retired with the current generation, and freed when that has been passed. */
#include "daemon/engine/engine_parts.h"

#include "daemon/audio/resample.h"
#include "daemon/output/output.h"
#include "lib/base/log.h"

#include <stdlib.h>
#include <string.h>

static bool
says_the_same(const struct plan *a, struct plan *b)
{
	if (a == NULL)
		return false;
	b->mix.generation = a->mix.generation;
	/* Both were zeroed before, what lies between members too. */
	/* NOLINTNEXTLINE(*-memory-comparison,cert-exp42-c,cert-flp37-c) */
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void
note_generation(struct plan *plan, uint64_t generation)
{
	unsigned lane;
	uint32_t i;

	for (lane = 0; lane < LANE_COUNT; lane++)
		for (i = 0; i < plan->lanes[lane].count; i++)
			plan->lanes[lane].entries[i].stream->plan_generation =
				generation;
}

/* The plan before names its streams up to the very last. */
static void
note_last(struct engine *engine)
{
	struct plan *current = snapshot_current(engine->plans);

	if (current != NULL)
		note_generation(current, engine->generation);
}

static struct plan *
build(struct engine *engine)
{
	struct plan *plan = plan_create(NULL);
	unsigned lane;

	if (plan == NULL)
		return NULL;
	plan->mix.volume = volume_of(engine, engine->clock);
	plan->decks = engine->card.decks;
	if (plan->decks != 0) {
		plan->rate_hz = engine->card.spec.rate_hz;
		plan->channels = engine->card.spec.channels;
	}
	for (lane = 0; lane < LANE_COUNT; lane++)
		line_add_to_plan(engine, &engine->lines[lane], plan);
	return plan;
}

static bool
has_new_cut(const struct plan *before, const struct plan *plan)
{
	unsigned lane;

	for (lane = 0; before != NULL && lane < LANE_COUNT; lane++)
		if (plan->mix.lanes[lane].cut != before->mix.lanes[lane].cut)
			return true;
	return false;
}

/* Decoder threads may keep control from the CPU for a while: who is to act
 * first is woken first. For a new cut that is a lane, which tells the output
 * thread itself. */
static void
tell_threads(struct engine *engine, bool new_cut)
{
	if (new_cut)
		wake_post(&engine->commons->wake);
	output_wake(engine->output);
	if (!new_cut)
		wake_post(&engine->commons->wake);
}

void
engine_publish(struct engine *engine)
{
	struct plan *plan = build(engine);
	bool new_cut;
	uint64_t generation;

	if (plan == NULL) {
		engine_due(engine, ENGINE_RETRY_NS);
		return;
	}
	if (says_the_same(snapshot_current(engine->plans), plan)) {
		plan_release(plan, NULL);
		return;
	}
	new_cut = has_new_cut(snapshot_current(engine->plans), plan);
	note_last(engine);
	plan->mix.generation = engine->generation + 1;
	generation = snapshot_publish(engine->plans, plan);
	if (generation == 0) {
		plan_release(plan, NULL);
		engine_due(engine, ENGINE_RETRY_NS);
		return;
	}
	engine->generation = generation;
	note_generation(plan, generation);
	tell_threads(engine, new_cut);
}

struct resampler *
engine_resampler(struct engine *engine, struct stream *stream,
		 const struct stream *before)
{
	struct stream_resampler *shared = stream->resampler;

	if (shared != NULL)
		return shared->resampler;
	if (before != NULL && before->resampler != NULL &&
	    before->resampler->in_hz == stream->spec.rate_hz) {
		stream->resampler = before->resampler;
		stream->resampler->references++;
		return stream->resampler->resampler;
	}
	shared = calloc(1, sizeof(*shared));
	if (shared == NULL)
		return NULL;
	if (resampler_create(
		    NULL, stream->spec.rate_hz, engine->card.spec.rate_hz,
		    engine->card.spec.channels,
		    engine->outputs[engine->clock].config.resample_quality,
		    &shared->resampler) < 0) {
		free(shared);
		return NULL;
	}
	rt_lock_loaded(); /* libsoxr comes with the first one */
	shared->in_hz = stream->spec.rate_hz;
	shared->references = 1;
	list_init(&shared->retired);
	stream->resampler = shared;
	return shared->resampler;
}

void
engine_retire_resampler(struct engine *engine, struct stream *stream)
{
	struct stream_resampler *shared = stream->resampler;

	stream->resampler = NULL;
	if (shared == NULL || --shared->references > 0)
		return;
	shared->generation = engine->generation;
	list_append(&engine->retired_resamplers, &shared->retired);
}

void
engine_reclaim_resamplers(struct engine *engine)
{
	struct list *i, *after;

	list_for_each_safe (i, after, &engine->retired_resamplers) {
		struct stream_resampler *shared =
			list_entry(i, struct stream_resampler, retired);

		if (!engine->stopped &&
		    !snapshot_passed(engine->plans, shared->generation + 1))
			continue;
		list_remove(i);
		resampler_destroy(shared->resampler);
		free(shared);
	}
}

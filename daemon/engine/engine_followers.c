/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_followers.c - the outputs that hear what another one mixes.
 *
 * A follower's card is open for as long as the clock's is, or is on its way:
 * also while that is opened anew for another rate, since the follower keeps its
 * own. Each has a plan of its own, which names the clock's tap, and the one
 * before, and its volume.
 *
 * A tap is made when the clock's card is ready to play, and retired when two
 * more have been; one that is retired is freed when no plan names it and every
 * follower's thread has passed those that did. The same holds for
 * interpolators, of which some are kept. A follower's own memory is freed when
 * its thread has given the card back; a thread that is stuck in its card keeps
 * it. */
#include "daemon/engine/engine_parts.h"

#include "daemon/audio/interpolate.h"
#include "daemon/output/follower.h"
#include "daemon/output/tap.h"
#include "lib/base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a follower reads ahead of what is heard: less than most clocks mix. */
enum { BUFFER_MS = 100, PACES_OF_PLAN = 2 };

static void
release_plan(void *plan, void *context)
{
	(void)context;
	free(plan);
}

static int
create_output(struct engine *engine, unsigned index)
{
	struct output_side *side = &engine->outputs[index];
	const struct output_links links = {
		.work = engine->work,
		.events = engine->commons->bell.queue,
		.event_fd = engine->commons->bell.event_fd,
		.deck_fd = engine->commons->bell.deck_fd,
		.decoders = &engine->commons->wake,
	};

	side->engine = engine;
	side->index = index;
	side->follows = true;
	side->config.output.number = index;
	side->plans = snapshot_create(NULL, release_plan, NULL);
	if (side->plans == NULL)
		return -ENOMEM;
	return output_create(&side->config.output, &links, &clock_output_events,
			     side, &side->output);
}

int
followers_create(struct engine *engine)
{
	unsigned i;
	int result = 0;

	for (i = 0; i < engine->output_count && result == 0; i++)
		result = create_output(engine, i);
	engine->output = engine->outputs[0].output;
	return result;
}

bool
followers_stop(struct engine *engine)
{
	bool ended = true;
	unsigned i;

	/* All at once, or each that is stuck would be waited for. */
	for (i = 0; i < engine->output_count; i++)
		output_quit(engine->outputs[i].output);
	for (i = 0; i < engine->output_count; i++)
		output_leave(engine->outputs[i].output);
	for (i = 0; i < engine->output_count; i++) {
		struct output_side *side = &engine->outputs[i];

		if (!output_destroy(side->output))
			ended = false;
		side->output = NULL;
	}
	engine->output = NULL;
	return ended;
}

/* ---- taps and the way from their rate ---- */

static bool
any_hears(const struct engine *engine, bool speech)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++)
		if (i != engine->clock && engine->outputs[i].enabled &&
		    engine->outputs[i].config.speech == speech)
			return true;
	return false;
}

static bool
some_hear_music_only(const struct engine *engine)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++)
		if (!engine->outputs[i].config.speech)
			return true;
	return false;
}

static void
want_taps(const struct engine *engine)
{
	if (engine->tap == NULL)
		return;
	tap_want(engine->tap, TAP_ALL, any_hears(engine, true));
	tap_want(engine->tap, TAP_MUSIC, any_hears(engine, false));
}

static void
retire_tap(struct engine *engine, struct tap **tap)
{
	if (*tap == NULL)
		return;
	if (engine->bus->tap == *tap)
		engine->bus->tap = NULL;
	engine->retired_taps[engine->retired_tap_count++] = *tap;
	*tap = NULL;
}

void
followers_begin_tap(struct engine *engine)
{
	const struct card_info *info = &engine->card.info;
	struct tap *tap = NULL;

	engine->bus->music_only = !clock_side(engine)->config.speech;
	engine->bus->tap = NULL;
	if (engine->output_count < 2)
		return;
	/* Then what was before is not heard to its end. */
	if (engine->retired_tap_count + 4 < ENGINE_TAPS)
		tap = tap_create(info->spec.rate_hz, info->spec.channels,
				 2 * info->buffer_frames,
				 some_hear_music_only(engine));
	if (tap == NULL) {
		log_err("engine", "no memory for outputs that follow");
		return;
	}
	retire_tap(engine, &engine->tap_before);
	engine->tap_before = engine->tap;
	engine->tap = tap;
	engine->bus->tap = tap;
	want_taps(engine);
}

static bool
names_pace(const struct engine *engine, const struct interpolator *pace)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++) {
		const struct follow_plan *plan =
			snapshot_current(engine->outputs[i].plans);

		if (plan != NULL && (plan->now.interpolator == pace ||
				     plan->before.interpolator == pace))
			return true;
	}
	return false;
}

/* No thread reads any plan but the current ones. */
static bool
all_have_passed(const struct engine *engine)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++) {
		const struct output_side *side = &engine->outputs[i];

		if (!engine->stopped && side->generation != 0 &&
		    !snapshot_passed(side->plans, side->generation))
			return false;
	}
	return true;
}

static struct engine_pace *
free_pace(struct engine *engine)
{
	unsigned i;

	for (i = 0; i < ENGINE_PACES; i++)
		if (engine->paces[i].interpolator == NULL)
			return &engine->paces[i];
	return NULL;
}

/* Before a plan is made: what it names is not named by any current one yet. */
static void
reclaim_paces(struct engine *engine)
{
	unsigned i, left = 0;

	for (i = 0; i < ENGINE_PACES; i++)
		left += engine->paces[i].interpolator == NULL;
	if (left >= PACES_OF_PLAN || !all_have_passed(engine))
		return;
	for (i = 0; i < ENGINE_PACES; i++) {
		struct engine_pace *pace = &engine->paces[i];

		if (pace->interpolator == NULL ||
		    names_pace(engine, pace->interpolator))
			continue;
		interpolator_destroy(pace->interpolator);
		pace->interpolator = NULL;
	}
}

static const struct interpolator *
find_pace(struct engine *engine, uint32_t in_hz, uint32_t out_hz)
{
	struct engine_pace *pace;
	unsigned i;

	for (i = 0; i < ENGINE_PACES; i++) {
		pace = &engine->paces[i];
		if (pace->interpolator != NULL && pace->in_hz == in_hz &&
		    pace->out_hz == out_hz)
			return pace->interpolator;
	}
	pace = free_pace(engine);
	if (pace == NULL ||
	    interpolator_create(in_hz, out_hz, &pace->interpolator) < 0) {
		engine_due(engine, ENGINE_RETRY_NS);
		return NULL;
	}
	pace->in_hz = in_hz;
	pace->out_hz = out_hz;
	return pace->interpolator;
}

static void
reclaim_taps(struct engine *engine)
{
	if (engine->retired_tap_count == 0)
		return;
	if (!all_have_passed(engine)) {
		engine_due(engine, ENGINE_RECLAIM_NS);
		return;
	}
	while (engine->retired_tap_count > 0)
		tap_destroy(engine->retired_taps[--engine->retired_tap_count]);
}

/* ---- plans ---- */

static struct follow_source
source_of(struct engine *engine, const struct output_side *side,
	  struct tap *tap)
{
	struct follow_source source = {NULL, NULL};

	if (tap == NULL || side->follower == NULL)
		return source;
	source.interpolator =
		find_pace(engine, tap->rate_hz, side->follower->rate_hz);
	if (source.interpolator != NULL)
		source.tap = tap;
	return source;
}

static void
fill_plan(struct engine *engine, const struct output_side *side,
	  struct follow_plan *plan)
{
	unsigned i;

	plan->mix.volume = volume_of(engine, side->index);
	for (i = 0; i < LANE_COUNT; i++)
		plan->mix.lanes[i].gain = 1.0F;
	plan->mix.lanes[LANE_MUSIC].cut = FOLLOWER_CUT;
	plan->mix.lanes[LANE_MUSIC].start = PLAN_NOW;
	plan->kind = side->config.speech ? TAP_ALL : TAP_MUSIC;
	plan->now = source_of(engine, side, engine->tap);
	plan->before = source_of(engine, side, engine->tap_before);
}

static bool
says_the_same(const struct follow_plan *a, struct follow_plan *b)
{
	if (a == NULL)
		return false;
	b->mix.generation = a->mix.generation;
	/* Both were zeroed before, what lies between members too. */
	/* NOLINTNEXTLINE(*-memory-comparison,cert-exp42-c,cert-flp37-c) */
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void
publish(struct engine *engine, struct output_side *side)
{
	struct follow_plan *plan = calloc(1, sizeof(*plan));
	uint64_t generation = 0;

	if (plan != NULL) {
		reclaim_paces(engine);
		fill_plan(engine, side, plan);
		if (says_the_same(snapshot_current(side->plans), plan)) {
			free(plan);
			return;
		}
		plan->mix.generation = side->generation + 1;
		generation = snapshot_publish(side->plans, plan);
	}
	if (generation == 0) {
		free(plan);
		engine_due(engine, ENGINE_RETRY_NS);
		return;
	}
	side->generation = generation;
	output_wake(side->output);
}

void
followers_wake(struct engine *engine)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++)
		if (engine->outputs[i].follower != NULL)
			output_wake(engine->outputs[i].output);
}

/* ---- cards ---- */

void
followers_take_part(struct output_side *side)
{
	struct follower *follower = side->follower;
	const struct output_part part = {
		.plans = side->plans,
		.bus = follower != NULL ? &follower->bus : NULL,
		.timeline = follower != NULL ? &follower->timeline : NULL,
		.follower = follower,
		.buffer_ms = BUFFER_MS,
	};

	output_take_part(side->output, &part);
}

void
followers_close(struct output_side *side)
{
	if (side->leaving)
		return;
	side->leaving = output_state(side->output) != OUTPUT_CLOSED;
	output_close(side->output, false);
}

static void
open_card(struct engine *engine, struct output_side *side)
{
	const struct engine_output_config *config = &side->config;
	const struct audio_spec spec = {
		.rate_hz = config->rate_hz != 0 ? config->rate_hz
						: engine->card.asked.rate_hz,
		.channels = engine->card.asked.channels,
		.kind = SAMPLE_S32,
		.bits = 24, /* as many as a float has */
	};

	side->follows = true;
	followers_take_part(side);
	output_open(side->output, &spec);
}

/* Opened anew without a word is lost and back. */
void
followers_on_opened(struct output_side *side, const struct card_info *info)
{
	followers_on_gone(side, 0);
	side->follower = follower_create(info);
	if (side->follower == NULL) {
		log_err("engine", "no memory for the output %s",
			side->config.name);
		followers_close(side);
		return;
	}
	followers_take_part(side);
	publish(side->engine, side);
	output_run(side->output);
}

/* A thread that does not answer may still come back to what it had. */
void
followers_on_gone(struct output_side *side, int error)
{
	if (error != -ETIMEDOUT)
		follower_destroy(side->follower);
	side->follower = NULL;
}

static bool
is_wanted(const struct engine *engine, const struct output_side *side)
{
	if (!side->enabled)
		return false;
	return engine->card.phase != CARD_DOWN ||
	       (side->config.output.keep_open && side->follower != NULL);
}

static void
settle_side(struct engine *engine, struct output_side *side)
{
	const bool wanted = is_wanted(engine, side);

	if (output_state(side->output) == OUTPUT_CLOSED) {
		side->leaving = false;
		if (wanted)
			open_card(engine, side);
	} else if (!wanted) {
		followers_close(side);
	}
}

static bool
some_follow(const struct engine *engine)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++)
		if (engine->outputs[i].follower != NULL)
			return true;
	return false;
}

void
followers_settle(struct engine *engine, int64_t now_ns)
{
	unsigned i;

	engine->output_due_ns = INT64_MAX;
	for (i = 0; i < engine->output_count; i++) {
		struct output_side *side = &engine->outputs[i];
		int64_t due_ns;

		if (i != engine->clock)
			settle_side(engine, side);
		due_ns = output_tick(side->output, now_ns);
		if (due_ns < engine->output_due_ns)
			engine->output_due_ns = due_ns;
	}
	if (engine->card.phase == CARD_DOWN && !some_follow(engine)) {
		retire_tap(engine, &engine->tap_before);
		retire_tap(engine, &engine->tap);
	}
	if (engine->output_count < 2)
		return;
	want_taps(engine);
	for (i = 0; i < engine->output_count; i++) {
		publish(engine, &engine->outputs[i]);
		if (snapshot_reclaim(engine->outputs[i].plans) > 0)
			engine_due(engine, ENGINE_RECLAIM_NS);
	}
	reclaim_taps(engine);
}

void
followers_finish(struct engine *engine)
{
	unsigned i;

	retire_tap(engine, &engine->tap_before);
	retire_tap(engine, &engine->tap);
	while (engine->retired_tap_count > 0)
		tap_destroy(engine->retired_taps[--engine->retired_tap_count]);
	for (i = 0; i < ENGINE_PACES; i++)
		interpolator_destroy(engine->paces[i].interpolator);
	for (i = 0; i < engine->output_count; i++) {
		follower_destroy(engine->outputs[i].follower);
		snapshot_destroy(engine->outputs[i].plans);
	}
}

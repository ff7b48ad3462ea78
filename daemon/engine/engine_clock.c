/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_clock.c - which of the outputs makes the mix, by whose card all others
 * go.
 *
 *   the first that is enabled and lives; but not while another one plays
 *
 * It is chosen anew while no card is open, and when the clock's own card is
 * lost, does not open, or is disabled: then the next one takes over, and the
 * music goes on at the frame that was heard last, as after any lost card. The
 * one that comes back follows until the music stops: to take over again at once
 * would be another gap for nothing.
 *
 * An output that takes over while it follows must give its card back first,
 * since what its thread mixes from is another thing then. So the card is
 * OPENING for as long. */
#include "daemon/engine/engine_parts.h"

#include "lib/base/log.h"

struct output_side *
clock_side(struct engine *engine)
{
	return &engine->outputs[engine->clock];
}

bool
clock_is_enabled(const struct engine *engine)
{
	return engine->outputs[engine->clock].enabled;
}

static bool
is_clock(const struct output_side *side)
{
	return side->index == side->engine->clock;
}

static bool
is_failing(const struct output_side *side)
{
	return side->failed || output_state(side->output) == OUTPUT_RETRY;
}

/* Where none lives, the one that is. */
static unsigned
best(const struct engine *engine)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++)
		if (engine->outputs[i].enabled &&
		    !is_failing(&engine->outputs[i]))
			return i;
	if (clock_is_enabled(engine))
		return engine->clock;
	for (i = 0; i < engine->output_count; i++)
		if (engine->outputs[i].enabled)
			return i;
	return engine->output_count;
}

/* What the old one is tried again for is to follow. */
static void
go_over_to(struct engine *engine, unsigned index)
{
	struct output_side *old = clock_side(engine);
	const enum output_state state = output_state(old->output);

	engine->clock = index;
	engine->output = engine->outputs[index].output;
	engine->card.info_known = false;
	old->follows = true;
	if (state == OUTPUT_RETRY || state == OUTPUT_CLOSED ||
	    state == OUTPUT_CLOSING)
		followers_take_part(old);
	engine_add_news(engine, NEWS_OUTPUT, LANE_MUSIC, 0, "");
	if (old->enabled && is_failing(old))
		log_warn("engine", "%s takes over from %s",
			 clock_side(engine)->config.name, old->config.name);
}

bool
clock_choose(struct engine *engine)
{
	const unsigned index = best(engine);

	if (index == engine->output_count)
		return false;
	if (index != engine->clock)
		go_over_to(engine, index);
	return true;
}

bool
clock_replace(struct engine *engine)
{
	const unsigned index = best(engine);

	if (clock_is_enabled(engine) && !is_failing(clock_side(engine)))
		return false;
	if (index == engine->output_count || index == engine->clock ||
	    (clock_is_enabled(engine) && is_failing(&engine->outputs[index])))
		return false;
	go_over_to(engine, index);
	return true;
}

void
clock_open(struct engine *engine, const struct audio_spec *spec)
{
	struct output_side *side = clock_side(engine);
	const enum output_state state = output_state(side->output);
	const struct output_part part = {
		.plans = engine->plans,
		.plan_reader = ENGINE_OUTPUT_READER,
		.bus = engine->bus,
		.timeline = engine->timeline,
	};

	if (side->follows && state != OUTPUT_CLOSED && state != OUTPUT_RETRY) {
		followers_close(side);
		return;
	}
	if (side->follows)
		output_take_part(side->output, &part);
	side->follows = false;
	output_open(side->output, spec);
}

static void
on_opened(void *context, const struct card_info *info)
{
	struct output_side *side = context;

	side->failed = false;
	volume_on_card(side);
	if (side->follows)
		followers_on_opened(side, info);
	else
		card_on_opened(side->engine, info);
	engine_add_news(side->engine, NEWS_OUTPUT, LANE_MUSIC, 0, "");
	engine_settle(side->engine);
}

/* The output has logged it, and keeps the reason. */
static void
on_failed(void *context, int error, const char *reason)
{
	struct output_side *side = context;

	(void)reason;
	side->failed = true;
	followers_on_gone(side, error);
	if (is_clock(side) && !side->follows)
		card_on_failed(side->engine);
	engine_add_news(side->engine, NEWS_OUTPUT, LANE_MUSIC, 0, "");
	engine_settle(side->engine);
}

static void
on_closed(void *context)
{
	struct output_side *side = context;
	struct engine *engine = side->engine;

	side->leaving = false;
	followers_on_gone(side, 0);
	if (is_clock(side) && side->follows &&
	    engine->card.phase == CARD_OPENING)
		clock_open(engine, &engine->card.asked);
	else if (is_clock(side))
		card_on_closed(engine);
	engine_add_news(engine, NEWS_OUTPUT, LANE_MUSIC, 0, "");
	engine_settle(engine);
}

const struct output_events clock_output_events = {
	.opened = on_opened,
	.failed = on_failed,
	.closed = on_closed,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_outputs.c - the outputs by their ids: what was configured, which are
 * enabled, and what each tells about itself.
 *
 * The list is made once and never changes; an id is an index into it. Whether
 * one is enabled is a wish that engine_settle() sees to. */
#include "daemon/engine/engine_parts.h"

#include "daemon/output/follower.h"
#include "daemon/output/output.h"
#include "lib/base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Replaces a string by a copy of our own; NULL stays. */
static bool
own(struct output_side *side, const char **string)
{
	char *copy;

	if (*string == NULL)
		return true;
	copy = strdup(*string);
	if (copy != NULL)
		side->strings[side->string_count++] = copy;
	*string = copy;
	return copy != NULL;
}

static int
add_output(struct engine *engine, const struct engine_output_config *config)
{
	struct output_side *side = &engine->outputs[engine->output_count++];
	struct engine_output_config *copy = &side->config;
	bool all = true;

	side->enabled = true;
	*copy = *config;
	all &= own(side, &copy->name);
	all &= own(side, &copy->output.device);
	all &= own(side, &copy->mixer.device);
	all &= own(side, &copy->mixer.pcm);
	all &= own(side, &copy->mixer.control);
	return all ? 0 : -ENOMEM;
}

int
outputs_create(struct engine *engine, const struct engine_config *config)
{
	const struct engine_output_config first = {
		.name = config->name != NULL ? config->name
					     : config->output.driver->name,
		.output = config->output,
		.volume = config->volume,
		.mixer = config->mixer,
		.rate_hz = config->rate_hz,
		.resample_quality = config->resample_quality,
		.speech = !config->music_only,
	};
	unsigned i;
	int result = 0;

	if (config->other_count >= ENGINE_OUTPUTS_MAX)
		return -EINVAL;
	result = add_output(engine, &first);
	for (i = 0; i < config->other_count && result == 0; i++)
		result = add_output(engine, &config->others[i]);
	engine->config.output.device = engine->outputs[0].config.output.device;
	engine->config.name = engine->outputs[0].config.name;
	engine->config.mixer = engine->outputs[0].config.mixer;
	engine->config.others = NULL; /* the caller's; ours are in outputs */
	return result;
}

void
outputs_destroy(struct engine *engine)
{
	while (engine->output_count > 0) {
		struct output_side *side =
			&engine->outputs[--engine->output_count];

		while (side->string_count > 0)
			free(side->strings[--side->string_count]);
	}
}

unsigned
engine_output_count(const struct engine *engine)
{
	return engine->output_count;
}

static void
tell_follower(const struct follower *follower,
	      struct engine_output_info *ret_info)
{
	ret_info->drift_ppm = (double)atomic_load(&follower->drift_ppb) / 1000;
	ret_info->dropped_frames = atomic_load(&follower->dropped_frames);
	ret_info->dry_frames = atomic_load(&follower->dry_frames);
}

int
engine_output_info(const struct engine *engine, unsigned index,
		   struct engine_output_info *ret_info)
{
	const struct output_side *side;

	if (index >= engine->output_count)
		return -ENOENT;
	side = &engine->outputs[index];
	*ret_info = (struct engine_output_info){
		.name = side->config.name,
		.driver = side->config.output.driver->name,
		.device = side->config.output.device,
		.enabled = side->enabled,
		.speech = side->config.speech,
		.volume = side->config.volume,
		.mixer_error =
			side->mixer != NULL ? mixer_error(side->mixer) : "",
		.is_clock = index == engine->clock && side->enabled,
		.state = output_state(side->output),
		.card = output_info(side->output),
		/* What became of a card that was given back is no matter any
		 * more. */
		.error = side->enabled ? output_error(side->output) : "",
	};
	if (side->follower != NULL)
		tell_follower(side->follower, ret_info);
	return 0;
}

bool
outputs_any_enabled(const struct engine *engine)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++)
		if (engine->outputs[i].enabled)
			return true;
	return false;
}

/* A card whose output was disabled is given back before the next one is opened:
 * when what was heard has come to a stand. */
static bool
must_hold(const struct engine *engine)
{
	return !outputs_any_enabled(engine) ||
	       (!engine->outputs[engine->clock].enabled &&
		engine->card.phase != CARD_DOWN &&
		engine->card.phase != CARD_OPENING);
}

void
outputs_hold(struct engine *engine)
{
	const bool held = must_hold(engine);
	unsigned i;

	if (held == engine->held)
		return;
	engine->held = held;
	engine->held_ns = clock_now_ns();
	for (i = 0; i < LANE_COUNT; i++) {
		struct line *line = &engine->lines[i];

		line->held = held;
		if (!line_is_paused(line))
			line->paused_ns = 0;
	}
}

int
engine_output_enable(struct engine *engine, unsigned index, bool enabled)
{
	if (index >= engine->output_count)
		return -ENOENT;
	if (engine->outputs[index].enabled == enabled)
		return 0;
	engine->outputs[index].enabled = enabled;
	engine->outputs[index].failed = false;
	engine_add_news(engine, NEWS_OUTPUT, LANE_MUSIC, 0, "");
	engine_settle(engine);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_outputs.c - the outputs by their ids: what was configured, which are
 * enabled, and what each tells about itself.
 *
 * The list is made once and never changes; an id is an index into it. Whether
 * one is enabled is a wish that engine_settle() sees to. */
#include "daemon/engine/engine_parts.h"

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
tell_clock(const struct engine *engine, struct engine_output_info *ret_info)
{
	ret_info->is_clock = true;
	ret_info->state = output_state(engine->output);
	ret_info->card = output_info(engine->output);
	/* What became of a card that was given back is no matter any more. */
	if (ret_info->enabled)
		ret_info->error = output_error(engine->output);
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
		.state = OUTPUT_CLOSED,
		.error = "",
	};
	if (index == 0)
		tell_clock(engine, ret_info);
	return 0;
}

/* What may sound does; else the lines are held, and the card is given back. */
static void
hold_or_go_on(struct engine *engine)
{
	const bool held = !engine->outputs[0].enabled;
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
	hold_or_go_on(engine);
	engine_add_news(engine, NEWS_OUTPUT, LANE_MUSIC, 0, "");
	engine_settle(engine);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paper_engine.h - what the server asks of an engine, answered from a piece of
 * paper: the server's tests are about what is told, not about what sounds. */
#ifndef ROTARY_TESTS_SERVER_PAPER_ENGINE_H
#define ROTARY_TESTS_SERVER_PAPER_ENGINE_H

#include "daemon/engine/engine.h"
#include "lib/base/text.h"

#include <errno.h>

enum { PAPER_OUTPUTS = 2 };

struct engine {
	struct engine_output output;
	struct card_info card;
	bool disabled[PAPER_OUTPUTS];
};

void
engine_output(const struct engine *engine, struct engine_output *ret_output)
{
	*ret_output = engine->output;
}

int
engine_output_info(const struct engine *engine, unsigned index,
		   struct engine_output_info *ret_info)
{
	if (index >= PAPER_OUTPUTS)
		return -ENOENT;
	*ret_info = (struct engine_output_info){
		.name = index == 0 ? "paper" : "the kitchen",
		.driver = index == 0 ? "paper" : "pipe",
		.device = index == 0 ? NULL : "/run/kitchen\x01\n",
		.enabled = !engine->disabled[index],
		.is_clock = index == 0,
		.speech = index == 0,
		.volume = index == 0 ? ENGINE_VOLUME_HARDWARE
				     : ENGINE_VOLUME_SOFTWARE,
		.state = index == 0 ? engine->output.state : OUTPUT_OPEN,
		.card = index == 0 ? engine->output.card : &engine->card,
		.error = index == 0 ? engine->output.error : "",
		.drift_ppm = -12.25,
		.dropped_frames = 4410,
	};
	return 0;
}

int
engine_output_enable(struct engine *engine, unsigned index, bool enabled)
{
	if (index >= PAPER_OUTPUTS)
		return -ENOENT;
	engine->disabled[index] = !enabled;
	return 0;
}

void
engine_add_rtstats(const struct engine *engine, struct text *text)
{
	text_printf(text, "state: %d\ncard: %s\r\n", (int)engine->output.state,
		    engine->card.name);
}

#endif

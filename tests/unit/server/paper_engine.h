/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paper_engine.h - what the server asks of an engine, answered from a piece of
 * paper: the server's tests are about what is told, not about what sounds. */
#ifndef ROTARY_TESTS_SERVER_PAPER_ENGINE_H
#define ROTARY_TESTS_SERVER_PAPER_ENGINE_H

#include "daemon/engine/engine.h"
#include "lib/base/text.h"

struct engine {
	struct engine_output output;
	struct card_info card;
};

void
engine_output(const struct engine *engine, struct engine_output *ret_output)
{
	*ret_output = engine->output;
}

void
engine_add_rtstats(const struct engine *engine, struct text *text)
{
	text_printf(text, "state: %d\ncard: %s\r\n", (int)engine->output.state,
		    engine->card.name);
}

#endif

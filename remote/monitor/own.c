/* SPDX-License-Identifier: GPL-3.0-or-later */
/* own.c - toggles, mute, favourites. The state is corrected at once by what is
 * commanded, so that two presses in a row are two toggles even when the daemon
 * has not told of the first. There is no menu yet: moving in it meets its edge,
 * and what should be done there cannot be. */
#include "remote/monitor/own.h"

#include "lib/base/text.h"

#include <string.h>

enum { VOLUME_PRESET = 40 };

static void
add_play_pause(struct text *line, struct wire_state *state)
{
	if (state->known && state->play == WIRE_STOPPED) {
		text_add(line, "play");
		state->play = WIRE_PLAYING;
		return;
	}
	/* The daemon knows best which of the two it does. */
	text_add(line, "pause");
	state->play = state->play == WIRE_PLAYING ? WIRE_PAUSED : WIRE_PLAYING;
}

static void
add_toggle(struct text *line, const char *name, struct wire_state *state)
{
	bool *option = strcmp(name, "random") == 0   ? &state->random
		       : strcmp(name, "repeat") == 0 ? &state->repeat
		       : strcmp(name, "single") == 0 ? &state->single
						     : &state->consume;

	*option = !*option;
	text_printf(line, "%s %d", name, *option);
}

static void
add_mute(struct text *line, struct wire_state *state)
{
	if (state->known && state->volume < 0)
		return;
	if (state->volume != 0) {
		state->volume_before_mute = state->volume;
		state->volume = 0;
	} else {
		state->volume = state->volume_before_mute > 0
					? state->volume_before_mute
					: VOLUME_PRESET;
	}
	text_printf(line, "setvol %d", state->volume);
}

static void
add_favourite(struct text *line, const struct wire_state *state)
{
	if (state->song[0] == '\0') {
		text_add(line, "chime error");
		return;
	}
	text_add(line, "playlistadd Favourites ");
	action_add_word(line, state->song);
}

static bool
is_move(const char *word)
{
	static const char *const moves[] = {"up",    "down",   "left",
					    "right", "pageup", "pagedown",
					    "home",  "move"};
	size_t i = 0;

	for (i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		if (strcmp(moves[i], word) == 0)
			return true;
	return false;
}

void
own_add_line(struct text *line, const struct action_step *step,
	     struct wire_state *state)
{
	switch (step->own) {
	case ACTION_OWN_NOOP:
	case ACTION_OWN_MODE:
	case ACTION_OWN_POWER:
		break;
	case ACTION_OWN_MENU:
	case ACTION_OWN_TEXT:
		text_add(line, is_move(step->words[1]) ? "chime edge"
						       : "chime error");
		break;
	case ACTION_OWN_SPEECH:
		state->speech = !state->speech;
		text_printf(line, "speech on %d", state->speech);
		break;
	case ACTION_OWN_FAVOURITE:
		add_favourite(line, state);
		break;
	case ACTION_OWN_TOGGLE:
		if (step->word_count == 1)
			add_play_pause(line, state);
		else
			add_toggle(line, step->words[1], state);
		break;
	case ACTION_OWN_MUTE:
		add_mute(line, state);
		break;
	}
}

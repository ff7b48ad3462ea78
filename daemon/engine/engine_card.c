/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_card.c - opening, re-opening and closing the card.
 *
 *   DOWN -> OPENING -> UP -> SINKING -> OPENING (another rate)
 *             ^         |       +-----> CLOSING -> DOWN
 *             +--lost---+
 *
 * Decks are set up when the card has been opened and no lane can touch the old
 * ones any more: a lane touches a deck only while it reads a plan that has
 * some, so the plan without decks must have been passed by every reader. The
 * same holds before the card is closed or opened anew.
 *
 * The card follows the file: it is opened for the stream that waits first, and
 * opened anew when the next cannot be joined and all has been heard. Lost, or
 * closed in a long pause, it leaves each line standing at the frame that was
 * heard last; the song is opened again there, and begins when the card is back.
 * Music alone decides the rate; while another lane sounds, music is resampled.
 *
 * While no output is enabled, or the clock is not, all lines are held, as if
 * paused, and the card is given back as soon as that is heard. */
#include "daemon/engine/engine_parts.h"

#include "daemon/output/output.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <string.h>

/* The first line that waits for a card, or NULL. */
static struct stream *
waiting(const struct engine *engine)
{
	unsigned i;

	for (i = 0; i < LANE_COUNT; i++) {
		struct stream *stream = line_waiting(&engine->lines[i]);

		if (stream != NULL && !line_is_paused(&engine->lines[i]))
			return stream;
	}
	return NULL;
}

static bool
all_silent(const struct engine *engine)
{
	unsigned i;

	for (i = 0; i < LANE_COUNT; i++)
		if (!engine->lines[i].silent)
			return false;
	return true;
}

/* Takes the decks out of the plan. */
static void
sink(struct engine *engine)
{
	struct card_side *card = &engine->card;
	unsigned i;

	card->decks = 0;
	engine_publish(engine);
	card->sink_generation = engine->generation;
	card->idle_ns = 0;
	for (i = 0; i < LANE_COUNT; i++)
		engine->lines[i].sounding_cut = 0;
}

static bool
has_sunk(const struct engine *engine)
{
	const struct plan *plan = snapshot_current(engine->plans);

	return plan != NULL && plan->decks == 0 &&
	       snapshot_passed(engine->plans, engine->card.sink_generation);
}

static void
open_card(struct engine *engine, const struct audio_spec *spec)
{
	engine->card.asked = *spec;
	engine->card.info_known = false;
	engine->card.phase = CARD_OPENING;
	clock_open(engine, &engine->card.asked);
}

/* The output plays no more from what it was given. The lines go back to what
 * was heard, before the timeline is forgotten. */
static void
lose(struct engine *engine)
{
	unsigned i;

	if (engine->card.phase == CARD_UP) {
		for (i = 0; i < LANE_COUNT; i++)
			line_rebuild(engine, &engine->lines[i]);
		sink(engine);
	}
	if (engine->card.phase == CARD_UP || engine->card.phase == CARD_SINKING)
		engine->card.phase = CARD_OPENING;
	engine->card.info_known = false;
}

/* Without a word before that it was lost, it is so all the same. */
void
card_on_opened(struct engine *engine, const struct card_info *info)
{
	lose(engine);
	engine->card.info = *info;
	engine->card.info_known = true;
}

void
card_on_failed(struct engine *engine)
{
	lose(engine);
}

void
card_on_closed(struct engine *engine)
{
	if (engine->card.phase == CARD_CLOSING)
		engine->card.phase = CARD_DOWN;
}

static void
go_up(struct engine *engine)
{
	struct card_side *card = &engine->card;

	if (!card->info_known || !volume_is_set(engine))
		return;
	if (!has_sunk(engine)) {
		engine_due(engine, ENGINE_RECLAIM_NS);
		return;
	}
	decks_give(engine);
	if (!decks_set_up(engine)) {
		log_err("engine", "there is no memory for the decks");
		engine_due(engine, ENGINE_RETRY_NS);
		return;
	}
	card->spec = card->info.spec;
	card->decks = ++card->deck_setups;
	card->phase = CARD_UP;
	card->idle_ns = 0;
	followers_begin_tap(engine);
	output_run(engine->output);
	engine_due(engine, 0); /* for the rest of the decks' memory */
}

static void
close_card(struct engine *engine, bool drain)
{
	engine->card.phase = CARD_CLOSING;
	output_close(engine->output, drain);
}

/* Nobody waits any more, or for something else; or another output takes over.
 */
static void
settle_opening(struct engine *engine)
{
	const struct stream *stream = waiting(engine);
	struct audio_spec wanted;

	if (clock_replace(engine)) {
		clock_open(engine, &engine->card.asked);
		return;
	}
	if (stream != NULL) {
		wanted = card_spec_for(engine, stream);
		if (wanted.rate_hz != engine->card.asked.rate_hz ||
		    wanted.channels > engine->card.asked.channels) {
			open_card(engine, &wanted);
			return;
		}
	} else if (engine->held ||
		   (output_state(engine->output) == OUTPUT_RETRY &&
		    !card_others_active(engine, NULL))) {
		close_card(engine, false);
		return;
	}
	go_up(engine);
}

static void
begin_sinking(struct engine *engine, const struct audio_spec *reopen,
	      bool drain)
{
	struct card_side *card = &engine->card;

	card->drain = drain;
	card->reopen = reopen != NULL;
	if (reopen != NULL)
		card->sink_spec = *reopen;
	card->phase = CARD_SINKING;
	sink(engine);
	engine->settle_again = true;
}

static bool
keeps_open(const struct engine *engine)
{
	return engine->outputs[engine->clock].config.output.keep_open;
}

/* Stands still for so long that the card is better given back. */
static bool
paused_for_long(const struct engine *engine, int64_t now_ns, int64_t *ret_due)
{
	const struct line *music = &engine->lines[LANE_MUSIC];

	*ret_due = INT64_MAX;
	if (!music->paused || music->paused_ns == 0 || keeps_open(engine) ||
	    card_others_active(engine, music))
		return false;
	*ret_due = music->paused_ns + engine->pause_close_ns;
	return now_ns >= *ret_due;
}

/* Who was spoken to is likely to be spoken to again soon. */
static void
note_speech(struct engine *engine)
{
	if (line_active(&engine->lines[LANE_SPEECH]) ||
	    line_active(&engine->lines[LANE_CHIME]))
		engine->card.spoke = true;
	else if (line_active(&engine->lines[LANE_MUSIC]))
		engine->card.spoke = false;
}

static bool
idle_for_long(struct engine *engine, int64_t now_ns, int64_t *ret_due)
{
	struct card_side *card = &engine->card;

	note_speech(engine);
	*ret_due = INT64_MAX;
	if (!all_silent(engine) || waiting(engine) != NULL ||
	    keeps_open(engine)) {
		card->idle_ns = 0;
		return false;
	}
	if (card->idle_ns == 0)
		card->idle_ns = now_ns;
	*ret_due = card->idle_ns + (card->spoke ? ENGINE_SPEECH_CLOSE_NS
						: ENGINE_IDLE_CLOSE_NS);
	return now_ns >= *ret_due;
}

/* A card that does not say in time that all stands still is not waited for. */
static bool
held_for_long(const struct engine *engine, int64_t now_ns, int64_t *ret_due)
{
	bool quiet = true;
	unsigned i;

	*ret_due = engine->held_ns + ENGINE_HOLD_NS;
	for (i = 0; i < LANE_COUNT; i++) {
		const struct line *line = &engine->lines[i];

		if (line_is_quiet(line, now_ns))
			continue;
		quiet = false;
		if (line->paused_ns != 0 && line->still_ns < *ret_due)
			*ret_due = line->still_ns;
	}
	return quiet || now_ns >= engine->held_ns + ENGINE_HOLD_NS;
}

/* Gives the card back; each line goes on where it stands. */
static void
settle_held(struct engine *engine, int64_t now_ns)
{
	unsigned i;

	if (!held_for_long(engine, now_ns, &engine->card.due_ns))
		return;
	for (i = 0; i < LANE_COUNT; i++) {
		line_rebuild(engine, &engine->lines[i]);
		engine->lines[i].paused_ns = 0;
	}
	begin_sinking(engine, NULL, false);
}

static void
settle_up(struct engine *engine, int64_t now_ns)
{
	struct line *music = &engine->lines[LANE_MUSIC];
	const struct stream *stream = line_waiting(music);
	int64_t pause_due_ns, idle_due_ns;

	if (!decks_set_up(engine))
		engine_due(engine, ENGINE_RETRY_NS);
	if (decks_populate(engine))
		engine_due(engine, 0);
	if (stream != NULL && !card_usable(engine, music, stream) &&
	    all_silent(engine)) {
		const struct audio_spec wanted = card_spec_for(engine, stream);

		begin_sinking(engine, &wanted, true);
	} else if (paused_for_long(engine, now_ns, &pause_due_ns)) {
		line_rebuild(engine, music);
		music->paused_ns = 0;
		begin_sinking(engine, NULL, false);
	} else if (idle_for_long(engine, now_ns, &idle_due_ns)) {
		begin_sinking(engine, NULL, true);
	} else {
		engine->card.due_ns =
			pause_due_ns < idle_due_ns ? pause_due_ns : idle_due_ns;
	}
}

static void
settle_sinking(struct engine *engine)
{
	if (!has_sunk(engine)) {
		engine_due(engine, ENGINE_RECLAIM_NS);
		return;
	}
	if (engine->card.reopen && !engine->held) {
		open_card(engine, &engine->card.sink_spec);
	} else {
		close_card(engine, engine->card.drain);
	}
}

void
card_settle(struct engine *engine, int64_t now_ns)
{
	const struct stream *stream;

	engine->card.due_ns = INT64_MAX;
	switch (engine->card.phase) {
	case CARD_DOWN:
		stream = waiting(engine);
		if (has_sunk(engine))
			decks_give(engine);
		if (stream != NULL && clock_choose(engine)) {
			const struct audio_spec spec =
				card_spec_for(engine, stream);

			open_card(engine, &spec);
		}
		break;
	case CARD_OPENING:
		settle_opening(engine);
		break;
	case CARD_UP:
		if (engine->held)
			settle_held(engine, now_ns);
		else
			settle_up(engine, now_ns);
		break;
	case CARD_SINKING:
		settle_sinking(engine);
		break;
	case CARD_CLOSING:
		break;
	}
}

void
card_finish(struct engine *engine)
{
	decks_give(engine);
}

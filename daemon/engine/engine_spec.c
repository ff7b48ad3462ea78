/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_spec.c - what the card is opened with for a stream, and which streams
 * it suits as it is open.
 *
 * The card follows the file, so that samples reach it unchanged, or has the
 * rate that is configured. Music alone decides: while another lane sounds, it
 * is resampled.
 *
 * Songs that overlap are heard in one deck, and thus at one rate: the card is
 * kept as the song before left it, and the lane resamples or mixes down. So
 * that this costs little, a card that is opened while songs are to overlap is
 * opened for no less than most songs have, two channels and 44.1 kHz; and one
 * that was opened for less is not kept for more. */
#include "daemon/engine/engine_parts.h"

enum {
	CARD_CHANNELS_KEPT = 2,
	CARD_HZ_KEPT = 44100,
	CARD_HZ_KEPT_ELSE = 48000,
};

bool
card_others_active(const struct engine *engine, const struct line *line)
{
	unsigned i;

	for (i = 0; i < LANE_COUNT; i++)
		if (&engine->lines[i] != line && line_active(&engine->lines[i]))
			return true;
	return false;
}

/* 0: the card follows the file. */
static uint32_t
fixed_rate_hz(const struct engine *engine)
{
	return engine->outputs[engine->clock].config.rate_hz;
}

static struct audio_spec
plain_spec_for(const struct engine *engine, const struct stream *stream)
{
	struct audio_spec spec = stream->spec;

	if (fixed_rate_hz(engine) != 0)
		spec.rate_hz = fixed_rate_hz(engine);
	return spec;
}

struct audio_spec
card_spec_for(const struct engine *engine, const struct stream *stream)
{
	struct audio_spec spec = plain_spec_for(engine, stream);

	if (!engine->overlaps || stream->lane != LANE_MUSIC)
		return spec;
	if (spec.channels < CARD_CHANNELS_KEPT)
		spec.channels = CARD_CHANNELS_KEPT;
	if (fixed_rate_hz(engine) == 0 && spec.rate_hz < CARD_HZ_KEPT)
		spec.rate_hz = CARD_HZ_KEPT % spec.rate_hz == 0
				       ? CARD_HZ_KEPT
				       : CARD_HZ_KEPT_ELSE;
	return spec;
}

static bool
suits(const struct card_side *card, const struct audio_spec *wanted)
{
	return (wanted->rate_hz == card->spec.rate_hz ||
		wanted->rate_hz == card->asked.rate_hz) &&
	       (wanted->channels <= card->spec.channels ||
		wanted->channels <= card->asked.channels);
}

bool
card_has_decks(const struct engine *engine, enum lane_id lane)
{
	return engine->card.decks != 0 &&
	       engine->card.memory[lane][LANE_DECKS - 1].memory != NULL;
}

bool
card_usable(const struct engine *engine, const struct line *line,
	    const struct stream *stream)
{
	const struct audio_spec plain = plain_spec_for(engine, stream);
	const struct audio_spec wanted = card_spec_for(engine, stream);

	if (!card_has_decks(engine, line->id))
		return false;
	if (line->id != LANE_MUSIC || card_others_active(engine, line))
		return true;
	return suits(&engine->card, &plain) || suits(&engine->card, &wanted);
}

bool
card_can_keep(const struct engine *engine, const struct line *line,
	      const struct stream *stream)
{
	const struct card_spec *card = &engine->card.spec;

	return card_has_decks(engine, line->id) &&
	       (stream->spec.channels <= card->channels ||
		card->channels >= CARD_CHANNELS_KEPT) &&
	       (stream->spec.rate_hz <= card->rate_hz ||
		card->rate_hz >= CARD_HZ_KEPT);
}

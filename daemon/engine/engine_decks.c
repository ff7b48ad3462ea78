/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_decks.c - the decks of the open card: how long they are, and their
 * memory.
 *
 * A deck for seconds takes milliseconds to be populated, and somebody waits for
 * its first frames: so those come at once, the rest piece by piece between what
 * else control has to do. Nobody lacks it as long as control turns round faster
 * than the card plays. */
#include "daemon/engine/engine_parts.h"

#include "daemon/output/deck.h"

enum { FIRST_PARTS_OF_SECOND = 2, PIECE_BYTES = 256 << 10 };

void
decks_give(struct engine *engine)
{
	unsigned lane, deck;

	for (lane = 0; lane < LANE_COUNT; lane++)
		for (deck = 0; deck < LANE_DECKS; deck++)
			pool_give(engine->commons->pool,
				  &engine->card.memory[lane][deck]);
	pool_set_reserve(engine->commons->pool, engine->deck_reserve);
}

/* Two buffers ahead for music, and a second, so that the lane is asked for more
 * only now and then; less where four decks would not fit into the pool, and for
 * the other lanes. */
static size_t
ahead_frames(const struct engine *engine, unsigned lane, size_t history,
	     size_t frame_bytes)
{
	const struct card_info *info = &engine->card.info;
	const size_t least = info->spec.rate_hz / 4 + 1;
	/* Who asks for a long buffer gets what it needs to let all sleep. */
	const bool is_long = info->buffer_frames > 2 * info->spec.rate_hz;
	const size_t share =
		engine->config.ring_bytes / (is_long ? 3 : 4) / frame_bytes;
	size_t ahead = (size_t)info->buffer_frames * 2;

	if (ahead < info->spec.rate_hz)
		ahead = info->spec.rate_hz;
	if (history + ahead > share)
		ahead = share > history ? share - history : least;
	return ahead < least || lane != LANE_MUSIC ? least : ahead;
}

static bool
set_up_lane(struct engine *engine, unsigned lane)
{
	const struct card_info *info = &engine->card.info;
	const uint32_t channels = info->spec.channels;
	const size_t frame_bytes = channels * sizeof(uint32_t);
	const size_t history =
		deck_history_frames(info->buffer_frames, info->spec.rate_hz);
	const size_t frames =
		history + ahead_frames(engine, lane, history, frame_bytes);
	unsigned deck;

	for (deck = 0; deck < LANE_DECKS; deck++) {
		struct pool_extent *extent = &engine->card.memory[lane][deck];

		if (!pool_take_high(engine->commons->pool, frames * frame_bytes,
				    extent))
			return false;
		deck_init(&engine->bus->decks[lane][deck], extent->memory,
			  extent->bytes / frame_bytes, channels, history);
		pcm_ring_provide(&engine->bus->decks[lane][deck].ring, 0);
		(void)pool_populate(&engine->bus->decks[lane][deck].ring,
				    info->spec.rate_hz / FIRST_PARTS_OF_SECOND);
	}
	return true;
}

/* Lanes that play nothing get theirs with their first cut. */
static bool
lane_needs_decks(const struct engine *engine, unsigned lane)
{
	return lane == LANE_MUSIC || line_active(&engine->lines[lane]);
}

bool
decks_set_up(struct engine *engine)
{
	unsigned lane;

	pool_set_reserve(engine->commons->pool, 0);
	for (lane = 0; lane < LANE_COUNT; lane++)
		if (engine->card.memory[lane][0].memory == NULL &&
		    lane_needs_decks(engine, lane) &&
		    !set_up_lane(engine, lane))
			return false;
	return true;
}

static bool
populate_piece(struct pcm_ring *ring)
{
	const size_t before = pcm_ring_provided(ring);
	const size_t piece = PIECE_BYTES / sizeof(uint32_t) / ring->channels;

	return before != SIZE_MAX && pool_populate(ring, before + piece);
}

bool
decks_populate(struct engine *engine)
{
	unsigned lane, deck;

	for (lane = 0; lane < LANE_COUNT; lane++)
		for (deck = 0; deck < LANE_DECKS; deck++) {
			if (engine->card.memory[lane][deck].memory == NULL ||
			    !populate_piece(
				    &engine->bus->decks[lane][deck].ring))
				continue;
			wake_post(&engine->commons->wake);
			return true;
		}
	return false;
}

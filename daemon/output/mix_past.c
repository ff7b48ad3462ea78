/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mix_past.c - what was decided already: going back on it, and forgetting it.
 *
 *   lowest <= frame to rewind to <= mix->frame;  lowest only grows
 *
 * A decision that is undone is made again, by the plan of then, when its frame
 * is mixed again. What it told control is told again only if it comes out
 * otherwise. */
#include "daemon/output/mix.h"

#include "daemon/output/tap.h"

#include <string.h>

RT_SAFE bool
mix_sounds(const struct mix *mix)
{
	unsigned lane = 0, i = 0;

	for (lane = 0; lane < LANE_COUNT; lane++) {
		const struct mix_lane_state *state = &mix->lanes[lane];

		for (i = 0; i < state->span_count; i++) {
			if (state->spans[i].end > mix->frame)
				return true;
		}
	}
	return false;
}

RT_SAFE unsigned
mix_live_lanes(const struct mix *mix)
{
	unsigned lane = 0, count = 0;

	for (lane = 0; lane < LANE_COUNT; lane++) {
		const struct mix_lane_state *state = &mix->lanes[lane];

		if (state->span_count > 0 &&
		    state->spans[state->span_count - 1].left == MIX_LIVE)
			count++;
	}
	return count;
}

RT_SAFE bool
mix_awaits_cut(const struct mix *mix, const struct mix_plan *plan)
{
	unsigned lane = 0;

	for (lane = 0; lane < LANE_COUNT; lane++) {
		const struct mix_lane_state *state = &mix->lanes[lane];
		const struct mix_lane *planned = &plan->lanes[lane];

		if (planned->cut == 0 ||
		    (planned->start == PLAN_AFTER && state->span_count > 0))
			continue;
		if (state->span_count == 0 ||
		    state->spans[state->span_count - 1].cut != planned->cut)
			return true;
	}
	return false;
}

RT_SAFE bool
mix_pending(const struct mix *mix, const struct mix_plan *plan)
{
	unsigned lane = 0;

	if (mix->volume.count == 0)
		return false;
	if (mix->volume.ramps[mix->volume.count - 1].to != plan->volume &&
	    mix_sounds(mix))
		return true;
	for (lane = 0; lane < LANE_COUNT; lane++) {
		if (mix_lane_pending(mix, plan, lane))
			return true;
	}
	return false;
}

RT_SAFE void
mix_hold_begins(struct mix *mix, uint64_t frame)
{
	mix->begins_below = frame;
	mix->held_back = false;
}

/* At the floor nothing earlier is left to go back to. */
RT_SAFE bool
mix_may_begin(struct mix *mix)
{
	if (mix->frame < mix->begins_below || mix->frame == mix->floor)
		return true;
	mix->held_back = true;
	return false;
}

/* The first output frame of the span whose deck frame the ring still has. */
static RT_SAFE uint64_t
lowest_of_span(const struct mix *mix, unsigned lane,
	       const struct mix_span *span)
{
	const struct pcm_ring *ring = &mix_deck(mix, lane, span)->ring;
	const uint64_t furthest =
		atomic_load_explicit(&ring->furthest, memory_order_relaxed);
	const uint64_t kept = furthest > ring->history_frames
				      ? furthest - ring->history_frames
				      : 0;
	uint64_t lowest = span->first;

	if (kept <= span->deck_frame)
		return 0;
	lowest += kept - span->deck_frame;
	return lowest < span->end ? lowest : span->end;
}

/* A plan names its newest cut only: what that is to follow could not be begun
 * again, and stays begun. */
static RT_SAFE uint64_t
lowest_to_follow(const struct mix_lane_state *state,
		 const struct mix_lane *planned)
{
	unsigned i = state->span_count;

	if (planned->start == PLAN_NOW)
		return 0;
	while (i > 0 && state->spans[i - 1].cut == planned->cut)
		i--;
	if (i == 0)
		return 0;
	while (i > 1 && state->spans[i - 2].cut == state->spans[i - 1].cut)
		i--;
	return state->spans[i - 1].first + 1;
}

RT_SAFE uint64_t
mix_lowest(const struct mix *mix, const struct mix_plan *plan)
{
	uint64_t lowest = mix->floor;
	unsigned lane = 0, i = 0;

	for (lane = 0; lane < LANE_COUNT; lane++) {
		const struct mix_lane_state *state = &mix->lanes[lane];
		const uint64_t follow =
			lowest_to_follow(state, &plan->lanes[lane]);

		lowest = follow > lowest ? follow : lowest;
		for (i = 0; i < state->span_count; i++) {
			const uint64_t frame =
				lowest_of_span(mix, lane, &state->spans[i]);

			lowest = frame > lowest ? frame : lowest;
		}
	}
	return lowest < mix->frame ? lowest : mix->frame;
}

static RT_SAFE void
rewind_gain(struct mix_gain *gain, uint64_t frame)
{
	while (gain->count > 1 && gain->ramps[gain->count - 1].start >= frame)
		gain->count--;
}

static RT_SAFE void
rewind_lane(struct mix_lane_state *state, uint64_t frame)
{
	while (state->span_count > 0 &&
	       state->spans[state->span_count - 1].first >= frame)
		state->span_count--;
	if (state->span_count > 0) {
		struct mix_span *span = &state->spans[state->span_count - 1];

		if (span->left_at >= frame) {
			span->left = MIX_LIVE;
			span->left_at = UINT64_MAX;
			span->end = UINT64_MAX;
		}
	}
	while (state->recent_count > 0 &&
	       state->recent[state->recent_count - 1].frame >= frame)
		state->undone = state->recent[--state->recent_count];
	if (state->gain.count > 0)
		rewind_gain(&state->gain, frame);
}

RT_SAFE void
mix_rewind(struct mix *mix, uint64_t frame)
{
	unsigned lane = 0;

	for (lane = 0; lane < LANE_COUNT; lane++)
		rewind_lane(&mix->lanes[lane], frame);
	mix_duck_rewind(mix, frame);
	if (mix->bus->tap != NULL)
		tap_turn_back(mix->bus->tap, frame);
	if (mix->volume.count > 0)
		rewind_gain(&mix->volume, frame);
	while (mix->point_count > 0 &&
	       mix->points[mix->point_count - 1].output_frame >= frame)
		mix->point_count--;
	if (frame < mix->frame)
		limiter_renew(&mix->limiter, frame);
	mix->guessed = UINT64_MAX;
	mix->frame = frame;
}

RT_SAFE void
mix_forget_ahead(struct mix *mix, uint64_t frame)
{
	if (frame < mix->guessed)
		mix->guessed = frame;
}

/* Points before the one that its lane is at when frame is heard. */
static RT_SAFE void
forget_points(struct mix *mix, uint64_t frame)
{
	bool has_later[LANE_COUNT] = {false};
	unsigned kept = mix->point_count;
	unsigned i = mix->point_count;

	while (i > 0) {
		const struct timeline_point point = mix->points[--i];

		if (point.output_frame <= frame && has_later[point.lane])
			continue;
		if (point.output_frame <= frame)
			has_later[point.lane] = true;
		mix->points[--kept] = point;
	}
	memmove(mix->points, mix->points + kept,
		(mix->point_count - kept) * sizeof(mix->points[0]));
	mix->point_count -= kept;
}

static RT_SAFE void
forget_spans(struct mix_lane_state *state, uint64_t frame)
{
	unsigned gone = 0;

	while (gone + 1 < state->span_count && state->spans[gone].end <= frame)
		gone++;
	memmove(state->spans, state->spans + gone,
		(state->span_count - gone) * sizeof(state->spans[0]));
	state->span_count -= gone;
}

/* The lowest frame of the deck that may be mixed again; UINT64_MAX: no span
 * leads to it. */
static RT_SAFE uint64_t
deck_lowest(const struct mix_lane_state *state, uint32_t deck, uint64_t frame)
{
	uint64_t lowest = UINT64_MAX;
	unsigned i = 0;

	for (i = 0; i < state->span_count; i++) {
		const struct mix_span *span = &state->spans[i];
		uint64_t position = span->deck_frame;

		if (span->deck != deck)
			continue;
		if (frame > span->first)
			position = mix_span_position(span, frame);
		lowest = position < lowest ? position : lowest;
	}
	return lowest;
}

/* A deck that no span leads to, of a cut that the plan has left behind, goes
 * back to its lane. One stretch more is kept, so that the end of the one
 * before a frame can still be found. */
static RT_SAFE bool
forget_deck(struct mix *mix, const struct mix_plan *plan, unsigned lane,
	    uint32_t index, uint64_t frame)
{
	struct deck *deck = &mix->bus->decks[lane][index];
	const uint64_t lowest = deck_lowest(&mix->lanes[lane], index, frame);

	if (atomic_load_explicit(&deck->state, memory_order_acquire) !=
	    DECK_FILLING)
		return false;
	if (lowest == UINT64_MAX) {
		if (atomic_load_explicit(&deck->cut, memory_order_relaxed) >=
		    plan->lanes[lane].cut)
			return false;
		deck_release(deck);
		return true;
	}
	if (lowest > 0)
		deck_drop_stretches(deck, lowest - 1);
	return false;
}

RT_SAFE bool
mix_forget(struct mix *mix, const struct mix_plan *plan, uint64_t frame,
	   uint64_t heard)
{
	bool released = false;
	unsigned lane = 0;
	uint32_t i = 0;

	if (frame > mix->frame)
		frame = mix->frame;
	if (frame > mix->floor)
		mix->floor = frame;
	forget_points(mix, heard < mix->floor ? heard : mix->floor);
	for (lane = 0; lane < LANE_COUNT; lane++) {
		forget_spans(&mix->lanes[lane], mix->floor);
		for (i = 0; i < LANE_DECKS; i++)
			released |= forget_deck(mix, plan, lane, i, mix->floor);
	}
	return released;
}

RT_SAFE uint64_t
mix_settled_frame(const struct mix *mix)
{
	uint64_t settled = 0;
	unsigned lane = 0, i = 0;

	for (lane = 0; lane < LANE_COUNT; lane++) {
		const struct mix_lane_state *state = &mix->lanes[lane];

		for (i = 0; i + 1 < state->span_count; i++) {
			if (state->spans[i].end > settled)
				settled = state->spans[i].end;
		}
	}
	return settled < mix->frame ? settled : mix->frame;
}

/* The frame from which on no span leads to the lane's other deck. */
static RT_SAFE uint64_t
wanted_of_lane(const struct mix *mix, const struct mix_plan *plan,
	       unsigned lane)
{
	const struct mix_lane_state *state = &mix->lanes[lane];
	const struct mix_span *last = NULL;
	uint64_t wanted = 0;
	unsigned i = 0;

	if (state->span_count < 2)
		return UINT64_MAX;
	last = &state->spans[state->span_count - 1];
	if (plan->lanes[lane].cut == last->cut)
		return UINT64_MAX;
	for (i = 0; i + 1 < state->span_count; i++) {
		if (state->spans[i].deck != last->deck &&
		    state->spans[i].end > wanted)
			wanted = state->spans[i].end;
	}
	return wanted > 0 ? wanted : UINT64_MAX;
}

RT_SAFE uint64_t
mix_wanted_frame(const struct mix *mix, const struct mix_plan *plan)
{
	uint64_t wanted = UINT64_MAX;
	unsigned lane = 0;

	for (lane = 0; lane < LANE_COUNT; lane++) {
		const uint64_t frame = wanted_of_lane(mix, plan, lane);

		wanted = frame < wanted ? frame : wanted;
	}
	return wanted;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mix_lane.c - what a lane does at an output frame: goes over to a new cut,
 * pauses, goes on, or nothing.
 *
 * Decisions are made at mix->frame only, and each is one change of the list of
 * spans, so that mix_rewind() can undo it. They depend on the plan, on how far
 * the decks are filled, and on the list itself; on no clock.
 *
 * A lane goes over to a new cut when its deck is primed and the cut is due:
 * NOW at once, AT its frame, AFTER a stream where that stream ends on the old
 * deck. Until then the old span goes on, but never past the end of that
 * stream: mix_lane_until_cut() holds it there.
 *
 * How far a deck is filled changes at any time: between a look by
 * mix_lane_pending() and the mixing, too. A begin that could have been heard
 * earlier is therefore made only while mix_may_begin() allows it.
 *
 * A span fades in unless it begins with the first sample of a song, and fades
 * out unless the next one joins it to the sample. */
#include "daemon/output/mix.h"

#include <string.h>

RT_SAFE float
mix_gain_at(const struct mix_gain *gain, uint64_t frame)
{
	return gain_ramp_at(&gain->ramps[gain->count - 1], frame);
}

RT_SAFE void
mix_set_gain(struct mix *mix, struct mix_gain *gain, float target,
	     uint32_t ramp_frames)
{
	const uint64_t frame = mix->frame;
	struct gain_ramp ramp = {frame, ramp_frames, target, target};

	if (gain->count > 0 && gain->ramps[gain->count - 1].to == target)
		return;
	limiter_renew(&mix->limiter, frame);
	if (gain->count > 0 && ramp_frames > 0)
		ramp.from = mix_gain_at(gain, frame);
	if (gain->count > 0 && gain->ramps[gain->count - 1].start == frame)
		gain->count--;
	if (gain->count == MIX_RAMPS) {
		memmove(gain->ramps, gain->ramps + 1,
			(MIX_RAMPS - 1) * sizeof(gain->ramps[0]));
		gain->count--;
	}
	gain->ramps[gain->count++] = ramp;
}

RT_SAFE struct mix_span *
mix_lane_span(struct mix *mix, unsigned lane)
{
	struct mix_lane_state *state = &mix->lanes[lane];

	return state->span_count == 0 ? NULL
				      : &state->spans[state->span_count - 1];
}

static RT_SAFE const struct mix_span *
last_span(const struct mix *mix, unsigned lane)
{
	const struct mix_lane_state *state = &mix->lanes[lane];

	return state->span_count == 0 ? NULL
				      : &state->spans[state->span_count - 1];
}

RT_SAFE uint64_t
mix_span_position(const struct mix_span *span, uint64_t frame)
{
	const uint64_t until = frame < span->left_at ? frame : span->left_at;

	return span->deck_frame + (until - span->first);
}

RT_SAFE struct deck *
mix_deck(const struct mix *mix, unsigned lane, const struct mix_span *span)
{
	return &mix->bus->decks[lane][span->deck];
}

/* The deck that holds cut, if it can be gone over to, else -1. `ended` is
 * asked for before the count, so that it speaks of all of it. */
static RT_SAFE int
ready_deck(const struct mix *mix, unsigned lane, uint64_t cut)
{
	int i = 0;

	for (i = 0; i < LANE_DECKS; i++) {
		const struct deck *deck = &mix->bus->decks[lane][i];
		bool ended = false;

		if (atomic_load_explicit(&deck->state, memory_order_acquire) !=
			    DECK_FILLING ||
		    atomic_load_explicit(&deck->cut, memory_order_relaxed) !=
			    cut)
			continue;
		ended = pcm_ring_ended(&deck->ring);
		if (ended || pcm_ring_written(&deck->ring) >= mix->prime_frames)
			return i;
	}
	return -1;
}

static RT_SAFE bool
was_heard(const struct mix_lane_state *state, uint64_t stream_id)
{
	unsigned i = 0;

	for (i = 0; i < state->recent_count; i++) {
		if (state->recent[i].stream_id == stream_id)
			return true;
	}
	return false;
}

/* Frames until the plan's cut is due: 0 now, UINT64_MAX not known or none.
 * *ret_join: it is a join to the sample. */
static RT_SAFE uint64_t
cut_distance(const struct mix *mix, const struct mix_plan *plan, unsigned lane,
	     bool *ret_join)
{
	const struct mix_lane *planned = &plan->lanes[lane];
	const struct mix_span *span = last_span(mix, lane);
	const struct deck *deck = NULL;
	uint64_t position = 0, end = 0;

	*ret_join = false;
	if (planned->cut == 0 || (span != NULL && planned->cut == span->cut))
		return UINT64_MAX;
	if (planned->start == PLAN_AT)
		return planned->at_frame > mix->frame
			       ? planned->at_frame - mix->frame
			       : 0;
	if (span == NULL || planned->start != PLAN_AFTER)
		return 0;
	deck = mix_deck(mix, lane, span);
	position = mix_span_position(span, mix->frame);
	switch (deck_stream_end(deck, position, planned->after_stream, &end)) {
	case DECK_END_KNOWN:
		*ret_join = true;
		return end - position;
	case DECK_END_OPEN:
		return UINT64_MAX;
	case DECK_END_NONE:
		break;
	}
	return was_heard(&mix->lanes[lane], planned->after_stream) ||
			       pcm_ring_ended(&deck->ring)
		       ? 0
		       : UINT64_MAX;
}

RT_SAFE uint64_t
mix_lane_until_cut(const struct mix *mix, const struct mix_plan *plan,
		   unsigned lane)
{
	bool join = false;
	const uint64_t distance = cut_distance(mix, plan, lane, &join);

	if (join)
		return distance;
	return distance == 0 ? UINT64_MAX : distance;
}

/* The deck's frame is the first sample of a song. */
static RT_SAFE bool
begins_song(const struct deck *deck, uint64_t frame)
{
	struct deck_stretch stretch;
	uint64_t next = 0;

	return deck_stretch_at(deck, frame, &stretch, &next) &&
	       stretch.first_frame == frame && stretch.stream_frame == 0;
}

static RT_SAFE void
push_span(struct mix *mix, unsigned lane, const struct mix_span *span)
{
	struct mix_lane_state *state = &mix->lanes[lane];

	limiter_renew(&mix->limiter, mix->frame);
	if (state->span_count == MIX_SPANS) {
		if (state->spans[0].end > mix->floor)
			mix->floor = state->spans[0].end < mix->frame
					     ? state->spans[0].end
					     : mix->frame;
		memmove(state->spans, state->spans + 1,
			(MIX_SPANS - 1) * sizeof(state->spans[0]));
		state->span_count--;
	}
	state->spans[state->span_count++] = *span;
}

static RT_SAFE void
add_silence(struct mix *mix, unsigned lane)
{
	const struct timeline_point point = {.output_frame = mix->frame,
					     .lane = lane};

	mix_add_point(mix, &point);
}

static RT_SAFE void
tell_drained(struct mix *mix, unsigned lane, uint64_t cut)
{
	struct mix_lane_state *state = &mix->lanes[lane];

	if (state->drained.cut == cut && state->drained.frame == mix->frame)
		return;
	state->drained = (struct mix_recent){.cut = cut, .frame = mix->frame};
	mix_note(mix, &(struct mix_note){.kind = RT_EVENT_LANE_DRAINED,
					 .lane = lane,
					 .id = cut,
					 .frame = mix->frame});
}

RT_SAFE void
mix_lane_leave(struct mix *mix, unsigned lane, enum mix_left left)
{
	struct mix_span *span = mix_lane_span(mix, lane);
	const bool fades = left == MIX_CROSSED || left == MIX_PAUSED;

	limiter_renew(&mix->limiter, mix->frame);
	span->left = left;
	span->left_at = mix->frame;
	span->end = mix->frame;
	if (fades && span->first < mix->frame)
		span->end += mix->fade_frames;
	if (left != MIX_CROSSED)
		add_silence(mix, lane);
	if (left == MIX_DRAINED)
		tell_drained(mix, lane, span->cut);
}

/* A span of no length, at which the lane stands. */
static RT_SAFE void
stand(struct mix *mix, unsigned lane, struct mix_span *span, enum mix_left left)
{
	span->left = left;
	span->left_at = mix->frame;
	span->end = mix->frame;
	push_span(mix, lane, span);
	add_silence(mix, lane);
	if (left == MIX_DRAINED)
		tell_drained(mix, lane, span->cut);
}

/* Begins, or stands at, a deck's frame. */
static RT_SAFE void
begin(struct mix *mix, unsigned lane, struct mix_span span, bool paused)
{
	const struct deck *deck = mix_deck(mix, lane, &span);
	const bool ended = pcm_ring_ended(&deck->ring);

	span.first = mix->frame;
	if (ended && pcm_ring_written(&deck->ring) <= span.deck_frame) {
		stand(mix, lane, &span, MIX_DRAINED);
	} else if (paused) {
		stand(mix, lane, &span, MIX_PAUSED);
	} else {
		span.left = MIX_LIVE;
		span.left_at = UINT64_MAX;
		span.end = UINT64_MAX;
		push_span(mix, lane, &span);
	}
}

/* It is made where it belongs: at the end of what is heard, or at its frame. */
static RT_SAFE bool
is_punctual(const struct mix *mix, const struct mix_plan *plan, unsigned lane,
	    bool join)
{
	const struct mix_lane *planned = &plan->lanes[lane];
	const struct mix_span *span = last_span(mix, lane);

	if (planned->start == PLAN_AT)
		return planned->at_frame == mix->frame;
	return join && span->left == MIX_LIVE;
}

static RT_SAFE void
try_cut(struct mix *mix, const struct mix_plan *plan, unsigned lane)
{
	const struct mix_lane *planned = &plan->lanes[lane];
	const struct mix_span *span = mix_lane_span(mix, lane);
	struct mix_span next = {.cut = planned->cut};
	bool join = false;
	int ready = 0;

	if (cut_distance(mix, plan, lane, &join) != 0)
		return;
	ready = ready_deck(mix, lane, planned->cut);
	if (ready < 0 ||
	    (!is_punctual(mix, plan, lane, join) && !mix_may_begin(mix)))
		return;
	next.deck = (uint32_t)ready;
	next.fade_in = !join && !begins_song(&mix->bus->decks[lane][ready], 0);
	if (span != NULL && span->left == MIX_LIVE) {
		mix_lane_leave(mix, lane, MIX_CROSSED);
		if (join)
			mix_lane_span(mix, lane)->end = mix->frame;
	}
	if (mix->lanes[lane].cut_told != planned->cut) {
		mix->lanes[lane].cut_told = planned->cut;
		mix_note(mix, &(struct mix_note){.kind = RT_EVENT_CUT,
						 .lane = lane,
						 .id = planned->cut,
						 .frame = mix->frame});
	}
	begin(mix, lane, next, planned->paused != 0);
}

/* Which stream the lane stands at, and where in it. */
static RT_SAFE void
tell_paused(struct mix *mix, unsigned lane)
{
	struct mix_lane_state *state = &mix->lanes[lane];
	const struct mix_span *span = mix_lane_span(mix, lane);
	struct mix_note note = {.kind = RT_EVENT_LANE_PAUSED, .lane = lane};
	struct deck_stretch stretch;
	uint64_t position = 0, next = 0;

	note.frame = mix->frame;
	if (span != NULL) {
		position = mix_span_position(span, mix->frame);
		note.frame = span->end > note.frame ? span->end : note.frame;
		if (deck_stretch_at(mix_deck(mix, lane, span), position,
				    &stretch, &next)) {
			note.id = stretch.stream_id;
			note.value = stretch.stream_frame +
				     (position - stretch.first_frame) *
					     stretch.stream_rate_hz /
					     mix->spec.rate_hz;
		}
	}
	if (state->pause_told && state->pause_stream == note.id &&
	    state->pause_frame == note.value)
		return;
	state->pause_told = true;
	state->pause_stream = note.id;
	state->pause_frame = note.value;
	/* Control takes back what lies behind it: that comes anew. */
	state->undone = (struct mix_recent){0};
	state->drained = (struct mix_recent){0};
	mix_note(mix, &note);
}

/* Standing, on the cut that is wanted or with time left before the next. */
static RT_SAFE bool
is_to_go_on(const struct mix *mix, const struct mix_plan *plan, unsigned lane)
{
	const struct mix_lane *planned = &plan->lanes[lane];
	const struct mix_span *span = last_span(mix, lane);
	bool join = false;

	if (span == NULL || planned->paused != 0 ||
	    (span->left != MIX_PAUSED && span->left != MIX_DRY))
		return false;
	return planned->cut == span->cut ||
	       (planned->start != PLAN_NOW &&
		cut_distance(mix, plan, lane, &join) != 0);
}

static RT_SAFE bool
has_enough(const struct mix *mix, unsigned lane)
{
	const struct mix_span *span = last_span(mix, lane);
	const struct pcm_ring *ring = &mix_deck(mix, lane, span)->ring;
	const bool ended = pcm_ring_ended(ring);
	const uint64_t ahead =
		pcm_ring_written(ring) - mix_span_position(span, mix->frame);

	return ended || ahead >= mix->prime_frames;
}

/* Who lacks frames asks the lane to ring, and looks once more: those that came
 * before that ring no more. */
static RT_SAFE bool
can_go_on(struct mix *mix, const struct mix_plan *plan, unsigned lane)
{
	if (!is_to_go_on(mix, plan, lane))
		return false;
	if (has_enough(mix, lane))
		return true;
	(void)atomic_exchange_explicit(&mix->bus->lane_dry[lane], 1,
				       memory_order_acq_rel);
	return has_enough(mix, lane);
}

RT_SAFE void
mix_lane_decide(struct mix *mix, const struct mix_plan *plan, unsigned lane)
{
	const struct mix_lane *planned = &plan->lanes[lane];
	const struct mix_span *span = mix_lane_span(mix, lane);
	const bool sounds = span != NULL && span->end > mix->frame;

	mix_set_gain(mix, &mix->lanes[lane].gain, planned->gain,
		     sounds ? mix->ramp_frames : 0);
	try_cut(mix, plan, lane);
	span = mix_lane_span(mix, lane);
	if (planned->paused != 0) {
		if (span != NULL && span->left == MIX_LIVE)
			mix_lane_leave(mix, lane, MIX_PAUSED);
		tell_paused(mix, lane);
		return;
	}
	mix->lanes[lane].pause_told = false;
	if (can_go_on(mix, plan, lane) && mix_may_begin(mix)) {
		struct mix_span next = {.cut = span->cut, .deck = span->deck};

		next.deck_frame = mix_span_position(span, mix->frame);
		next.fade_in = !begins_song(mix_deck(mix, lane, span),
					    next.deck_frame);
		begin(mix, lane, next, false);
	}
}

RT_SAFE bool
mix_lane_pending(const struct mix *mix, const struct mix_plan *plan,
		 unsigned lane)
{
	const struct mix_lane *planned = &plan->lanes[lane];
	const struct mix_lane_state *state = &mix->lanes[lane];
	const struct mix_span *span = last_span(mix, lane);
	const bool live = span != NULL && span->left == MIX_LIVE;
	bool join = false;

	if (cut_distance(mix, plan, lane, &join) == 0 && !(join && live) &&
	    ready_deck(mix, lane, planned->cut) >= 0)
		return true;
	if (live && planned->paused != 0)
		return true;
	if (live &&
	    state->gain.ramps[state->gain.count - 1].to != planned->gain)
		return true;
	return is_to_go_on(mix, plan, lane) && has_enough(mix, lane);
}

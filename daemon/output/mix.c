/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mix.c - the mixing itself, a block at a time.
 *
 * A block is a run of frames over which nothing changes its kind: no span
 * begins or ends, no stretch ends, no ramp ends, no cut is due. So which way a
 * block takes (integers as they are, or a sum of floats) depends on its frames
 * only, and never on how a caller cuts up its calls.
 *
 * How much is written on a deck is read before its stretches and before its
 * end are looked at, see deck.c. */
#include "daemon/output/mix_block.h"

#include <string.h>

RT_SAFE void
mix_init(struct mix *mix, struct mix_bus *bus, const struct card_spec *spec)
{
	const uint64_t rate_hz = spec->rate_hz;

	memset(mix, 0, sizeof(*mix));
	mix->bus = bus;
	mix->spec = *spec;
	mix->begins_below = UINT64_MAX;
	mix->fade_frames = (uint32_t)(rate_hz * MIX_FADE_US / 1000000);
	mix->guessed = UINT64_MAX;
	limiter_init(&mix->limiter, spec->rate_hz, spec->channels);
	mix->ramp_frames = (uint32_t)(rate_hz * MIX_VOLUME_RAMP_US / 1000000);
	mix->prime_frames = (uint32_t)(rate_hz * MIX_PRIME_US / 1000000);
	for (unsigned lane = 0; lane < LANE_COUNT; lane++) {
		const struct pcm_ring *ring = &bus->decks[lane][0].ring;
		const size_t most =
			(ring->capacity_frames - ring->history_frames) / 2;

		if (ring->capacity_frames > 0 && mix->prime_frames > most)
			mix->prime_frames = (uint32_t)most;
	}
}

RT_SAFE void
mix_note(struct mix *mix, const struct mix_note *note)
{
	if (mix->note_count < MIX_NOTES)
		mix->notes[mix->note_count++] = *note;
}

/* The points stand in the order of their frames; a lane has one a frame. */
RT_SAFE void
mix_add_point(struct mix *mix, const struct timeline_point *point)
{
	unsigned i = mix->point_count;

	while (i > 0 &&
	       mix->points[i - 1].output_frame == point->output_frame) {
		i--;
		if (mix->points[i].lane == point->lane) {
			mix->points[i] = *point;
			return;
		}
	}
	if (mix->point_count == MIX_POINTS) {
		memmove(mix->points, mix->points + 1,
			(MIX_POINTS - 1) * sizeof(mix->points[0]));
		mix->point_count--;
	}
	mix->points[mix->point_count++] = *point;
}

static RT_SAFE bool
is_begun_by(const struct mix_recent *recent, const struct mix_recent *now)
{
	return recent->stream_id == now->stream_id && recent->cut == now->cut;
}

/* A cut to a stream that is heard already is a new beginning of it: control
 * has forgotten the one before. */
static RT_SAFE void
tell_stream(struct mix *mix, unsigned lane, uint64_t cut,
	    const struct deck_stretch *stretch)
{
	struct mix_lane_state *state = &mix->lanes[lane];
	const struct mix_recent now = {stretch->stream_id, mix->frame, cut};

	if (state->recent_count > 0 &&
	    is_begun_by(&state->recent[state->recent_count - 1], &now))
		return;
	if (state->recent_count == MIX_RECENT) {
		memmove(state->recent, state->recent + 1,
			(MIX_RECENT - 1) * sizeof(state->recent[0]));
		state->recent_count--;
	}
	state->recent[state->recent_count++] = now;
	if (is_begun_by(&state->undone, &now) &&
	    state->undone.frame == now.frame)
		return;
	mix_note(mix, &(struct mix_note){.kind = RT_EVENT_STRETCH,
					 .lane = lane,
					 .id = now.stream_id,
					 .frame = now.frame,
					 .value = stretch->stream_frame});
}

/* The lane's last point, or NULL. */
static RT_SAFE const struct timeline_point *
last_point(const struct mix *mix, unsigned lane)
{
	unsigned i = mix->point_count;

	while (i > 0) {
		i--;
		if (mix->points[i].lane == lane)
			return &mix->points[i];
	}
	return NULL;
}

/* Puts a point where the span or the stretch begins. */
static RT_SAFE void
follow(struct mix *mix, const struct mix_voice *voice)
{
	const struct mix_span *span = voice->span;
	const struct deck_stretch *stretch = &voice->stretch;
	const unsigned lane = voice->lane;
	const uint64_t position = mix_span_position(span, mix->frame);
	const struct timeline_point *last = last_point(mix, lane);
	struct timeline_point point = {
		.output_frame = mix->frame,
		.stream_id = stretch->stream_id,
		.stream_rate_hz = stretch->stream_rate_hz,
		.lane = lane,
	};

	tell_stream(mix, lane, span->cut, stretch);
	if (span->first != mix->frame && stretch->first_frame != position &&
	    last != NULL && last->stream_id == stretch->stream_id)
		return;
	point.stream_frame =
		stretch->stream_frame + (position - stretch->first_frame) *
						stretch->stream_rate_hz /
						mix->spec.rate_hz;
	mix_add_point(mix, &point);
}

static RT_SAFE void
limit(struct mix_block *block, uint64_t frames)
{
	if (frames < block->frames)
		block->frames = (size_t)frames;
}

/* A ramp ends inside no block. */
static RT_SAFE void
limit_to_ramp(struct mix_block *block, const struct gain_ramp *ramp,
	      uint64_t frame)
{
	if (!gain_ramp_done(ramp, frame))
		limit(block, ramp->start + ramp->frames - frame);
}

static RT_SAFE void
limit_to_gain(struct mix_block *block, const struct mix_gain *gain,
	      uint64_t frame)
{
	limit_to_ramp(block, &gain->ramps[gain->count - 1], frame);
}

/* The limiter looks ahead where frames could be too loud, and ducking where
 * several lanes sound: what they would see must be written before it is mixed.
 */
static RT_SAFE uint64_t
hold_back(const struct mix *mix, const struct deck *deck, uint64_t position,
	  uint64_t available)
{
	const uint64_t ahead = mix_duck_cell_frames(mix);
	uint64_t reach = limiter_reach(&mix->limiter);
	const uint64_t end = position + available;
	struct deck_stretch stretch = {0};
	uint64_t next = position;

	if (mix_live_lanes(mix) < 2) {
		while (next < end &&
		       deck_stretch_at(deck, next, &stretch, &next))
			if (mix_watch(mix, &stretch) != LIMITER_NOTHING)
				break;
		if (next >= end && mix_watch(mix, &stretch) == LIMITER_NOTHING)
			return available;
	} else if (reach < ahead) {
		reach = ahead;
	}
	return available > reach ? available - reach : 0;
}

/* Looks at one span that sounds at mix->frame. */
static RT_SAFE void
survey_span(struct mix *mix, const struct mix_plan *plan, unsigned lane,
	    struct mix_span *span, struct mix_block *block)
{
	struct deck *deck = mix_deck(mix, lane, span);
	const bool live = span->left == MIX_LIVE;
	const bool ended = pcm_ring_ended(&deck->ring);
	const uint64_t written = pcm_ring_written(&deck->ring);
	const uint64_t position = span->deck_frame + (mix->frame - span->first);
	const struct gain_ramp fade_in = mix_fade_in(mix, span);
	const uint64_t until_cut =
		live ? mix_lane_until_cut(mix, plan, lane) : UINT64_MAX;
	uint64_t available = written > position ? written - position : 0;
	struct deck_stretch stretch;
	uint64_t next = 0;

	block->sounds = true;
	if (available > until_cut)
		available = until_cut;
	else if (live && !ended && !block->go_on)
		available = hold_back(mix, deck, position, available);
	if (!live)
		limit(block, span->end - mix->frame);
	if (available == 0 && live && ended && until_cut > 0) {
		mix_lane_leave(mix, lane, MIX_DRAINED);
		block->again = true;
	} else if (available == 0 && live) {
		block->waits = true;
	}
	if (available == 0 ||
	    !deck_stretch_at(deck, position, &stretch, &next) ||
	    block->voice_count == MIX_VOICES)
		return;
	limit(block, available);
	limit(block, next - position);
	limit_to_ramp(block, &fade_in, mix->frame);
	limit_to_gain(block, &mix->lanes[lane].gain, mix->frame);
	block->voices[block->voice_count++] = (struct mix_voice){
		.span = span,
		.deck = deck,
		.gain = &mix->lanes[lane].gain,
		.position = position,
		.until_cut = until_cut,
		.lane = lane,
		.ended = ended,
		.stretch = stretch,
		.duck = {0, 0, 1.0F, 1.0F},
	};
}

static RT_SAFE void
survey(struct mix *mix, const struct mix_plan *plan, struct mix_block *block)
{
	unsigned lane = 0, i = 0;

	limit_to_gain(block, &mix->volume, mix->frame);
	for (lane = 0; lane < LANE_COUNT; lane++) {
		struct mix_lane_state *state = &mix->lanes[lane];

		for (i = 0; i < state->span_count; i++) {
			if (state->spans[i].end > mix->frame)
				survey_span(mix, plan, lane, &state->spans[i],
					    block);
		}
		/* A cut that waits for nothing but its frame. */
		limit(block, mix_lane_until_cut(mix, plan, lane) > 0
				     ? mix_lane_until_cut(mix, plan, lane)
				     : block->frames);
	}
}

RT_SAFE void
mix_silence(struct mix *mix, void *memory, size_t frames)
{
	memset(memory, 0,
	       frames * card_format_bytes(mix->spec.format) *
		       mix->spec.channels);
	mix_tap_silence(mix, frames);
	mix->frame += frames;
}

static RT_SAFE void
decide(struct mix *mix, const struct mix_plan *plan)
{
	unsigned lane = 0;

	mix_set_gain(mix, &mix->volume, plan->volume,
		     mix_sounds(mix) ? mix->ramp_frames : 0);
	for (lane = 0; lane < LANE_COUNT; lane++)
		mix_lane_decide(mix, plan, lane);
}

static RT_SAFE bool
is_live(const struct mix_lane_state *state)
{
	return state->span_count > 0 &&
	       state->spans[state->span_count - 1].left == MIX_LIVE;
}

/* What its deck lacks is known to be late in coming. */
static RT_SAFE bool
awaits_more(const struct mix *mix, unsigned lane)
{
	const struct mix_lane_state *state = &mix->lanes[lane];

	return is_live(state) &&
	       atomic_load_explicit(&mix->bus->lane_awaits[lane],
				    memory_order_acquire) ==
		       state->spans[state->span_count - 1].cut;
}

RT_SAFE bool
mix_awaits_more(const struct mix *mix)
{
	bool awaits = false;
	unsigned lane = 0;

	for (lane = 0; lane < LANE_COUNT; lane++) {
		if (!is_live(&mix->lanes[lane]))
			continue;
		if (!awaits_more(mix, lane))
			return false;
		awaits = true;
	}
	return awaits;
}

/* Leaves behind what has run dry. */
static RT_SAFE void
leave_dry(struct mix *mix, const struct mix_plan *plan)
{
	unsigned lane = 0;

	for (lane = 0; lane < LANE_COUNT; lane++) {
		const struct mix_span *span = mix_lane_span(mix, lane);
		const struct pcm_ring *ring = NULL;

		if (span == NULL || span->left != MIX_LIVE)
			continue;
		ring = &mix_deck(mix, lane, span)->ring;
		if (pcm_ring_written(ring) >
			    mix_span_position(span, mix->frame) &&
		    mix_lane_until_cut(mix, plan, lane) > 0)
			continue;
		if (awaits_more(mix, lane))
			atomic_store_explicit(&mix->bus->lane_spent[lane],
					      span->cut, memory_order_release);
		mix_lane_leave(mix, lane, MIX_DRY);
	}
}

RT_SAFE enum mix_result
mix_run(struct mix *mix, const struct mix_plan *plan, void *memory,
	size_t frames, bool go_on, size_t *ret_frames)
{
	const size_t frame_bytes =
		card_format_bytes(mix->spec.format) * mix->spec.channels;
	enum mix_result result = MIX_FULL;
	uint8_t *to = memory;
	struct mix_block block;

	while (frames > 0 && result == MIX_FULL) {
		decide(mix, plan);
		block.frames =
			frames < MIX_BLOCK_FRAMES ? frames : MIX_BLOCK_FRAMES;
		block.sounds = block.waits = block.again = false;
		block.go_on = go_on;
		block.voice_count = 0;
		survey(mix, plan, &block);
		if (block.again)
			continue;
		if (block.waits && go_on) {
			leave_dry(mix, plan);
		} else if (block.waits) {
			result = MIX_WAIT;
		} else if (!block.sounds) {
			result = MIX_IDLE;
		} else {
			for (unsigned i = 0; i < block.voice_count; i++)
				if (block.voices[i].span->left == MIX_LIVE)
					follow(mix, &block.voices[i]);
			mix_render(mix, &block, to);
			to += block.frames * frame_bytes;
			frames -= block.frames;
		}
	}
	*ret_frames = (size_t)(to - (uint8_t *)memory) / frame_bytes;
	return result;
}

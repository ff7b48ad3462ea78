/* SPDX-License-Identifier: GPL-3.0-or-later */
/* follower.c - from a tap to the deck.
 *
 * A place in the tap is all the state that there is of the sound: since the
 * interpolator has no memory, one may go on from any other place at any time,
 * and fade from one to the other by asking for both.
 *
 * lag = what was heard at the clock and not read yet, in the tap's frames, and
 * what is on the deck and in the card, in the card's. It is looked at once a
 * cycle, while both cards play, and steers the pace.
 *
 * A tap whose clock stands still is read up to its very end, as if silence
 * followed: it does, or the clock has lost its way. Else nothing is read whose
 * surroundings could yet be mixed anew. */
#include "daemon/output/follower.h"

#include "daemon/audio/interpolate.h"
#include "lib/base/clock.h"
#include "lib/rt/rt.h"

#include <stdlib.h>
#include <string.h>

enum {
	MARGIN_MS = 25, /* between a full card and an empty deck */
	LAG_MS_MIN = 60,
	LATE_MS = 40, /* and half a buffer: no more is drift */
	AHEAD_MS = 500,
	DECK_LANE = LANE_MUSIC,
};

static uint32_t
ms_to_frames(uint32_t ms, uint32_t rate_hz)
{
	return (uint32_t)((uint64_t)ms * rate_hz / 1000);
}

static void
set_lag(struct follower *follower, const struct card_info *info)
{
	const uint32_t rate_hz = info->spec.rate_hz;
	const uint32_t least = ms_to_frames(LAG_MS_MIN, rate_hz);
	uint32_t lag = info->buffer_frames + ms_to_frames(MARGIN_MS, rate_hz);

	if (info->batch)
		lag += info->period_frames;
	follower->lag_frames = lag > least ? lag : least;
	follower->late_frames =
		info->buffer_frames / 2 + ms_to_frames(LATE_MS, rate_hz);
}

struct follower *
follower_create(const struct card_info *info)
{
	const uint32_t rate_hz = info->spec.rate_hz;
	const uint32_t channels = info->spec.channels;
	const size_t history =
		deck_history_frames(info->buffer_frames, rate_hz);
	bool locked = false;
	struct follower *follower = rt_pool_map(sizeof(*follower), &locked);
	size_t frames;

	if (follower == NULL)
		return NULL;
	follower->rate_hz = rate_hz;
	follower->channels = channels;
	set_lag(follower, info);
	frames = history + follower->lag_frames + follower->late_frames +
		 ms_to_frames(AHEAD_MS, rate_hz);
	follower->deck_bytes = frames * channels * sizeof(float);
	follower->deck_memory = rt_pool_map(follower->deck_bytes, &locked);
	if (follower->deck_memory == NULL) {
		rt_pool_unmap(follower, sizeof(*follower));
		return NULL;
	}
	deck_init(&follower->bus.decks[DECK_LANE][0], follower->deck_memory,
		  frames, channels, history);
	/* It may run dry whenever it likes. */
	atomic_store(&follower->bus.lane_awaits[DECK_LANE], FOLLOWER_CUT);
	timeline_init(&follower->timeline);
	drift_init(&follower->drift);
	return follower;
}

void
follower_destroy(struct follower *follower)
{
	if (follower == NULL)
		return;
	rt_pool_unmap(follower->deck_memory, follower->deck_bytes);
	rt_pool_unmap(follower, sizeof(*follower));
}

/* ---- places ---- */

static RT_SAFE void
go_on(struct follow_place *place, uint64_t step, size_t frames)
{
	const uint64_t sum = place->part + step * frames;

	place->frame += sum >> 32;
	place->part = (uint32_t)sum;
}

/* From the place up to a frame, in frames of the card. */
static RT_SAFE int64_t
distance(const struct follower *follower, uint64_t frame)
{
	const int64_t frames = (int64_t)(frame - follower->place.frame);

	return frames * follower->rate_hz / (int64_t)follower->tap->rate_hz;
}

/* The other way round. */
static RT_SAFE uint64_t
tap_frames(const struct follower *follower, int64_t frames)
{
	return (uint64_t)frames * follower->tap->rate_hz / follower->rate_hz;
}

static RT_SAFE void
fade_to(struct follower *follower, uint64_t frame, bool from_silence)
{
	follower->from = follower->place;
	follower->fade_from_silence = from_silence;
	follower->fade_left =
		(uint32_t)((uint64_t)follower->rate_hz * MIX_FADE_US / 1000000);
	follower->place.frame = frame;
	follower->place.part = 0;
}

/* ---- the deck ---- */

static RT_SAFE struct deck *
own_deck(struct follower *follower)
{
	return &follower->bus.decks[DECK_LANE][0];
}

static RT_SAFE void
write_silence(struct follower *follower, uint64_t frames)
{
	struct pcm_ring *ring = &own_deck(follower)->ring;

	while (frames > 0) {
		size_t run = 0;
		void *memory = pcm_ring_write_span(ring, &run);

		if (run == 0)
			return;
		if (run > frames)
			run = (size_t)frames;
		memset(memory, 0, run * follower->channels * sizeof(float));
		pcm_ring_commit(ring, run);
		frames -= run;
	}
}

/* The deck's only stretch: sums that nobody has limited yet. With some silence,
 * so that the deck is gone over to; how many frames. */
static RT_SAFE uint64_t
begin_deck(struct follower *follower)
{
	const struct deck_stretch stretch = {
		.stream_id = FOLLOWER_STREAM,
		.stream_rate_hz = follower->rate_hz,
		.kind = SAMPLE_F32,
		.boosted = 1,
	};
	struct deck *deck = own_deck(follower);

	if (!deck_begin(deck, FOLLOWER_CUT))
		return 0;
	(void)deck_add_stretch(deck, &stretch);
	write_silence(follower, ms_to_frames(LAG_MS_MIN, follower->rate_hz));
	return pcm_ring_written(&deck->ring);
}

/* ---- sound ---- */

/* One channel of the card out of the tap's frames. */
static RT_SAFE void
fill_plane(struct follower *follower, uint32_t channel, size_t frames)
{
	const uint32_t in = follower->map.in;
	const float *row = follower->map.matrix[channel];
	size_t i = 0;
	uint32_t c = 0;

	for (i = 0; i < frames; i++) {
		float sum = 0;

		for (c = 0; c < in; c++)
			sum += row[c] * follower->in[i * in + c];
		follower->plane[i] = sum;
	}
}

/* False: the tap has been written over there. */
static RT_SAFE bool
render(struct follower *follower, const struct follow_plan *plan,
       const struct interpolator *interpolator, struct follow_place place,
       uint64_t step, float *out, size_t frames)
{
	const uint32_t before = interpolator_before(interpolator);
	const uint32_t after = interpolator_after(interpolator);
	const size_t span = (size_t)((place.part + step * frames) >> 32);
	const size_t needed = span + before + after;
	const bool whole = tap_read(follower->tap, plan->kind,
				    (int64_t)place.frame - (int64_t)before + 1,
				    follower->view.mixed, follower->in, needed);
	uint32_t channel = 0;
	size_t i = 0;

	for (channel = 0; channel < follower->channels; channel++) {
		fill_plane(follower, channel, needed);
		interpolate(interpolator, follower->plane, place.part, step,
			    follower->out, frames);
		for (i = 0; i < frames; i++)
			out[i * follower->channels + channel] =
				follower->out[i];
	}
	return whole;
}

/* Frames that one call may ask for. */
static RT_SAFE size_t
piece_frames(const struct interpolator *interpolator, uint64_t step)
{
	const uint64_t room = FOLLOWER_IN_FRAMES -
			      interpolator_before(interpolator) -
			      interpolator_after(interpolator) - 2;
	const uint64_t frames = (room << 32) / step;

	return frames < FOLLOWER_OUT_FRAMES ? (size_t)frames
					    : (size_t)FOLLOWER_OUT_FRAMES;
}

/* What is left behind, under what is gone over to. */
static RT_SAFE void
fade(struct follower *follower, const struct follow_plan *plan,
     const struct interpolator *interpolator, uint64_t step, float *out,
     size_t frames)
{
	const uint32_t channels = follower->channels;
	const float whole =
		(float)((uint64_t)follower->rate_hz * MIX_FADE_US / 1000000);
	size_t i = 0, k = 0;

	if (follower->fade_from_silence)
		memset(follower->faded, 0,
		       frames * channels * sizeof(follower->faded[0]));
	else
		(void)render(follower, plan, interpolator, follower->from, step,
			     follower->faded, frames);
	for (i = 0; i < frames; i++) {
		const float old = (float)(follower->fade_left - i) / whole;

		for (k = i * channels; k < (i + 1) * channels; k++)
			out[k] += (follower->faded[k] - out[k]) * old;
	}
	go_on(&follower->from, step, frames);
	follower->fade_left -= (uint32_t)frames;
}

/* How many frames of the card lie before `end` in the tap. */
static RT_SAFE uint64_t
frames_up_to(const struct follower *follower, uint64_t end, uint64_t step)
{
	const uint64_t left =
		end > follower->place.frame ? end - follower->place.frame : 0;

	if (left == 0)
		return 0;
	/* A tap is never so long that this overflows. */
	return ((left << 32) - follower->place.part + step - 1) / step;
}

/* False: what comes next is not there any more. */
static RT_SAFE bool
play_up_to(struct follower *follower, const struct follow_plan *plan,
	   const struct interpolator *interpolator, uint64_t end, uint64_t step)
{
	struct pcm_ring *ring = &own_deck(follower)->ring;
	uint64_t left = frames_up_to(follower, end, step);

	while (left > 0) {
		size_t run = 0;
		float *out = pcm_ring_write_span(ring, &run);
		size_t frames = piece_frames(interpolator, step);

		frames = frames < left ? frames : (size_t)left;
		frames = frames < run ? frames : run;
		if (follower->fade_left > 0 && frames > follower->fade_left)
			frames = follower->fade_left;
		if (frames == 0)
			break;
		if (!render(follower, plan, interpolator, follower->place, step,
			    out, frames))
			return false;
		if (follower->fade_left > 0)
			fade(follower, plan, interpolator, step, out, frames);
		pcm_ring_commit(ring, frames);
		go_on(&follower->place, step, frames);
		left -= frames;
	}
	return true;
}

/* ---- when ---- */

/* frames of the card. */
static RT_SAFE void
drop(struct follower *follower, int64_t frames, bool from_silence)
{
	atomic_fetch_add_explicit(&follower->dropped_frames, (uint64_t)frames,
				  memory_order_relaxed);
	fade_to(follower, follower->place.frame + tap_frames(follower, frames),
		from_silence);
	drift_jump(&follower->drift);
}

/* Begins with as much silence as makes the lag. Who comes late to it, or far
 * too late, begins with what is heard now. */
static RT_SAFE void
begin(struct follower *follower, uint64_t heard, uint64_t first,
      uint64_t queued)
{
	const int64_t lag = (int64_t)follower->lag_frames;
	int64_t there = 0;

	if (follower->place.frame < first || distance(follower, heard) > lag)
		fade_to(follower, heard, true);
	there = distance(follower, heard) + (int64_t)queued;
	if (there < lag)
		write_silence(follower, (uint64_t)(lag - there));
	if (there < lag && follower->starved)
		atomic_fetch_add_explicit(&follower->dry_frames,
					  (uint64_t)(lag - there),
					  memory_order_relaxed);
	follower->running = true;
	follower->starved = false;
	follower->looked_ns = 0;
	follower->begun = true;
	drift_jump(&follower->drift);
}

/* The step to go on with; what is too late by far is dropped before. */
static RT_SAFE uint64_t
steer(struct follower *follower, const struct interpolator *interpolator,
      uint64_t heard, const struct follow_look *look)
{
	const double step = (double)interpolator_step(interpolator);
	const int64_t lag =
		distance(follower, heard) + (int64_t)look->queued_frames;
	const int64_t late = lag - (int64_t)follower->lag_frames;
	const int64_t after_ns = look->now_ns - follower->looked_ns;

	/* What it began with just now is in no look yet. */
	if (follower->begun) {
		follower->begun = false;
		return (uint64_t)(step * (1 + follower->drift.parts));
	}
	atomic_store_explicit(&follower->lag_ns,
			      lag * NS_PER_S / follower->rate_hz,
			      memory_order_relaxed);
	if (look->running && follower->view.running &&
	    heard < follower->view.mixed) {
		if (follower->fade_left == 0 &&
		    late > (int64_t)follower->late_frames)
			drop(follower, late, false);
		else if (follower->looked_ns != 0)
			(void)drift_look(&follower->drift,
					 (double)late / follower->rate_hz,
					 (double)after_ns / NS_PER_S);
		follower->looked_ns = look->now_ns;
	}
	atomic_store_explicit(&follower->drift_ppb,
			      (int64_t)(follower->drift.parts * 1e9),
			      memory_order_relaxed);
	return (uint64_t)(step * (1 + follower->drift.parts));
}

/* Nothing of it is left to be heard. */
static RT_SAFE bool
is_done(const struct follower *follower)
{
	return follower->view.ended &&
	       follower->place.frame >= follower->view.heard;
}

/* The tap to follow: the one before, as long as it is what is heard. */
static RT_SAFE const struct follow_source *
choose(struct follower *follower, const struct follow_plan *plan)
{
	const struct follow_source *source = &plan->now;

	if (follower->tap != NULL && follower->tap == plan->before.tap &&
	    tap_look(follower->tap, &follower->view) && !is_done(follower))
		source = &plan->before;
	if (source->tap == follower->tap)
		return source;
	follower->tap = source->tap;
	follower->view = (struct tap_view){0};
	follower->place = (struct follow_place){0};
	follower->fade_left = 0;
	follower->running = false;
	if (source->tap != NULL)
		channel_map_init(&follower->map, source->tap->channels,
				 follower->channels);
	return source;
}

static RT_SAFE void
stop_if_dry(struct follower *follower, const struct follow_look *look)
{
	if (!follower->running || !look->dry)
		return;
	follower->running = false;
	/* A clock that stands still says so long before. */
	follower->starved = follower->view.running && !follower->view.ended;
	atomic_store_explicit(&follower->lag_ns, 0, memory_order_relaxed);
}

/* Up to where the tap may be read. */
static RT_SAFE uint64_t
readable(const struct follower *follower,
	 const struct interpolator *interpolator, uint64_t heard)
{
	const uint32_t after = interpolator_after(interpolator);

	if (heard == follower->view.mixed)
		return heard;
	return heard > after ? heard - after : 0;
}

RT_SAFE void
follower_feed(struct follower *follower, const struct follow_plan *plan,
	      const struct follow_look *look)
{
	const struct follow_source *source = choose(follower, plan);
	const struct interpolator *interpolator = source->interpolator;
	uint64_t queued = look->queued_frames;
	uint64_t heard = 0, first = 0, end = 0, step = 0;

	queued += begin_deck(follower);
	follower->listening = false;
	if (source->tap == NULL)
		return;
	(void)tap_look(source->tap, &follower->view);
	heard = tap_heard(source->tap, &follower->view, look->now_ns);
	first = tap_first(source->tap, plan->kind);
	follower->listening = !is_done(follower);
	stop_if_dry(follower, look);
	if (!follower->running && heard > first &&
	    heard > follower->place.frame)
		begin(follower, heard, first, queued);
	if (!follower->running)
		return;
	step = steer(follower, interpolator, heard, look);
	end = readable(follower, interpolator, heard);
	if (!play_up_to(follower, plan, interpolator, end, step) &&
	    follower->place.frame < end)
		drop(follower, distance(follower, end), true);
}

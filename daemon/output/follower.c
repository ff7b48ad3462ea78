/* SPDX-License-Identifier: GPL-3.0-or-later */
/* follower.c - what of the tap is to be heard when (follower_sound.c puts it
 * onto the deck).
 *
 * lag = what was heard at the clock and not read yet, in the tap's frames, and
 * what is on the deck and in the card, in the card's. It is looked at once a
 * cycle, while both cards play, and steers the pace.
 *
 * A tap whose clock stands still is read up to its very end, as if silence
 * followed: it does, or the clock has lost its way. Else nothing is read whose
 * surroundings could yet be mixed anew. */
#include "daemon/output/follower_sound.h"

#include "daemon/audio/interpolate.h"
#include "lib/base/clock.h"
#include "lib/rt/rt.h"

#include <stdlib.h>
#include <string.h>

enum {
	MARGIN_MS = 25, /* between a full card and an empty deck */
	LATE_MS = 40,   /* and half a buffer: no more is drift */
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
	const uint32_t least = ms_to_frames(FOLLOWER_LAG_MS_MIN, rate_hz);
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
		follower_write_silence(follower, (uint64_t)(lag - there));
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

/* Nothing of the tap that was left behind is still to be heard. What its card
 * had mixed and not played comes again from the next. */
static RT_SAFE bool
is_done(const struct follower *follower, int64_t now_ns)
{
	const struct tap_view *view = &follower->view;
	const uint64_t heard = tap_heard(follower->tap, view, now_ns);

	return follower->place.frame >= heard &&
	       (view->ended || heard == view->mixed);
}

/* The tap to follow: the one before, as long as it is what is heard. */
static RT_SAFE const struct follow_source *
choose(struct follower *follower, const struct follow_plan *plan,
       int64_t now_ns)
{
	const struct follow_source *source = &plan->now;

	if (follower->tap != NULL && follower->tap == plan->before.tap) {
		(void)tap_look(follower->tap, &follower->view);
		if (!is_done(follower, now_ns))
			source = &plan->before;
	}
	if (source->tap == follower->tap)
		return source;
	/* What was cut off in the midst. */
	if (follower->tap != NULL && follower->tap == plan->before.tap &&
	    follower->running && follower->view.heard < follower->view.mixed)
		follower_fade_out(follower, plan);
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

	if (heard == follower->view.mixed || follower->view.ended)
		return heard;
	return heard > after ? heard - after : 0;
}

RT_SAFE void
follower_feed(struct follower *follower, const struct follow_plan *plan,
	      const struct follow_look *look)
{
	const struct follow_source *source =
		choose(follower, plan, look->now_ns);
	const struct interpolator *interpolator = source->interpolator;
	uint64_t queued = look->queued_frames;
	uint64_t heard = 0, first = 0, end = 0, step = 0;

	queued += follower_begin_deck(follower);
	follower->listening = false;
	if (source->tap == NULL)
		return;
	(void)tap_look(source->tap, &follower->view);
	heard = tap_heard(source->tap, &follower->view, look->now_ns);
	first = tap_first(source->tap, plan->kind);
	follower->listening = !follower->view.ended;
	stop_if_dry(follower, look);
	if (!follower->running && heard > first &&
	    heard > follower->place.frame)
		begin(follower, heard, first, queued);
	if (!follower->running)
		return;
	step = steer(follower, interpolator, heard, look);
	end = readable(follower, interpolator, heard);
	if (!follower_play_up_to(follower, plan, interpolator, end, step) &&
	    follower->place.frame < end)
		drop(follower, distance(follower, end), true);
}

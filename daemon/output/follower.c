/* SPDX-License-Identifier: GPL-3.0-or-later */
/* follower.c - what of the tap is to be heard when (follower_sound.c puts it
 * onto the deck, follower_pace.c keeps it in time).
 *
 * A tap whose clock stands still is read up to its very end, as if silence
 * followed: it does, or the clock has lost its way. One that goes on is not
 * read to the end, so that there is something left to fade out with should it
 * not. */
#include "daemon/output/follower_pace.h"
#include "daemon/output/follower_sound.h"

#include "daemon/audio/interpolate.h"
#include "lib/base/clock.h"
#include "lib/rt/rt.h"

#include <stdlib.h>
#include <string.h>

enum {
	MARGIN_MS = 25,      /* on the deck, when the card is full */
	FILL_MS_MIN = 60,    /* in both */
	NEED_MS = 5,         /* more than what may be missing when it is fed */
	LATE_MS = 40,        /* and half a buffer: no more is drift */
	LATE_START_MS = 300, /* by how much a beginning may be behind */
	FADE_AT_MS = 20,     /* so little is left when no more comes */
	READY_MAX_MS = 500,
	AHEAD_MS = 500,
	DECK_LANE = LANE_MUSIC,
	UNSETTLED_POLL_MS = 2,
	BEGIN_POLL_MS = 20,
	IDLE_POLL_MS = 500, /* it is woken, mostly */
};

RT_SAFE uint32_t
follower_ms(uint32_t ms, uint32_t rate_hz)
{
	return (uint32_t)((uint64_t)ms * rate_hz / 1000);
}

static void
set_lag(struct follower *follower, const struct card_info *info)
{
	const uint32_t rate_hz = info->spec.rate_hz;
	const uint32_t least = follower_ms(FILL_MS_MIN, rate_hz);
	uint32_t fill = info->buffer_frames + follower_ms(MARGIN_MS, rate_hz);

	if (info->batch)
		fill += info->period_frames;
	fill = fill > least ? fill : least;
	follower->fill_frames = fill;
	follower->need_frames =
		fill - info->buffer_frames / 2 + follower_ms(NEED_MS, rate_hz);
	follower->late_frames =
		info->buffer_frames / 2 + follower_ms(LATE_MS, rate_hz);
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
	frames = history + follower->fill_frames + follower->late_frames +
		 follower_ms(AHEAD_MS, rate_hz);
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

static RT_SAFE bool
stands(const struct follower *follower, uint64_t heard)
{
	return !follower->view.running && heard == follower->view.mixed;
}

/* ---- what the clock takes back ---- */

/* The frame from which on what was read is not what will be heard. */
static RT_SAFE uint64_t
turned_to(const struct follower *follower)
{
	const uint64_t turned = tap_turned_to(follower->tap, follower->turns);
	const struct tap_view *view = &follower->view;

	return view->ended && !follower->cut_off && view->heard < turned
		       ? view->heard
		       : turned;
}

/* Of the frames that are queued, those that this makes void. */
static RT_SAFE uint64_t
void_frames(const struct follower *follower,
	    const struct interpolator *interpolator, uint64_t queued)
{
	const uint64_t after = interpolator_after(interpolator);
	const uint64_t turned = turned_to(follower);
	const uint64_t from = turned > after ? turned - after : 0;
	int64_t frames = 0;

	if (follower->state == FOLLOW_IDLE || turned == UINT64_MAX ||
	    follower->place.frame < from)
		return 0;
	frames = 2 - follower_distance(follower, from);
	return (uint64_t)frames < queued ? (uint64_t)frames : queued;
}

/* The plan's way from the tap that is followed; NULL: it is not there any more.
 */
static RT_SAFE const struct follow_source *
own_source(const struct follower *follower, const struct follow_plan *plan)
{
	if (follower->tap == NULL)
		return NULL;
	if (follower->tap == plan->now.tap)
		return &plan->now;
	return follower->tap == plan->before.tap ? &plan->before : NULL;
}

static RT_SAFE void
look_at_tap(struct follower *follower)
{
	(void)tap_look(follower->tap, &follower->view);
	follower->unsettled =
		tap_turns(follower->tap) != follower->view.turns &&
		!follower->view.ended;
}

RT_SAFE uint64_t
follower_wants_back(struct follower *follower, const struct follow_plan *plan,
		    const struct follow_look *look)
{
	const struct follow_source *source = own_source(follower, plan);

	if (source == NULL)
		return 0;
	look_at_tap(follower);
	return follower->unsettled ? 0
				   : void_frames(follower, source->interpolator,
						 look->queued_frames);
}

/* Returns how many frames were taken back. */
static RT_SAFE uint64_t
turn_back(struct follower *follower, const struct follow_plan *plan,
	  const struct follow_look *look)
{
	const struct follow_source *source = own_source(follower, plan);
	uint64_t frames = 0, turned = 0;

	if (source == NULL)
		return 0;
	look_at_tap(follower);
	if (follower->unsettled)
		return 0;
	turned = turned_to(follower);
	frames = void_frames(follower, source->interpolator, look->deck_frames);
	if (frames > 0)
		follower_take_back(follower, frames);
	if (follower->state == FOLLOW_IDLE && turned < follower->place.frame) {
		follower->place = (struct follow_place){turned, 0};
		follower->abrupt = true;
	}
	follower->turns = follower->view.turns;
	follower->cut_off = follower->view.ended;
	return frames;
}

/* ---- which tap ---- */

/* Nothing of the tap that was left behind is still to be heard. What its card
 * had mixed and not played comes again from the next. */
static RT_SAFE bool
is_done(const struct follower *follower, int64_t now_ns)
{
	const struct tap_view *view = &follower->view;
	const uint64_t heard = tap_heard(follower->tap, view, now_ns);

	return (follower->state == FOLLOW_IDLE ||
		follower->place.frame >= heard) &&
	       (view->ended || heard == view->mixed);
}

static RT_SAFE void
go_over(struct follower *follower, struct tap *tap)
{
	follower->tap = tap;
	follower->view = (struct tap_view){0};
	follower->place = (struct follow_place){0};
	follower->fade_left = 0;
	follower->mark_count = 0;
	follower->state = FOLLOW_IDLE;
	follower->cut_off = false;
	follower->abrupt = false;
	if (tap == NULL)
		return;
	follower->turns = tap_turns(tap);
	channel_map_init(&follower->map, tap->channels, follower->channels);
}

/* The tap to follow: the one before, as long as it is what is heard. */
static RT_SAFE const struct follow_source *
choose(struct follower *follower, const struct follow_plan *plan,
       int64_t now_ns)
{
	const struct follow_source *source = &plan->now;

	if (follower->tap != NULL && follower->tap == plan->before.tap &&
	    !is_done(follower, now_ns))
		source = &plan->before;
	if (source->tap == follower->tap)
		return source;
	/* What was cut off in the midst. */
	if (follower->tap != NULL && follower->tap == plan->before.tap &&
	    follower->state != FOLLOW_IDLE &&
	    follower->view.heard < follower->view.mixed) {
		const struct interpolator *interpolator =
			plan->before.interpolator;

		follower_fade_out(
			follower,
			&(struct follow_read){plan->kind, interpolator,
					      follower->view.mixed,
					      interpolator_step(interpolator)});
	}
	go_over(follower, source->tap);
	return source;
}

/* ---- beginning ---- */

static RT_SAFE void
stop(struct follower *follower, bool starved)
{
	follower->state = FOLLOW_IDLE;
	follower->starved = starved;
	follower->abrupt = true;
	atomic_store_explicit(&follower->lag_ns, 0, memory_order_relaxed);
}

static RT_SAFE void
stop_if_dry(struct follower *follower, const struct follow_look *look)
{
	if (follower->state == FOLLOW_IDLE || !look->dry)
		return;
	/* A clock that stands still says so long before. */
	stop(follower, follower->view.running && !follower->view.ended);
}

/* Up to where the tap may be read. */
static RT_SAFE uint64_t
readable(const struct follower *follower,
	 const struct interpolator *interpolator, uint64_t heard)
{
	const struct tap_view *view = &follower->view;
	const uint64_t kept =
		interpolator_after(interpolator) +
		(uint64_t)follower->tap->rate_hz * MIX_FADE_US / 1000000;

	if (view->ended)
		return view->heard;
	if (stands(follower, heard))
		return heard;
	return view->mixed > kept ? view->mixed - kept : 0;
}

/* With what will be heard just then. */
static RT_SAFE void
join(struct follower *follower, uint64_t heard, uint64_t first, uint64_t end,
     int64_t queued)
{
	int64_t frame = (int64_t)heard;

	if (follower->view.running)
		frame += follower_tap_frames(
			follower, queued - follower_least_lag(follower));
	if (frame < (int64_t)first)
		frame = (int64_t)first;
	if (frame > (int64_t)end)
		frame = (int64_t)end;
	follower_fade_to(follower, (uint64_t)frame, FOLLOW_FROM_SILENCE);
}

/* A clock that stands, having mixed something, is about to start. The card must
 * have nothing to play before that. */
static RT_SAFE bool
may_begin(const struct follower *follower, const struct follow_look *look,
	  uint64_t heard, uint64_t end)
{
	if (follower->unsettled || follower->view.ended ||
	    end <= follower->place.frame)
		return false;
	if (!follower->view.running)
		return look->empty && follower->view.mixed > heard;
	/* It has come back to where it was already. */
	return follower_distance(follower, heard) >=
	       -(int64_t)follower->fill_frames;
}

/* Who comes late to it, or far too late, begins with what is heard. Returns how
 * many frames of silence come first. */
static RT_SAFE uint64_t
begin(struct follower *follower, uint64_t heard, uint64_t first, uint64_t end,
      uint64_t queued)
{
	const int64_t late_most = follower_ms(LATE_START_MS, follower->rate_hz);
	const int64_t lag = follower_least_lag(follower);
	int64_t there = 0;

	follower->fade_left = 0;
	if (follower->abrupt)
		follower_fade_to(follower, follower->place.frame,
				 FOLLOW_FROM_SILENCE);
	if (follower->place.frame < first ||
	    follower_distance(follower, heard) > late_most)
		join(follower, heard, first, end, (int64_t)queued);
	there = follower_distance(follower, heard) + (int64_t)queued;
	follower_begin_sound(follower);
	if (there < lag)
		follower_write_silence(follower, (uint64_t)(lag - there));
	if (there < lag && follower->starved)
		atomic_fetch_add_explicit(&follower->dry_frames,
					  (uint64_t)(lag - there),
					  memory_order_relaxed);
	if (follower->starved)
		atomic_fetch_add_explicit(&follower->breaks, 1,
					  memory_order_relaxed);
	follower->starved = false;
	follower->looked_ns = 0;
	follower->begun = true;
	follower->anchored = false;
	follower->lag_most = -1;
	follower->lag_wanted = (double)lag;
	drift_jump(&follower->drift);
	return there < lag ? (uint64_t)(lag - there) : 0;
}

/* READY until the clock starts, and not for ever. */
static RT_SAFE void
follow_start(struct follower *follower, uint64_t heard, int64_t now_ns)
{
	if (follower->view.running || stands(follower, heard) ||
	    follower->view.ended ||
	    now_ns - follower->ready_ns > READY_MAX_MS * NS_PER_MS)
		follower->state = FOLLOW_RUNNING;
}

/* ---- a cycle ---- */

static RT_SAFE uint64_t
deck_written(const struct follower *follower)
{
	return pcm_ring_written(&follower->bus.decks[DECK_LANE][0].ring);
}

/* What there is, as far as it is wanted. */
static RT_SAFE void
play(struct follower *follower, const struct follow_read *read, uint64_t end,
     uint64_t queued)
{
	const uint64_t wanted = follower->fill_frames;
	const uint64_t most = queued < wanted ? wanted - queued : 0;
	const uint64_t written = deck_written(follower);

	if (!follower->unsettled &&
	    !follower_play_up_to(follower, read, end, most) &&
	    follower->place.frame < end)
		follower_drop(follower, follower_distance(follower, end),
			      FOLLOW_FROM_SILENCE);
	/* The clock may have begun to mix anew meanwhile. */
	if (tap_turns(follower->tap) != follower->view.turns) {
		follower_take_back(
			follower,
			void_frames(follower, read->interpolator,
				    deck_written(follower) - written));
		follower->fade_left = 0;
		follower->unsettled = true;
	}
	queued += deck_written(follower) - written;
	/* No more comes, though the clock does not say so. */
	if (follower->state == FOLLOW_RUNNING && follower->view.running &&
	    (follower->unsettled || follower->place.frame >= end) &&
	    queued < follower_ms(FADE_AT_MS, follower->rate_hz)) {
		follower_fade_out(follower, read);
		stop(follower, true);
	}
}

static RT_SAFE void
follow(struct follower *follower, const struct follow_plan *plan,
       const struct follow_source *source, const struct follow_look *look,
       uint64_t queued)
{
	struct follow_read read = {.kind = plan->kind,
				   .interpolator = source->interpolator,
				   .until = UINT64_MAX};
	const uint64_t first = tap_first(source->tap, plan->kind);
	uint64_t heard = 0, end = 0;

	look_at_tap(follower);
	heard = tap_heard(source->tap, &follower->view, look->now_ns);
	end = readable(follower, source->interpolator, heard);
	read.until = follower->view.ended ? end : follower->view.mixed;
	follower->listening = !follower->view.ended;
	stop_if_dry(follower, look);
	if (follower->state == FOLLOW_IDLE && stands(follower, heard)) {
		follower->place = (struct follow_place){heard, 0};
		follower->abrupt = false;
	} else if (follower->state == FOLLOW_IDLE && first < end &&
		   may_begin(follower, look, heard, end)) {
		queued += begin(follower, heard, first, end, queued);
		follower->ready_ns = look->now_ns;
		follower->state = FOLLOW_READY;
	}
	if (follower->state == FOLLOW_READY)
		follow_start(follower, heard, look->now_ns);
	if (follower->state == FOLLOW_IDLE)
		return;
	read.step = follower_steer(follower, source->interpolator, heard,
				   queued, look);
	play(follower, &read, end, queued);
}

RT_SAFE void
follower_feed(struct follower *follower, const struct follow_plan *plan,
	      const struct follow_look *look)
{
	const struct follow_source *source = NULL;
	uint64_t queued = look->queued_frames;

	follower->changed = UINT64_MAX;
	follower->listening = false;
	queued -= turn_back(follower, plan, look);
	source = choose(follower, plan, look->now_ns);
	if (source->tap != NULL)
		follow(follower, plan, source, look, queued);
}

RT_SAFE bool
follower_holds(const struct follower *follower)
{
	return follower->state == FOLLOW_READY;
}

/* A clock that is about to start says so, and wakes who follows. */
RT_SAFE int64_t
follower_wait(const struct follower *follower)
{
	if (follower->unsettled)
		return UNSETTLED_POLL_MS * NS_PER_MS;
	if (follower->state != FOLLOW_IDLE || !follower->listening)
		return INT64_MAX;
	return follower->view.running ? BEGIN_POLL_MS * NS_PER_MS
				      : IDLE_POLL_MS * NS_PER_MS;
}

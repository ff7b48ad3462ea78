/* SPDX-License-Identifier: GPL-3.0-or-later */
/* follower_pace.c - how far behind the clock a follower is, and what is done
 * about it.
 *
 *   lag = what was heard at the clock and not read yet, in the tap's frames
 *         (below 0: read, and not heard yet)
 *       + what is on the deck and in the card, in the card's
 *
 * It is looked at once a cycle, while both cards play, and steers the pace. It
 * should be 0, or what the clock mixes too little ahead; it begins where it
 * begins, and comes down from there by CATCH_UP, which the loop that keeps it
 * there (drift.c) knows of: so that has only the clocks' difference to find. */
#include "daemon/output/follower_pace.h"

#include "daemon/audio/interpolate.h"
#include "daemon/output/follower_sound.h"
#include "lib/base/clock.h"

enum { ANCHOR_MS = 20 }; /* off by more is no drift */

static const double CATCH_UP = 500e-6; /* parts of the pace */

static RT_SAFE int64_t
to_ns(const struct follower *follower, double frames)
{
	return (int64_t)(frames * (double)NS_PER_S / follower->rate_hz);
}

/* From the place up to a frame, in frames of the card. */
RT_SAFE int64_t
follower_distance(const struct follower *follower, uint64_t frame)
{
	const int64_t frames = (int64_t)(frame - follower->place.frame);

	return frames * follower->rate_hz / (int64_t)follower->tap->rate_hz;
}

/* The other way round. */
RT_SAFE int64_t
follower_tap_frames(const struct follower *follower, int64_t frames)
{
	return frames * follower->tap->rate_hz / (int64_t)follower->rate_hz;
}

/* What all is behind by, when nothing is amiss. */
RT_SAFE int64_t
follower_least_lag(const struct follower *follower)
{
	const int64_t lead = (int64_t)follower->view.lead_frames *
			     follower->rate_hz /
			     (int64_t)follower->tap->rate_hz;
	const int64_t needed = follower->need_frames;

	return needed > lead ? needed - lead : 0;
}

/* frames of the card, which may be less than none. */
RT_SAFE void
follower_drop(struct follower *follower, int64_t frames, enum follow_fade fade)
{
	const int64_t skipped = follower_tap_frames(follower, frames);
	const int64_t place = (int64_t)follower->place.frame + skipped;

	if (frames > 0)
		atomic_fetch_add_explicit(&follower->dropped_frames,
					  (uint64_t)frames,
					  memory_order_relaxed);
	follower_fade_to(follower, place > 0 ? (uint64_t)place : 0, fade);
	drift_jump(&follower->drift);
}

/* From here on it is to come down to what it should be. */
static RT_SAFE void
anchor(struct follower *follower, int64_t lag)
{
	const int64_t least = follower_least_lag(follower);

	follower->anchored = true;
	follower->lag_wanted = (double)lag;
	if (follower->lag_most < 0)
		follower->lag_most = (double)(lag > least ? lag : least);
	drift_jump(&follower->drift);
}

static RT_SAFE double
towards(double from, double to, double most)
{
	if (from > to + most)
		return from - most;
	return from < to - most ? from + most : to;
}

static RT_SAFE void
keep_lag(struct follower *follower, int64_t lag, double after_s)
{
	const double least = (double)follower_least_lag(follower);
	const double rate_hz = follower->rate_hz;
	const double off = (double)lag - follower->lag_wanted;
	const double jump = follower_ms(ANCHOR_MS, follower->rate_hz);

	if (follower->lag_most < 0) {
		anchor(follower, lag);
		return;
	}
	if (follower->fade_left == 0 &&
	    ((double)lag > follower->lag_most + follower->late_frames ||
	     (double)lag < least - follower->late_frames)) {
		follower_drop(follower, lag - (int64_t)least,
			      FOLLOW_FROM_PLACE);
		follower->lag_wanted = follower->lag_most = least;
		return;
	}
	if (!follower->anchored || off > jump || off < -jump)
		anchor(follower, lag);
	else if (follower->looked_ns != 0)
		(void)drift_look(&follower->drift, off / rate_hz, after_s);
	follower->lag_wanted = towards(follower->lag_wanted, least,
				       CATCH_UP * after_s * rate_hz);
	follower->lag_most = towards(follower->lag_most, least,
				     CATCH_UP * after_s * rate_hz);
}

/* The step to go on with; what is too late by far is dropped before. */
RT_SAFE uint64_t
follower_steer(struct follower *follower,
	       const struct interpolator *interpolator, uint64_t heard,
	       uint64_t queued, const struct follow_look *look)
{
	const double step = (double)interpolator_step(interpolator);
	const double least = (double)follower_least_lag(follower);
	const int64_t lag =
		follower_distance(follower, heard) + (int64_t)queued;
	double parts = 0;

	/* What it began with just now is in no look yet. */
	if (follower->begun) {
		follower->begun = false;
		return (uint64_t)(step * (1 + follower->drift.parts));
	}
	atomic_store_explicit(&follower->lag_ns, to_ns(follower, (double)lag),
			      memory_order_relaxed);
	if (look->running && follower->view.running &&
	    heard < follower->view.mixed) {
		keep_lag(
			follower, lag,
			follower->looked_ns == 0
				? 0
				: (double)(look->now_ns - follower->looked_ns) /
					  NS_PER_S);
		follower->looked_ns = look->now_ns;
	} else {
		follower->anchored = false;
		follower->looked_ns = 0;
	}
	parts = follower->drift.parts;
	atomic_store_explicit(&follower->drift_ppb, (int64_t)(parts * 1e9),
			      memory_order_relaxed);
	atomic_store_explicit(&follower->wanted_lag_ns,
			      to_ns(follower, follower->lag_wanted),
			      memory_order_relaxed);
	if (follower->anchored && follower->lag_wanted != least)
		parts += follower->lag_wanted > least ? CATCH_UP : -CATCH_UP;
	return (uint64_t)(step * (1 + parts));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_fault.c - what the output thread does when its card ran dry, was
 * suspended, or stopped for reasons of its own.
 *
 * What was queued and was not heard is mixed again. Running dry counts as an
 * xrun when music was to follow, or was cut off; not when all was heard. */
#include "daemon/output/output_rt.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <errno.h>

/* The card's clock and ours differ a little, and both are read in frames. */
enum { UNHEARD_LEAST_US = 1000 };

static const int64_t SUSPENDED_MAX_NS = 10 * NS_PER_S;

RT_DEVICE void
output_feed_count_xrun(struct output_rt *rt)
{
	atomic_fetch_add_explicit(&rt->figures.xruns, 1, memory_order_relaxed);
	log_rt(LOG_RT_XRUN, -1, rt->number);
}

/* What was queued and cannot have been heard by now is mixed again: a driver
 * may stop for other reasons than having run dry. One that did has played it
 * all, though by our clock a frame may seem to be left. */
static RT_SAFE void
take_back_unheard(struct output_rt *rt)
{
	const struct output_feed *feed = &rt->feed;
	const uint32_t rate_hz = rt->card->info.spec.rate_hz;
	const uint64_t delay = output_feed_delay(rt);
	const uint64_t gone = clock_ns_to_frames(
		clock_now_ns() - feed->status.time_ns, rate_hz);
	const uint64_t least =
		clock_ns_to_frames(UNHEARD_LEAST_US * NS_PER_US, rate_hz);
	const uint64_t lowest = mix_lowest(&rt->mix, &rt->plan);
	uint64_t frame = rt->mix.frame;

	if (feed->suspended_ns != 0)
		frame -= delay;
	else if (gone + least < delay)
		frame -= delay - gone;
	mix_rewind(&rt->mix, frame > lowest ? frame : lowest);
}

/* A card that was not made ready once can only be made ready, whatever it says
 * about resuming. */
RT_DEVICE int
output_feed_resume(struct output_rt *rt)
{
	struct output_feed *feed = &rt->feed;
	int error = -ENOSYS;

	if (!feed->must_reset) {
		output_rt_enter(rt);
		error = output_rt_checked(rt, rt->card->ops->resume(rt->card));
	}
	if (error == 0) {
		feed->suspended_ns = 0;
		feed->resumed = true;
		return 0;
	}
	if (error == -ENOSYS) {
		feed->must_reset = true;
		output_rt_enter(rt);
		error = output_rt_checked(rt, rt->card->ops->reset(rt->card));
	}
	if (error == -ECANCELED || error == -ENODEV)
		return error;
	if (clock_now_ns() - feed->suspended_ns > SUSPENDED_MAX_NS)
		return -ENODEV;
	if (error < 0)
		return 0;
	take_back_unheard(rt);
	feed->suspended_ns = 0;
	feed->must_reset = false;
	feed->running = false;
	return 0;
}

static RT_DEVICE int
stop(struct output_rt *rt)
{
	struct output_feed *feed = &rt->feed;
	int error = 0;

	output_rt_enter(rt);
	error = output_rt_checked(rt, rt->card->ops->reset(rt->card));
	if (error < 0)
		return error;
	if (!feed->drying)
		take_back_unheard(rt);

	feed->running = false;
	feed->drying = false;
	feed->fill_since_ns = 0;
	feed->pad_frames = 0;
	feed->status.avail_frames = rt->card->info.buffer_frames;
	feed->status.delay_frames = 0;
	feed->status.time_ns = clock_now_ns();
	feed->status_frame = rt->mix.frame;
	return 0;
}

/* A card that ran dry while there was enough moves in larger steps than it
 * says: wake up for it earlier. */
static RT_SAFE void
take_more_care(struct output_rt *rt)
{
	struct output_feed *feed = &rt->feed;
	const uint32_t quarter = rt->card->info.buffer_frames / 4;
	const uint32_t more = feed->low_frames + quarter;

	if (feed->result == MIX_WAIT)
		return;
	feed->low_frames = more < 3 * quarter ? more : 3 * quarter;
	if (feed->silence_frames < feed->low_frames)
		feed->silence_frames = feed->low_frames;
}

/* A card that ran out of silence, not of music. One that moves in periods was
 * up to a period further than it said. */
static RT_SAFE bool
all_was_heard(const struct output_rt *rt)
{
	const struct output_feed *feed = &rt->feed;
	const uint64_t gone =
		clock_ns_to_frames(clock_now_ns() - feed->status.time_ns,
				   rt->card->info.spec.rate_hz);
	const uint64_t unsaid =
		rt->card->info.batch ? rt->card->info.period_frames : 0;
	const uint64_t heard =
		rt->mix.frame - output_feed_delay(rt) + gone + unsaid;

	return feed->result == MIX_IDLE && !rt->keep_open &&
	       heard >= feed->music_end;
}

RT_DEVICE int
output_feed_recover(struct output_rt *rt, int error)
{
	struct output_feed *feed = &rt->feed;

	switch (error) {
	case -EPIPE:
		/* Then nothing is to be taken back and played again, either. */
		if (all_was_heard(rt))
			feed->drying = true;
		if (!feed->drying) {
			output_feed_count_xrun(rt);
			take_more_care(rt);
		}
		return stop(rt);
	case -ESTRPIPE:
		if (feed->suspended_ns == 0) {
			feed->suspended_ns = clock_now_ns();
			log_rt(LOG_RT_SUSPENDED, 0, rt->number);
		}
		return 0;
	case -EAGAIN:
	case -EINTR:
		return 0;
	default:
		return error;
	}
}

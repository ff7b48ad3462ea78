/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_wait.c - how long the output thread may sleep: until the queue has
 * fallen to the low mark, or until something else is due. Reckoned from what
 * the card said last, and from the clock. */
#include "daemon/output/output_rt.h"

#include "lib/base/clock.h"

enum {
	SUSPENDED_POLL_MS = 50,
	WAITING_POLL_MS = 4,
	/* A cut, which somebody asked for: soon there, or not so soon. */
	AWAITED_POLL_MS = 1,
	AWAITED_SOON_MS = 50,
	START_LOOK_MS = 10,
};

static RT_SAFE int64_t
frames_to_ns(const struct output_rt *rt, uint64_t frames)
{
	return clock_frames_to_ns(frames, rt->card->info.spec.rate_hz);
}

/* Until the queue has fallen to mark. */
static RT_SAFE int64_t
until_queued(const struct output_rt *rt, uint32_t mark)
{
	const uint32_t queued = output_feed_queued(rt);
	const int64_t since = clock_now_ns() - rt->feed.status.time_ns;
	const int64_t ns =
		frames_to_ns(rt, queued > mark ? queued - mark : 0) - since;

	return ns > NS_PER_MS ? ns : NS_PER_MS;
}

/* Until a deck can be given back that a lane waits for. */
static RT_SAFE int64_t
until_wanted(const struct output_rt *rt)
{
	const uint64_t wanted = mix_wanted_frame(&rt->mix, &rt->plan);
	const uint64_t heard = rt->mix.frame - output_feed_delay(rt);

	if (wanted == UINT64_MAX)
		return INT64_MAX;
	return frames_to_ns(rt, wanted > heard ? wanted - heard : 0) +
	       NS_PER_MS;
}

/* What a follower's deck lacks is not mixed yet, or comes with a word. */
static RT_SAFE bool
can_wait(const struct output_rt *rt)
{
	return rt->part.follower != NULL && rt->feed.running &&
	       output_feed_queued(rt) > rt->feed.low_frames;
}

/* Until the decks are worth a look. */
static RT_SAFE int64_t
until_more(const struct output_rt *rt)
{
	const struct output_feed *feed = &rt->feed;

	if (feed->awaited_ns != 0 &&
	    clock_now_ns() - feed->awaited_ns < AWAITED_SOON_MS * NS_PER_MS)
		return AWAITED_POLL_MS * NS_PER_MS;
	if ((feed->result == MIX_WAIT && !can_wait(rt)) ||
	    feed->awaited_ns != 0 || feed->fill_since_ns != 0)
		return WAITING_POLL_MS * NS_PER_MS;
	return INT64_MAX;
}

RT_SAFE int64_t
output_feed_wait(const struct output_rt *rt)
{
	const struct output_feed *feed = &rt->feed;
	int64_t wait = INT64_MAX, other = 0;

	if (feed->suspended_ns != 0)
		return SUSPENDED_POLL_MS * NS_PER_MS;
	if (feed->running && feed->drying)
		wait = until_queued(rt, 0) + NS_PER_MS;
	else if (feed->running)
		wait = until_queued(rt, feed->low_frames);
	/* Silence is to be written, and then more of it. */
	if (feed->running && !feed->drying && feed->result == MIX_IDLE &&
	    (!rt->keep_open || rt->draining))
		wait = until_queued(rt, feed->silence_frames * 3 / 4);
	if (feed->started && wait > START_LOOK_MS * NS_PER_MS)
		wait = START_LOOK_MS * NS_PER_MS;
	other = until_more(rt);
	wait = other < wait ? other : wait;
	if (feed->running) {
		other = until_wanted(rt);
		wait = other < wait ? other : wait;
	}
	if (rt->part.follower != NULL) {
		other = output_follow_wait(rt);
		wait = other < wait ? other : wait;
	}
	return wait == INT64_MAX ? -1 : wait;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_guard.c - how many of the frames next to the card are never taken
 * back.
 *
 * What the card did and how late the thread was tells that, from look to look
 * (guard.h). A card that moves in periods may be a period further than it says,
 * has fetched that period whole, and goes on to the next at any moment. */
#include "daemon/output/output_rt.h"

enum { BATCH_US = 2000 };

RT_SAFE void
output_guard_set(struct output_rt *rt)
{
	const struct card_info *info = &rt->card->info;
	struct output_feed *feed = &rt->feed;
	const uint64_t batch_frames =
		(uint64_t)info->spec.rate_hz * BATCH_US / 1000000;

	feed->guard_frames =
		info->batch ? (uint32_t)batch_frames + 2 * info->period_frames
			    : guard_frames(&feed->guard);
}

RT_SAFE void
output_guard_look(struct output_rt *rt)
{
	struct output_feed *feed = &rt->feed;

	/* At a start the time is ours, not the card's. */
	if (!feed->running || feed->started || feed->suspended_ns != 0)
		guard_pause(&feed->guard);
	else
		guard_look(&feed->guard,
			   feed->status_frame - feed->status.delay_frames,
			   feed->status.time_ns);
	output_guard_set(rt);
}

RT_SAFE void
output_guard_late(struct output_rt *rt, int64_t late_ns)
{
	guard_wakeup(&rt->feed.guard, late_ns);
	output_guard_set(rt);
}

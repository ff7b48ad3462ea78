/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_follow.c - the output thread of an output that is not the clock: once
 * a cycle, after it has looked at its card and before it feeds it, it fetches
 * what was heard at the clock since then (follower.h).
 *
 * The plan names the taps, and is held only for that: never across a call into
 * the card, which might not return. */
#include "daemon/output/follower.h"
#include "daemon/output/output_rt.h"
#include "lib/base/clock.h"
#include "lib/sync/snapshot.h"

/* Frames written to the card and not heard by now. */
static RT_SAFE uint64_t
in_card(const struct output_rt *rt, int64_t now_ns)
{
	const struct output_feed *feed = &rt->feed;
	const uint64_t delay = output_feed_delay(rt);
	uint64_t gone = 0;

	if (feed->running && now_ns > feed->status.time_ns)
		gone = clock_ns_to_frames(now_ns - feed->status.time_ns,
					  rt->card->info.spec.rate_hz);
	return delay > gone ? delay - gone : 0;
}

/* Frames on the deck that were not mixed yet. */
static RT_SAFE uint64_t
on_deck(struct output_rt *rt, const struct mix_span *span)
{
	const struct deck *deck = &rt->part.bus->decks[LANE_MUSIC][0];
	const uint64_t written = pcm_ring_written(&deck->ring);
	const uint64_t position =
		span != NULL ? mix_span_position(span, rt->mix.frame) : 0;

	return written > position ? written - position : 0;
}

RT_SAFE void
output_feed_follow(struct output_rt *rt)
{
	const struct output_part *part = &rt->part;
	const struct mix_span *span = mix_lane_span(&rt->mix, LANE_MUSIC);
	const struct follow_plan *plan = NULL;
	const int64_t now_ns = clock_now_ns();
	const uint64_t left = on_deck(rt, span);
	const struct follow_look look = {
		.now_ns = now_ns,
		.running = rt->feed.running,
		.dry = span != NULL && span->left == MIX_DRY && left == 0,
		.queued_frames = left + in_card(rt, now_ns),
	};

	if (rt->draining)
		return;
	plan = snapshot_enter(part->plans, part->plan_reader);
	if (plan != NULL)
		follower_feed(part->follower, plan, &look);
	snapshot_leave(part->plans, part->plan_reader);
}

/* A clock that plays is not waited for; one that may begin is, in naps: each
 * frame of it will be there late enough to be heard in time. */
RT_SAFE int64_t
output_follow_wait(const struct output_rt *rt)
{
	const struct follower *follower = rt->part.follower;

	return follower->listening && !follower->running
		       ? FOLLOWER_POLL_MS * NS_PER_MS
		       : INT64_MAX;
}

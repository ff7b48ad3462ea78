/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_follow.c - the output thread of an output that is not the clock: once
 * a cycle, after it has looked at its card and before it feeds it, it fetches
 * what it has room for of what is mixed at the clock (follower.h). Where the
 * clock has mixed anew what is queued here already, the card gives that back
 * first.
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
on_deck(const struct output_rt *rt, const struct mix_span *span)
{
	const struct deck *deck = &rt->part.bus->decks[LANE_MUSIC][0];
	const uint64_t written = pcm_ring_written(&deck->ring);
	const uint64_t position =
		span != NULL ? mix_span_position(span, rt->mix.frame) : 0;

	return written > position ? written - position : 0;
}

static RT_SAFE struct follow_look
look(struct output_rt *rt)
{
	const struct mix_span *span = mix_lane_span(&rt->mix, LANE_MUSIC);
	const int64_t now_ns = clock_now_ns();
	const uint64_t left = on_deck(rt, span);
	const uint32_t settle = rt->feed.settle_frames;

	return (struct follow_look){
		.now_ns = now_ns,
		.running = rt->feed.running,
		.empty = !rt->feed.running && settle == 0 &&
			 output_feed_queued(rt) == 0,
		.dry = span != NULL && span->left == MIX_DRY && left == 0,
		.queued_frames = left + settle + in_card(rt, now_ns),
		.deck_frames = left,
	};
}

/* What the mix knew of the deck from there on is not so any more. */
static RT_SAFE void
forget_ahead(struct output_rt *rt, uint64_t deck_frame)
{
	const struct mix_span *span = mix_lane_span(&rt->mix, LANE_MUSIC);

	if (span == NULL || deck_frame == UINT64_MAX)
		return;
	mix_forget_ahead(&rt->mix,
			 deck_frame > span->deck_frame
				 ? span->first + deck_frame - span->deck_frame
				 : span->first);
}

static RT_SAFE uint64_t
wants_back(struct output_rt *rt, const struct follow_look *now)
{
	const struct output_part *part = &rt->part;
	const struct follow_plan *plan =
		snapshot_enter(part->plans, part->plan_reader);
	const uint64_t frames =
		plan != NULL ? follower_wants_back(part->follower, plan, now)
			     : 0;

	snapshot_leave(part->plans, part->plan_reader);
	return frames > now->deck_frames ? frames - now->deck_frames : 0;
}

RT_DEVICE int
output_feed_follow(struct output_rt *rt)
{
	const struct output_part *part = &rt->part;
	const struct follow_plan *plan = NULL;
	struct follow_look now = look(rt);
	const uint64_t back = rt->draining ? 0 : wants_back(rt, &now);
	int error = 0;

	if (rt->draining)
		return 0;
	if (back > 0) {
		error = output_feed_go_back(rt, back);
		if (error < 0)
			return error;
		now = look(rt);
	}
	plan = snapshot_enter(part->plans, part->plan_reader);
	if (plan != NULL)
		follower_feed(part->follower, plan, &now);
	snapshot_leave(part->plans, part->plan_reader);
	forget_ahead(rt, part->follower->changed);
	return 0;
}

RT_SAFE int64_t
output_follow_wait(const struct output_rt *rt)
{
	return follower_wait(rt->part.follower);
}

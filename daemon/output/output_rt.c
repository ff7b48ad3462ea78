/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_rt.c - the output thread's loop: orders, plan, card, news.
 *
 * No lock, no allocation, no file, no log: what it has to say goes out as
 * events. Each call into the card may take as long as the kernel likes; a
 * thread that has been in one for 2 s is given up by control, which takes back
 * all that both use, and finds out after the call. It then touches nothing that
 * is shared and ends. So the plan is copied, never held across such a call. In
 * between nobody can give it up, however long it has had no CPU.
 *
 * The card is the thread's from the moment it takes it out of `offered` until
 * it puts it into `returned`. */
#include "daemon/output/output_rt.h"

#include "daemon/output/tap.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/sync/queue.h"
#include "lib/sync/snapshot.h"
#include "lib/sync/timeline.h"
#include "lib/zone/zone.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { STEPS_MAX = 4 };

static const int64_t DRAIN_SLACK_NS = NS_PER_S;

static RT_DEVICE void
ring(const struct output_rt *rt)
{
	const uint64_t one = 1;

	/* Full means that control has not looked yet: it will. */
	if (write(rt->links.event_fd, &one, sizeof(one)) < 0)
		return;
}

static RT_DEVICE bool
tell(const struct output_rt *rt, const struct rt_event *event)
{
	if (!queue_push(rt->links.events, event))
		return false;
	ring(rt);
	return true;
}

/* When an output frame is, or would be, heard. */
static RT_SAFE int64_t
heard_at(const struct output_rt *rt, uint64_t frame)
{
	const uint64_t heard = rt->mix.frame - output_feed_delay(rt);
	const uint32_t rate_hz = rt->mix.spec.rate_hz;
	const int64_t now_ns = rt->feed.running ? rt->feed.status.time_ns
						: output_feed_start_ns(rt);

	return frame >= heard
		       ? now_ns + clock_frames_to_ns(frame - heard, rate_hz)
		       : now_ns - clock_frames_to_ns(heard - frame, rate_hz);
}

/* When the end will be heard is foretold, but for a card that may slip: what is
 * queued there is taken back and lost when control goes on too early. */
static RT_SAFE bool
is_held(const struct output_rt *rt, const struct mix_note *note)
{
	return rt->card != NULL && rt->card->info.slips && rt->feed.running &&
	       note->kind == RT_EVENT_LANE_DRAINED &&
	       rt->mix.frame - output_feed_delay(rt) < note->frame;
}

/* False: there is no room for it. */
static RT_DEVICE bool
tell_note(struct output_rt *rt, const struct mix_note *note)
{
	const struct rt_event event = {
		.kind = note->kind,
		.lane = note->lane,
		.id = note->id,
		.time_ns = heard_at(rt, note->frame),
		.value = note->value,
	};

	return queue_push(rt->links.events, &event);
}

/* Says what the mixer noted; what finds no room is said later. A pause that
 * is only our way to stop is not told. Nor is what a follower does with its
 * only deck. */
static RT_DEVICE void
tell_notes(struct output_rt *rt)
{
	struct mix_note *notes = rt->mix.notes;
	unsigned i = 0, kept = 0;
	bool told = false, full = false;

	if (rt->part.follower != NULL)
		rt->mix.note_count = 0;
	for (i = 0; i < rt->mix.note_count; i++) {
		if (!full && rt->draining &&
		    notes[i].kind == RT_EVENT_LANE_PAUSED)
			continue;
		if (!full && !is_held(rt, &notes[i])) {
			full = !tell_note(rt, &notes[i]);
			told |= !full;
			if (!full)
				continue;
		}
		notes[kept++] = notes[i];
	}
	rt->mix.note_count = kept;
	if (told)
		ring(rt);
}

/* For those who follow; they are woken by control when it is not just more of
 * the same. */
static RT_DEVICE void
tell_tap(struct output_rt *rt, bool running)
{
	struct tap *tap = rt->part.bus->tap;
	const struct rt_event event = {.kind = RT_EVENT_TAP};
	const uint64_t delay = output_feed_delay(rt);
	const struct tap_view view = {
		.mixed = rt->mix.frame,
		.heard = rt->mix.frame - delay,
		.time_ns = rt->feed.status.time_ns,
		.lead_frames = rt->feed.low_frames,
		.running = running,
		.ended = rt->ending,
	};
	uint32_t told = 0;

	if (tap == NULL)
		return;
	tap_publish(tap, &view);
	told = tap_turns(tap) << 3 | (running ? 4U : 0U) |
	       (rt->ending ? 2U : 0U) | (delay > 0 ? 1U : 0U);
	if (told != rt->tap_told &&
	    (tap_wants(tap, TAP_ALL) || tap_wants(tap, TAP_MUSIC)) &&
	    tell(rt, &event))
		rt->tap_told = told;
}

static RT_DEVICE void
publish(struct output_rt *rt, bool running)
{
	struct timeline_view *view = &rt->view;
	unsigned count = rt->mix.point_count;

	if (count > TIMELINE_POINTS)
		count = TIMELINE_POINTS;
	view->time_ns = rt->feed.status.time_ns;
	view->written_frames = rt->mix.frame;
	view->delay_frames = output_feed_delay(rt);
	view->rate_hz = rt->mix.spec.rate_hz;
	view->running = running;
	view->point_count = count;
	memcpy(view->points, rt->mix.points, count * sizeof(view->points[0]));
	timeline_publish(rt->part.timeline, view);
	tell_tap(rt, running);
}

/* Stands still where it would be by now. */
static RT_DEVICE void
publish_end(struct output_rt *rt)
{
	const int64_t now_ns = clock_now_ns();

	if (rt->feed.running && rt->feed.suspended_ns == 0) {
		const uint64_t delay = output_feed_delay(rt);
		const uint64_t gone = clock_ns_to_frames(
			now_ns - rt->feed.status.time_ns, rt->mix.spec.rate_hz);

		rt->feed.status_frame = rt->mix.frame;
		rt->feed.status.delay_frames =
			(uint32_t)(gone < delay ? delay - gone : 0);
		rt->feed.status.time_ns = now_ns;
	}
	publish(rt, false);
}

static RT_DEVICE void
give_back(struct output_rt *rt)
{
	struct card *card = rt->card;
	const struct rt_event event = {.kind = RT_EVENT_CARD_BACK,
				       .time_ns = clock_now_ns()};

	tell_notes(rt);
	rt->ending = true;
	publish_end(rt);
	rt->card = NULL;
	rt->draining = false;
	atomic_store_explicit(&rt->returned, card, memory_order_release);
	/* Without room control finds it at its next tick. */
	(void)tell(rt, &event);
}

static RT_DEVICE void
lose(struct output_rt *rt, int error)
{
	const struct rt_event event = {
		.kind = RT_EVENT_CARD,
		.id = (uint64_t)(int64_t)error,
		.time_ns = clock_now_ns(),
	};

	log_rt(LOG_RT_CARD_LOST, -error, rt->number);
	atomic_store_explicit(&rt->lost_error, error, memory_order_relaxed);
	(void)tell(rt, &event);
	give_back(rt);
}

/* The fence is closed when the first card comes that can be used behind it;
 * control gives no other card to a thread that is sealed. */
static RT_DEVICE void
take_card(struct output_rt *rt)
{
	struct card *card = atomic_exchange_explicit(&rt->offered, NULL,
						     memory_order_acquire);

	if (card == NULL)
		return;
	rt->card = card;
	if (card->info.sealable && !rt->sealed) {
		RT_EXCEPTION("before the first frame")
		{
			output_rt_seal(rt);
		}
	}
	mix_init(&rt->mix, rt->part.bus, &card->info.spec);
	output_feed_begin(rt);
	rt->draining = false;
	rt->ending = false;
	rt->drain_until_ns = 0;
	rt->tap_told = 0;
	rt->fd_errors = 0;
}

static RT_SAFE void
read_plan(struct output_rt *rt)
{
	const struct mix_plan *plan =
		snapshot_enter(rt->part.plans, rt->part.plan_reader);

	rt->has_plan = plan != NULL;
	if (plan != NULL)
		rt->plan = *plan;
	snapshot_leave(rt->part.plans, rt->part.plan_reader);
}

/* On the way to the end a lane fades out now, or when it can never end by
 * itself. */
static RT_SAFE void
work_in_order(struct output_rt *rt)
{
	const uint32_t order =
		atomic_load_explicit(&rt->order, memory_order_acquire);
	unsigned lane = 0;

	rt->draining = order != OUTPUT_ORDER_PLAY;
	if (!rt->draining)
		return;
	for (lane = 0; lane < LANE_COUNT; lane++) {
		const struct mix_span *span = mix_lane_span(&rt->mix, lane);

		if (order == OUTPUT_ORDER_STOP || span == NULL ||
		    !pcm_ring_ended(&mix_deck(&rt->mix, lane, span)->ring))
			rt->plan.lanes[lane].paused = 1;
	}
}

/* Under half of what it holds it is worth a decoder's while. One that is not
 * being filled may just be set up by control, for a lane that had none. */
static RT_SAFE bool
wants_frames(const struct deck *deck)
{
	const struct pcm_ring *ring = &deck->ring;

	return atomic_load_explicit(&deck->state, memory_order_acquire) ==
		       DECK_FILLING &&
	       !pcm_ring_ended(ring) &&
	       pcm_ring_readable(ring) <
		       (ring->capacity_frames - ring->history_frames) / 2;
}

static RT_DEVICE void
wake_decoders(const struct output_rt *rt, bool released)
{
	bool wanted = released;
	unsigned lane = 0, i = 0;

	if (rt->part.follower != NULL)
		return;
	for (lane = 0; lane < LANE_COUNT; lane++)
		for (i = 0; i < LANE_DECKS; i++)
			wanted |= wants_frames(&rt->part.bus->decks[lane][i]);
	if (wanted)
		wake_post(rt->links.decoders);
}

/* Everything was heard, or never will be: the card had far longer than it
 * needs for what it holds. */
static RT_SAFE bool
has_drained(struct output_rt *rt)
{
	const int64_t now_ns = clock_now_ns();

	if (!rt->draining || rt->feed.result != MIX_IDLE) {
		rt->drain_until_ns = 0;
		return false;
	}
	if (!rt->feed.running && rt->feed.fill_since_ns == 0)
		return true;
	if (rt->drain_until_ns == 0)
		rt->drain_until_ns = now_ns + DRAIN_SLACK_NS +
				     clock_frames_to_ns(output_feed_delay(rt),
							rt->mix.spec.rate_hz);
	return now_ns > rt->drain_until_ns;
}

/* What was not heard may have to be mixed again: the card stops. A card that
 * gives nothing back while it runs must not keep decks for that which were left
 * behind: somebody waits for them. */
static RT_SAFE uint64_t
needed_from(const struct output_rt *rt, uint64_t heard)
{
	const uint64_t settled = mix_settled_frame(&rt->mix);

	return rt->card->info.can_rewind || settled < heard ? heard : settled;
}

/* 0, or the error that the card could not get over. */
static RT_DEVICE int
step(struct output_rt *rt)
{
	int error = 0;
	unsigned i = 0;

	for (i = 0; i < STEPS_MAX; i++) {
		error = output_feed_step(rt);
		if (output_rt_abandoned(rt) || error == 0)
			return 0;
		error = output_feed_recover(rt, error);
		if (output_rt_abandoned(rt) || rt->feed.suspended_ns != 0)
			return 0;
		if (error < 0)
			return error;
	}
	return 0;
}

static RT_DEVICE void
cycle(struct output_rt *rt)
{
	const uint32_t order =
		atomic_load_explicit(&rt->order, memory_order_acquire);
	uint64_t heard = 0;
	bool released = false;
	int error = 0;

	read_plan(rt);
	if (order == OUTPUT_ORDER_DROP ||
	    (order != OUTPUT_ORDER_PLAY && !rt->has_plan)) {
		give_back(rt);
		return;
	}
	if (!rt->has_plan)
		return;
	work_in_order(rt);
	error = step(rt);
	if (output_rt_abandoned(rt))
		return;
	if (error < 0) {
		lose(rt, error);
		return;
	}
	output_guard_look(rt);
	heard = rt->mix.frame - output_feed_delay(rt);
	released =
		mix_forget(&rt->mix, &rt->plan, needed_from(rt, heard), heard);
	publish(rt, rt->feed.running && rt->feed.suspended_ns == 0);
	tell_notes(rt);
	wake_decoders(rt, released);
	zone_janitor_wake(); /* a library may have called malloc */
	if (has_drained(rt))
		give_back(rt);
}

/* Asked to end, it first gives back the card, which its order hastens. */
RT_DEVICE void
output_rt_run(struct output_rt *rt)
{
	do {
		const int64_t began_ns = clock_now_ns();
		const bool quits =
			atomic_load_explicit(&rt->quit, memory_order_acquire);

		if (rt->card == NULL && !quits)
			take_card(rt);
		if (rt->card != NULL)
			cycle(rt);
		if (output_rt_abandoned(rt) || (quits && rt->card == NULL))
			return;
		rt_note_quantum(&rt->figures, clock_now_ns() - began_ns);
	} while (output_sleep(rt));
}

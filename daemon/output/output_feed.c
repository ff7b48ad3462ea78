/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_feed.c - one step of the output thread with its card: look, take
 * back, fill, start.
 *
 *   stopped -(full, or all there is)-> running -(nothing more)-> drying
 *      ^                                  ^ |                       |
 *      |                 more comes ------+-+-----------------------+
 *      +----- dry: deliberately, or an xrun, which is counted ------+
 *
 * The buffer is filled to the full and left alone until it has fallen to the
 * low mark. No silence is mixed while frames are queued: a deck that is dry
 * too early is waited for until the emergency mark. When nothing more comes,
 * cards whose memory is played round and round get some silence behind the
 * last frame, little by little and late, and then run dry on purpose. A card
 * that was just started is looked at again soon, since many fetch a good part
 * of the buffer at once.
 *
 *   guard: frames that are too near the card to be taken back (output_guard.c)
 *
 * A card that gives nothing back is written to at the low mark only: whatever
 * is mixed sooner is heard no sooner, but what was asked for meanwhile is. */
#include "daemon/output/output_rt.h"

#include "daemon/output/follower.h"
#include "lib/base/clock.h"

#include <errno.h>

enum {
	LOW_US = 10000,
	EMERGENCY_US = 5000,
	EMERGENCY_MAX_US = 20000,
	START_US = 50000,
	SLACK_US = 2000,
	TURNS_MAX = LANE_COUNT,
};

static RT_SAFE uint32_t
smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static RT_SAFE uint64_t
smaller64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static RT_SAFE uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static RT_SAFE uint32_t
us_to_frames(const struct card_info *info, uint32_t us)
{
	return (uint32_t)((uint64_t)info->spec.rate_hz * us / 1000000);
}

/* The low mark is a quarter of the buffer: a default buffer of 500 ms is
 * filled 2.7 times a second. Short buffers are refilled at the half. */
RT_SAFE void
output_feed_begin(struct output_rt *rt)
{
	const struct card_info *info = &rt->card->info;
	struct output_feed *feed = &rt->feed;
	const uint32_t half = info->buffer_frames / 2;
	uint32_t low = larger(info->buffer_frames / (info->can_rewind ? 4 : 8),
			      us_to_frames(info, LOW_US));
	/* Some cards have periods of 100 ms and more, and move evenly. */
	uint32_t step = info->period_frames;

	*feed = (struct output_feed){.result = MIX_IDLE};
	if (info->batch)
		low = larger(low, 2 * info->period_frames);
	/* A sound server takes what it wants when it wants to. */
	if (info->greedy)
		low = half;
	feed->low_frames = smaller(low, half);
	if (!info->batch && !info->greedy)
		step = smaller(step, us_to_frames(info, EMERGENCY_MAX_US));
	feed->emergency_frames =
		smaller(feed->low_frames / 2,
			larger(step, us_to_frames(info, EMERGENCY_US)));
	/* Any card may fetch a whole period at once, whatever it says. */
	feed->silence_frames =
		info->batch || info->greedy
			? info->buffer_frames
			: smaller(info->buffer_frames,
				  feed->emergency_frames + info->period_frames);
	guard_begin(&feed->guard, info->spec.rate_hz);
	output_guard_set(rt);
	feed->settle_frames = us_to_frames(info, rt->settle_ms * 1000);
}

RT_SAFE uint64_t
output_feed_delay(const struct output_rt *rt)
{
	const struct output_feed *feed = &rt->feed;
	const uint64_t heard =
		feed->status_frame > feed->status.delay_frames
			? feed->status_frame - feed->status.delay_frames
			: 0;

	return rt->mix.frame > heard ? rt->mix.frame - heard : 0;
}

/* Frames in the card's buffer, as of the last status. */
RT_SAFE uint32_t
output_feed_queued(const struct output_rt *rt)
{
	const struct output_feed *feed = &rt->feed;
	const uint32_t buffer = rt->card->info.buffer_frames;
	const int64_t written = (int64_t)(rt->mix.frame - feed->status_frame);
	const int64_t queued =
		(int64_t)buffer - feed->status.avail_frames + written;

	if (queued <= 0)
		return 0;
	return queued < buffer ? (uint32_t)queued : buffer;
}

static RT_DEVICE int
look(struct output_rt *rt)
{
	struct output_feed *feed = &rt->feed;
	const int64_t before_ns = feed->status.time_ns;
	int error = 0;

	output_rt_enter(rt);
	error = output_rt_checked(
		rt, rt->card->ops->status(rt->card, &feed->status));
	if (error == -ESTRPIPE && feed->status.time_ns != before_ns)
		feed->status_frame = rt->mix.frame;
	if (error < 0)
		return error;
	feed->status_frame = rt->mix.frame;
	/* One that came back from a suspension may stand still. */
	if (feed->running && feed->resumed)
		feed->running = feed->status.running;
	feed->resumed = false;
	/* A plug-in that stops of itself has run dry, whatever it says. */
	if (feed->running && (!feed->status.running ||
			      (feed->drying && feed->status.delay_frames == 0)))
		return -EPIPE;
	return 0;
}

/* Frames that the card may be asked to give back. */
static RT_SAFE uint64_t
returnable(const struct output_rt *rt)
{
	const struct output_feed *feed = &rt->feed;
	const uint32_t queued = output_feed_queued(rt);
	const uint32_t guard = feed->running ? feed->guard_frames : 0;
	const uint64_t frames = queued > guard ? queued - guard : 0;
	const uint64_t mixed = rt->mix.frame - mix_lowest(&rt->mix, &rt->plan);

	return frames < mixed ? frames : mixed;
}

RT_DEVICE int
output_feed_go_back(struct output_rt *rt, uint64_t frames)
{
	struct output_feed *feed = &rt->feed;
	const uint64_t most = returnable(rt);
	long taken = 0;

	if (!rt->card->info.can_rewind || most == 0 || frames == 0)
		return 0;
	output_rt_enter(rt);
	taken = rt->card->ops->rewind(rt->card,
				      (size_t)smaller64(frames, most));
	if (!output_rt_leave(rt))
		return -ECANCELED;
	if (taken < 0)
		return (int)taken;
	mix_rewind(&rt->mix, rt->mix.frame - (uint64_t)taken);
	if (feed->music_end > rt->mix.frame)
		feed->music_end = rt->mix.frame;
	feed->drying = false;
	feed->pad_frames = rt->card->info.pad_frames;
	return 0;
}

/* What the plan changed is to be heard now, not behind all that is queued. A
 * deck that gets ready after this look is gone over to at the next one: fill()
 * would put it behind the queue. */
static RT_DEVICE int
take_back(struct output_rt *rt)
{
	const uint64_t frames = returnable(rt);
	int error = 0;

	if (!rt->card->info.can_rewind) {
		mix_hold_begins(&rt->mix, rt->mix.frame + 1);
		return 0;
	}
	if (frames > 0 && !mix_pending(&rt->mix, &rt->plan)) {
		mix_hold_begins(&rt->mix, rt->mix.frame);
		return 0;
	}
	error = output_feed_go_back(rt, frames);
	if (error < 0)
		return error;
	mix_hold_begins(&rt->mix, rt->mix.frame + 1);
	return 0;
}

/* Too little to start with, unless it is all there is. */
static RT_SAFE bool
is_little(const struct output_rt *rt)
{
	const struct card_info *info = &rt->card->info;

	return output_feed_queued(rt) <
	       smaller(us_to_frames(info, START_US), info->buffer_frames / 2);
}

static RT_SAFE bool
has_waited(int64_t since_ns)
{
	return since_ns != 0 &&
	       clock_now_ns() - since_ns >= START_US * NS_PER_US;
}

/* Full, or all there is, or as much as there was for a while. All there is may
 * be so little that more of it is worth a while, too, unless the card gives
 * back the silence behind it. */
static RT_SAFE bool
may_start(const struct output_rt *rt)
{
	const struct output_feed *feed = &rt->feed;

	if (rt->part.follower != NULL && !rt->draining &&
	    follower_holds(rt->part.follower))
		return false;
	return rt->draining || has_waited(feed->fill_since_ns) ||
	       (feed->result == MIX_IDLE &&
		(rt->card->info.can_rewind || !is_little(rt))) ||
	       output_feed_queued(rt) >= rt->card->info.buffer_frames;
}

/* Silence that is called for where nothing sounds. It is written before the
 * start: a card that starts with a few frames runs dry before the next look.
 * While the card runs it is written late and little by little, for each frame
 * of it keeps off what may come yet. */
static RT_SAFE uint32_t
silence_wanted(const struct output_rt *rt)
{
	const struct output_feed *feed = &rt->feed;
	const uint32_t queued = output_feed_queued(rt);
	const uint32_t keep = 2 * feed->low_frames;

	if (rt->keep_open && !rt->draining)
		return queued < keep ? keep - queued : 0;
	if (!feed->running)
		return queued > 0 && may_start(rt) ? feed->pad_frames : 0;
	if (queued >= feed->silence_frames)
		return 0;
	return smaller(feed->pad_frames, feed->silence_frames - queued);
}

static RT_SAFE uint32_t
write_silence(struct output_rt *rt, void *memory, uint32_t frames,
	      uint32_t wanted)
{
	const uint32_t count = smaller(frames, wanted);

	mix_silence(&rt->mix, memory, count);
	return count;
}

/* Fills memory; returns with how many frames. */
static RT_DEVICE size_t
produce(struct output_rt *rt, void *memory, uint32_t frames, bool go_on)
{
	struct output_feed *feed = &rt->feed;
	size_t done = 0;
	uint32_t silence = 0;

	if (feed->settle_frames > 0) {
		silence =
			write_silence(rt, memory, frames, feed->settle_frames);
		feed->settle_frames -= silence;
		/* It is wanted whole: not to be taken back. */
		rt->mix.floor = rt->mix.frame;
		return silence;
	}
	feed->result =
		mix_run(&rt->mix, &rt->plan, memory, frames, go_on, &done);
	if (done > 0) {
		feed->pad_frames = rt->card->info.pad_frames;
		feed->music_end = rt->mix.frame;
		feed->drying = false;
		return done;
	}
	if (feed->result != MIX_IDLE)
		return 0;
	silence = write_silence(rt, memory, frames, silence_wanted(rt));
	feed->pad_frames -= smaller(silence, feed->pad_frames);
	if (!rt->keep_open || rt->draining)
		feed->drying = feed->pad_frames == 0;
	return silence;
}

/* A deck is dry and the card will be soon: go on without it. A card that just
 * stands still meanwhile may as well wait, if nothing else sounds; but not for
 * ever with a few frames, since the deck may wait for these to be heard. */
static RT_SAFE bool
must_go_on(const struct output_rt *rt)
{
	const struct output_feed *feed = &rt->feed;

	if (rt->draining)
		return true;
	if (!feed->running && mix_live_lanes(&rt->mix) > 1)
		return has_waited(feed->waiting_ns);
	if (!feed->running)
		return is_little(rt) && has_waited(feed->fill_since_ns);
	return output_feed_queued(rt) <= feed->emergency_frames &&
	       (rt->card->info.pad_frames > 0 || mix_live_lanes(&rt->mix) > 1 ||
		mix_awaits_more(&rt->mix));
}

/* After much was taken back only the guard is left to play, and what is mixed
 * must be committed before that has run out. Of what is queued by now a part
 * was played meanwhile: with a quarter of it at a time that is always little
 * enough where mixing takes less than four fifths of the time that playing
 * does. */
static RT_SAFE uint32_t
piece(const struct output_rt *rt, uint32_t left)
{
	const struct output_feed *feed = &rt->feed;

	if (!feed->running)
		return left;
	return smaller(left,
		       larger(output_feed_queued(rt) / 4, feed->guard_frames));
}

static RT_DEVICE int
fill(struct output_rt *rt)
{
	struct output_feed *feed = &rt->feed;
	uint32_t left = rt->card->info.buffer_frames - output_feed_queued(rt);
	bool go_on = false;

	while (left > 0) {
		size_t frames = piece(rt, left), done = 0;
		void *memory = NULL;
		int error = 0;

		output_rt_enter(rt);
		error = output_rt_checked(
			rt, rt->card->ops->begin(rt->card, &memory, &frames));
		if (error < 0)
			return error;
		if (frames == 0)
			break;
		done = produce(rt, memory, (uint32_t)frames, go_on);
		output_rt_enter(rt);
		error = output_rt_checked(
			rt, rt->card->ops->commit(rt->card, done));
		if (error < 0)
			return error;
		left -= (uint32_t)done;
		if (done > 0)
			continue;
		if (go_on || feed->result != MIX_WAIT || !must_go_on(rt))
			break;
		go_on = true;
		if (!rt->draining && !mix_awaits_more(&rt->mix) &&
		    (feed->running || mix_live_lanes(&rt->mix) > 1))
			output_feed_count_xrun(rt);
	}
	if (feed->result != MIX_WAIT)
		feed->waiting_ns = 0;
	else if (feed->waiting_ns == 0)
		feed->waiting_ns = clock_now_ns();
	return 0;
}

static RT_DEVICE int
start(struct output_rt *rt)
{
	struct output_feed *feed = &rt->feed;
	int error = 0;

	if (feed->running || output_feed_queued(rt) == 0)
		return 0;
	if (feed->fill_since_ns == 0)
		feed->fill_since_ns = clock_now_ns();
	if (!may_start(rt))
		return 0;
	output_rt_enter(rt);
	error = output_rt_checked(rt, rt->card->ops->start(rt->card));
	if (error < 0)
		return error;
	feed->running = true;
	feed->started = true;
	feed->fill_since_ns = 0;
	/* What is heard when is reckoned from here. */
	feed->status.time_ns = clock_now_ns();
	return 0;
}

/* The card has enough for now. */
RT_SAFE bool
output_feed_is_ahead(const struct output_rt *rt)
{
	const struct output_feed *feed = &rt->feed;
	const uint32_t slack = us_to_frames(&rt->card->info, SLACK_US);

	return !rt->card->info.can_rewind && feed->running && !rt->draining &&
	       feed->result == MIX_FULL &&
	       output_feed_queued(rt) > feed->low_frames + slack;
}

/* A second time when a deck got ready meanwhile, so that it is heard now. */
static RT_DEVICE int
feed_card(struct output_rt *rt)
{
	unsigned turn = 0;
	int error = 0;

	if (output_feed_is_ahead(rt))
		return 0;
	do {
		error = take_back(rt);
		if (error == 0)
			error = fill(rt);
	} while (error == 0 && rt->mix.held_back && ++turn < TURNS_MAX);
	return error;
}

/* A card that waits for more has that long to go, at most. */
RT_SAFE int64_t
output_feed_start_ns(const struct output_rt *rt)
{
	const int64_t now_ns = clock_now_ns();
	const int64_t start_ns = rt->feed.fill_since_ns + START_US * NS_PER_US;

	return start_ns > now_ns ? start_ns : now_ns;
}

/* What is to be heard now has no deck yet. */
static RT_SAFE void
note_awaited(struct output_rt *rt)
{
	struct output_feed *feed = &rt->feed;

	if (output_feed_is_ahead(rt) ||
	    (!rt->mix.held_back && !mix_awaits_cut(&rt->mix, &rt->plan)))
		feed->awaited_ns = 0;
	else if (feed->awaited_ns == 0)
		feed->awaited_ns = clock_now_ns();
}

RT_DEVICE int
output_feed_step(struct output_rt *rt)
{
	int error = 0;

	if (rt->feed.suspended_ns != 0) {
		error = output_feed_resume(rt);
		if (error < 0 || rt->feed.suspended_ns != 0)
			return error;
	}
	rt->feed.started = false;
	error = look(rt);
	if (error == 0 && rt->part.follower != NULL)
		error = output_feed_follow(rt);
	if (error == 0)
		error = feed_card(rt);
	if (error == 0)
		error = start(rt);
	if (error == 0)
		note_awaited(rt);
	return error;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decoder_rt.c - the loop of a decoder thread.
 *
 * A round: read the event count; pull until as many pulls in a row as there are
 * items found nothing; sleep unless the count has moved. A quantum that did
 * something, or whose item another thread bounced off, begins the round anew,
 * with the count read anew. So before a thread sleeps, each item was looked at
 * by someone after the last post that it knows of: the head moves on by one
 * with every pull, whoever pulls.
 *
 * One poster wakes one sleeper; a thread that was woken and finds work for a
 * second stream wakes the next. With one song playing, the others sleep on.
 *
 * No quantum begins unless the thread's private reserve of memory is whole. One
 * that lacks some of it passes its wake on, so that another thread may take the
 * item, and sleeps until the janitor has made more; after
 * DECODER_RESERVE_TRIES it goes on as it is: a kernel call is better than
 * silence.
 *
 * No file takes more than half a CPU: after DECODER_BURST_NS of work the thread
 * sleeps a little longer than it ran, whatever is posted. It goes on only while
 * something is urgent and sound is made so fast that the lanes cannot keep up,
 * by which urgency ends: a slow decoder, however short its quanta, is no
 * reason. Who takes over a turn takes over what has been run in it. In that
 * sleep a post makes it serve the lanes, which have their deadlines and cost
 * little; streams can wait, since their rings hold several times as much. The
 * revolution stands still meanwhile: nobody loses a turn by it. */
#include "daemon/engine/decoders.h"

#include "daemon/engine/lane.h"
#include "daemon/engine/stream.h"
#include "lib/base/clock.h"
#include "lib/base/list.h"
#include "lib/sync/snapshot.h"
#include "lib/zone/zone.h"

#include <time.h>

/* A round's findings. */
struct round {
	uint32_t seen;   /* event count at its beginning */
	uint32_t idle;   /* pulls in a row that found nothing */
	uint64_t stream; /* the first that had work since the last sleep */
	bool chained;    /* the next sleeper was woken */
	bool urgent;     /* something was, since the last sleep */
};

static RT_SAFE struct item *
item_of(struct rotary_node *node)
{
	return list_entry(node, struct item, node);
}

static RT_SAFE struct stream *
stream_of(struct item *item)
{
	return list_entry(item, struct stream, item);
}

static RT_SAFE struct lane *
lane_of(struct item *item)
{
	return list_entry(item, struct lane, item);
}

/* In the signal handler, on the thread itself: a spare takes over. */
RT_DEVICE void
decoder_on_overrun(void *context)
{
	struct decoder_thread *self = context;
	struct decoders *decoders = self->decoders;

	atomic_store(&self->demoted_ns, clock_now_ns());
	atomic_fetch_add(&decoders->debt_ns,
			 self->ran_ns + clock_thread_cpu_ns() - self->begin_ns);
	atomic_store_explicit(&self->state, DECODER_DEMOTED,
			      memory_order_release);
	bell_ring(decoders->bell, RT_EVENT_OVERRUN, 0, self->item_id,
		  self->index);
	atomic_fetch_add(&decoders->turns, 1);
	wake_post(&decoders->park);
}

/* The stream keeps count, control judges. */
static RT_DEVICE void
note_overrun(const struct decoder_thread *self, struct item *item)
{
	const int64_t waited_ns =
		clock_now_ns() - atomic_load(&self->demoted_ns);

	if (item->kind == ITEM_STREAM) {
		struct stream *stream = stream_of(item);

		stream->clean_steps = 0;
		atomic_fetch_add_explicit(&stream->overrun_ns, waited_ns,
					  memory_order_relaxed);
		atomic_fetch_add_explicit(&stream->overruns, 1,
					  memory_order_relaxed);
	}
}

static RT_SAFE uint32_t
count_items(const struct decoders *decoders)
{
	return atomic_load_explicit(&decoders->items, memory_order_relaxed);
}

/* The share of each in a round in which all are urgent. */
static RT_SAFE int64_t
urgent_quantum_ns(const struct decoders *decoders)
{
	const int64_t share_ns = DECODER_ROUND_NS * decoders->wanted /
				 (count_items(decoders) + 1);

	return share_ns < STREAM_QUANTUM_NS ? share_ns : STREAM_QUANTUM_NS;
}

static RT_DEVICE enum item_work
decode(struct decoder_thread *self, struct stream *stream)
{
	const uint64_t before = pcm_ring_written(&stream->pcm);
	const enum item_work work =
		stream_quantum(stream, urgent_quantum_ns(self->decoders));
	const uint64_t frames = pcm_ring_written(&stream->pcm) - before;

	if (frames > 0)
		self->made_ns +=
			clock_frames_to_ns(frames, stream->spec.rate_hz);
	return work;
}

static RT_DEVICE enum item_work
run_item(struct decoder_thread *self, struct item *item,
	 const struct plan *plan)
{
	enum item_work work;
	int64_t used_ns;

	self->begin_ns = clock_thread_cpu_ns();
	atomic_store_explicit(&self->item, item, memory_order_release);
	self->item_id =
		item->kind == ITEM_STREAM ? stream_of(item)->id : UINT64_MAX;
	if (item->kind == ITEM_STREAM)
		rt_set_subject(&stream_of(item)->subject);
	rt_budget_start(&self->budget);
	if (item->kind == ITEM_STREAM)
		work = decode(self, stream_of(item));
	else
		work = lane_quantum(lane_of(item), plan);
	if (rt_budget_stop(&self->budget))
		note_overrun(self, item);
	rt_set_subject(NULL);
	atomic_store_explicit(&self->item, NULL, memory_order_release);
	used_ns = clock_thread_cpu_ns() - self->begin_ns;
	self->ran_ns += used_ns;
	rt_note_quantum(&self->figures, used_ns);
	return work;
}

static RT_SAFE bool
is_calm(const struct decoders *decoders)
{
	const int64_t until_ns = atomic_load_explicit(&decoders->calm_until_ns,
						      memory_order_relaxed);

	return until_ns != 0 && clock_now_ns() < until_ns;
}

/* With the claim held. */
static RT_DEVICE enum item_work
try_item(struct decoder_thread *self, struct item *item)
{
	struct snapshot *plans = self->decoders->plans;
	enum item_work work = ITEM_IDLE;
	const struct plan *plan;

	if (item->kind == ITEM_STREAM) {
		if (stream_wants_quantum(stream_of(item)) &&
		    (stream_is_urgent(stream_of(item)) ||
		     !is_calm(self->decoders)))
			work = run_item(self, item, NULL);
		return work;
	}
	plan = snapshot_enter(plans, self->reader);
	if (lane_wants_quantum(lane_of(item), plan))
		work = run_item(self, item, plan);
	snapshot_leave(plans, self->reader);
	return work;
}

static RT_SAFE void
begin_round(struct decoder_thread *self, struct round *round)
{
	round->seen = wake_prepare(self->decoders->wake);
	round->idle = 0;
}

/* The second stream with work is reason enough to wake one more. */
static RT_DEVICE void
chain_wake(struct decoder_thread *self, struct item *item, struct round *round)
{
	uint64_t id;

	if (item->kind != ITEM_STREAM || round->chained)
		return;
	id = stream_of(item)->id;
	if (round->stream == 0)
		round->stream = id;
	if (round->stream == id)
		return;
	round->chained = true;
	wake_post(self->decoders->wake);
}

static RT_SAFE uint32_t
items_to_look_at(const struct decoders *decoders)
{
	return count_items(decoders) + DECODER_ROUND_SLACK;
}

static RT_DEVICE bool
was_demoted(const struct decoder_thread *self)
{
	return atomic_load_explicit(&self->state, memory_order_relaxed) ==
	       DECODER_DEMOTED;
}

/* One pull. */
static RT_DEVICE void
turn(struct decoder_thread *self, struct round *round)
{
	struct decoders *decoders = self->decoders;
	struct hazard_reader *hazard = &decoders->hazards->readers[self->index];
	struct rotary_node *node = rotary_pull(decoders->set, hazard);
	struct item *item;
	enum item_work work;
	bool bounced;

	round->idle++;
	if (node == NULL)
		return;
	item = item_of(node);
	if (item_claim(item)) {
		work = try_item(self, item);
		if (work != ITEM_IDLE) {
			chain_wake(self, item, round);
			round->urgent |= work == ITEM_URGENT;
		}
		bounced = item_release(item);
		if (work != ITEM_IDLE || bounced)
			begin_round(self, round);
		/* This thread looks no more; those that bounced must. */
		if (was_demoted(self))
			wake_post_all(decoders->wake);
	}
	rotary_release(hazard);
}

/* True when a turn was free and is ours now. */
static RT_SAFE bool
take_turn(struct decoders *decoders)
{
	uint32_t turns = atomic_load(&decoders->turns);

	while (turns > 0)
		if (atomic_compare_exchange_weak(&decoders->turns, &turns,
						 turns - 1))
			return true;
	return false;
}

static RT_DEVICE bool
is_stopped(struct decoders *decoders)
{
	return atomic_load_explicit(&decoders->stop, memory_order_acquire) != 0;
}

static RT_DEVICE void
park(struct decoder_thread *self)
{
	struct decoders *decoders = self->decoders;

	const bool demoted = was_demoted(self);

	if (self->marked)
		zone_thread_rest();
	atomic_store_explicit(&self->state, DECODER_PARKED,
			      memory_order_release);
	if (demoted) {
		atomic_store_explicit(&self->returned, 1, memory_order_release);
		bell_ring(decoders->bell, ENGINE_EVENT_LOOK, 0, 0, 0);
	}
	for (;;) {
		const uint32_t seen = wake_prepare(&decoders->park);

		if (is_stopped(decoders) || take_turn(decoders))
			break;
		wake_wait(&decoders->park, seen, -1);
	}
	atomic_store_explicit(&self->state, DECODER_ACTIVE,
			      memory_order_release);
	self->ran_ns = atomic_exchange(&decoders->debt_ns, 0);
	self->made_ns = 0;
}

static RT_SAFE void
forget_burst(struct decoder_thread *self)
{
	self->ran_ns = 0;
	self->made_ns = 0;
}

/* True when it should be looked at again. */
static RT_DEVICE bool
serve_lane(struct decoder_thread *self, struct lane *lane)
{
	bool worked;

	if (lane == NULL || !item_claim(&lane->item))
		return false;
	worked = try_item(self, &lane->item) != ITEM_IDLE;
	return item_release(&lane->item) || worked;
}

/* Without a pull: the head stays where it is, and who is next after the rest
 * is who was next before it. */
static RT_DEVICE void
serve_lanes(struct decoder_thread *self)
{
	struct decoders *decoders = self->decoders;
	unsigned at = 0, left = LANE_COUNT;

	while (left-- > 0 && !was_demoted(self)) {
		struct lane *lane = atomic_load_explicit(&decoders->lanes[at],
							 memory_order_acquire);

		if (serve_lane(self, lane))
			left = LANE_COUNT;
		at = (at + 1) % LANE_COUNT;
	}
}

/* Sleeps until there is a post. What it is for may be a command that is waited
 * for, and what the lanes need is there: they come first. */
static RT_DEVICE void
sleep_idle(struct decoder_thread *self, struct round *round)
{
	const int64_t begin_ns = clock_now_ns();

	(void)wake_wait(self->decoders->wake, round->seen, -1);
	self->ran_ns -= clock_now_ns() - begin_ns;
	if (self->ran_ns <= 0)
		forget_burst(self);
	*round = (struct round){0};
	begin_round(self, round);
	serve_lanes(self);
}

/* For as long as it ran, and a quarter more for what else of us runs; while
 * something is being opened, which somebody waits for, for several times as
 * long. */
static RT_DEVICE int64_t
rest_ns(const struct decoder_thread *self)
{
	return is_calm(self->decoders) ? self->ran_ns * DECODER_CALM_RESTS
				       : self->ran_ns + self->ran_ns / 4;
}

static RT_DEVICE void
rest(struct decoder_thread *self, struct round *round)
{
	struct decoders *decoders = self->decoders;
	const int64_t until_ns = clock_now_ns() + rest_ns(self);

	forget_burst(self);
	while (!is_stopped(decoders) && !was_demoted(self)) {
		const uint32_t seen = wake_prepare(decoders->wake);
		int64_t left_ns;

		serve_lanes(self);
		left_ns = until_ns - clock_now_ns();
		if (left_ns <= 0)
			break;
		if (!wake_wait(decoders->wake, seen, left_ns))
			rt_note_wakeup(&self->figures,
				       clock_now_ns() - until_ns);
	}
	if (was_demoted(self))
		wake_post_all(decoders->wake);
	*round = (struct round){0};
	begin_round(self, round);
}

/* Urgent, and soon no more. */
static RT_SAFE bool
may_hurry(const struct decoder_thread *self, const struct round *round)
{
	return round->urgent && self->made_ns / DECODER_HASTE >= self->ran_ns;
}

/* While something is being opened what is urgent goes on too, but in short
 * turns. */
static RT_SAFE bool
has_burst(const struct decoder_thread *self)
{
	if (self->ran_ns >= DECODER_BURST_NS)
		return true;
	return self->ran_ns >= DECODER_CALM_BURST_NS && is_calm(self->decoders);
}

/* At the end of a burst. */
static RT_DEVICE void
pause_burst(struct decoder_thread *self, struct round *round)
{
	if (may_hurry(self, round) && !is_calm(self->decoders)) {
		forget_burst(self);
		round->urgent = false;
	} else {
		rest(self, round);
	}
}

/* False: wait, and ask again. */
static RT_DEVICE bool
has_reserve(struct decoder_thread *self)
{
	static const struct timespec pause = {.tv_nsec = DECODER_RESERVE_NS};

	const bool is_ready = !self->marked || zone_thread_is_ready();

	zone_janitor_wake();
	if (is_ready) {
		self->unready = 0;
		return true;
	}
	if (self->unready == DECODER_RESERVE_TRIES)
		return true;
	if (self->unready == 0)
		wake_post(self->decoders->wake);
	self->unready++;
	atomic_fetch_add_explicit(self->unready == DECODER_RESERVE_TRIES
					  ? &self->reserve_missed
					  : &self->reserve_waits,
				  1, memory_order_relaxed);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	return false;
}

RT_DEVICE void
decoder_loop(struct decoder_thread *self)
{
	struct decoders *decoders = self->decoders;
	struct round round = {0};

	park(self);
	begin_round(self, &round);
	while (!is_stopped(decoders)) {
		if (was_demoted(self)) {
			park(self);
			begin_round(self, &round);
		}
		if (has_burst(self)) {
			pause_burst(self, &round);
			continue;
		}
		if (!has_reserve(self))
			continue;
		turn(self, &round);
		if (round.idle > items_to_look_at(decoders))
			sleep_idle(self, &round);
	}
}

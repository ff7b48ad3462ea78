/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lane_rt.c - the quantum of a lane.
 *
 * It follows the plan (a new cut begins the deck that is free), then takes from
 * the streams in order until the deck is full, the streams have nothing, or the
 * quantum is over. Bursts: from half of what a deck holds ahead until it is
 * full. A deck is never short while a stream has frames.
 *
 * Where two songs overlap, both are taken from until the first is over.
 *
 * A stream is entered once, in one cut: taken_cut says in which. Leaving it
 * tells control, which may free it when the plans that name it have passed.
 * Invariant: lane->stream is 0 or was entered in lane->cut. */
#include "daemon/engine/bell.h"
#include "daemon/engine/lane.h"
#include "daemon/engine/stream.h"

enum { PRIMED_PARTS_OF_SECOND = 20 }; /* 50 ms, as the output thread wants */

void
lane_init(struct lane *lane, enum lane_id id, struct mix_bus *bus,
	  const struct bell *bell)
{
	item_init(&lane->item, ITEM_LANE);
	lane->id = id;
	lane->bus = bus;
	lane->bell = bell;
}

/* What the deck holds beyond its history, at most. */
static RT_SAFE size_t
ahead_frames(const struct deck *deck)
{
	return deck->ring.capacity_frames - deck->ring.history_frames;
}

static RT_SAFE int
free_deck(const struct lane *lane)
{
	int i;

	for (i = 0; i < LANE_DECKS; i++)
		if (atomic_load_explicit(&lane->bus->decks[lane->id][i].state,
					 memory_order_acquire) == DECK_FREE)
			return i;
	return -1;
}

/* Begins the plan's cut; false: it must wait for a deck. */
static RT_SAFE bool
begin_cut(struct lane *lane, const struct plan *plan)
{
	const uint64_t cut = plan->mix.lanes[lane->id].cut;
	const int deck = free_deck(lane);

	if (deck < 0 || !deck_begin(&lane->bus->decks[lane->id][deck], cut))
		return false;
	lane->decks = plan->decks;
	lane->cut = cut;
	lane->deck = (unsigned)deck;
	lane->rate_hz = plan->rate_hz;
	lane->stream = 0;
	lane->bursting = true;
	lane->told_output = false;
	lane->ended = false;
	lane->stretch = (struct deck_stretch){0};
	lane->voice.resampler = NULL;
	lane->overlap.tail = 0;
	atomic_store_explicit(&lane->bus->lane_filling[lane->id],
			      (uint32_t)deck, memory_order_release);
	return true;
}

static RT_SAFE bool
is_on_cut(const struct lane *lane, const struct plan *plan)
{
	return lane->decks == plan->decks &&
	       lane->cut == plan->mix.lanes[lane->id].cut;
}

static RT_DEVICE void
go_astray(struct lane *lane, const struct plan *plan)
{
	if (lane->astray_generation == plan->mix.generation)
		return;
	lane->astray_generation = plan->mix.generation;
	bell_ring(lane->bell, ENGINE_EVENT_ASTRAY, lane->id, lane->cut,
		  lane->stream);
}

static RT_DEVICE void
leave(struct lane *lane, struct stream *stream)
{
	atomic_store_explicit(&stream->left, 1, memory_order_release);
	bell_ring(lane->bell, ENGINE_EVENT_LEFT, lane->id, stream->id, 0);
}

/* Whether the deck holds all there is until more comes. */
static RT_SAFE void
await(struct lane *lane, bool more)
{
	atomic_store_explicit(&lane->bus->lane_awaits[lane->id],
			      more ? lane->cut : 0, memory_order_release);
}

/* Goes from entry index (-1: from nothing) to the next. */
static RT_DEVICE bool
enter_next(struct lane *lane, const struct plan *plan, int index)
{
	const struct plan_lane *planned = &plan->lanes[lane->id];
	const struct plan_entry *next = &planned->entries[index + 1];
	struct stream *stream = next->stream;
	const uint64_t before =
		atomic_load_explicit(&stream->taken_cut, memory_order_relaxed);

	if (before != 0) {
		go_astray(lane, plan);
		return false;
	}
	if (next->resampler != lane->voice.resampler && !lane_flush(lane))
		return false;
	if (index < 0 || planned->entries[index].stream->root != stream->root)
		lane->song_begin = pcm_ring_written(&lane_deck(lane)->ring);
	if (index >= 0)
		leave(lane, planned->entries[index].stream);
	await(lane, false);
	atomic_store_explicit(&stream->taken_cut, lane->cut,
			      memory_order_release);
	lane->stream = stream->id;
	lane_voice_init(&lane->voice, next, plan->channels,
			pcm_ring_written(&lane_deck(lane)->ring));
	return true;
}

static RT_DEVICE void
end_deck(struct lane *lane, struct stream *last)
{
	if (!lane_flush(lane))
		return;
	if (last != NULL)
		leave(lane, last);
	pcm_ring_end(&lane_deck(lane)->ring);
	lane->ended = true;
	bell_ring(lane->bell, RT_EVENT_LANE_AT_END, lane->id, lane->cut, 0);
}

/* The song goes on in a chain link that is not planned yet. */
static RT_SAFE bool
awaits_link(const struct plan_lane *planned, int index)
{
	const struct stream *stream = planned->entries[index].stream;

	if (atomic_load_explicit(&stream->link_awaited, memory_order_acquire) ==
	    0)
		return false;
	index++;
	return (uint32_t)index >= planned->count ||
	       planned->entries[index].stream->parent != stream->id;
}

/* What was to follow did not come while there was something to be heard. */
static RT_SAFE bool
is_spent(const struct lane *lane)
{
	return atomic_load_explicit(&lane->bus->lane_spent[lane->id],
				    memory_order_acquire) == lane->cut;
}

/* The entry to take from, or NULL: wait. */
static RT_DEVICE const struct plan_entry *
current_entry(struct lane *lane, const struct plan *plan)
{
	const struct plan_lane *planned = &plan->lanes[lane->id];

	for (;;) {
		struct stream *stream = NULL;
		int index = -1;

		if (lane->stream != 0) {
			index = plan_find(planned, lane->stream);
			if (index < 0) {
				go_astray(lane, plan);
				return NULL;
			}
			stream = planned->entries[index].stream;
			if (!pcm_ring_at_end(&stream->pcm))
				return &planned->entries[index];
			if (awaits_link(planned, index))
				return NULL;
		}
		if ((uint32_t)(index + 1) >= planned->count) {
			await(lane, planned->open);
			if (planned->final || is_spent(lane))
				end_deck(lane, stream);
			return NULL;
		}
		if (!enter_next(lane, plan, index))
			return NULL;
	}
}

/* What it has mixed is not what the plan now says: it stands in a stream that
 * is not planned any more, or its deck, which takes nothing more and gives
 * nothing back, has ended and the plan has more behind it, or ends before. */
static RT_SAFE bool
is_overtaken(const struct lane *lane, const struct plan *plan)
{
	const struct plan_lane *planned = &plan->lanes[lane->id];
	const int index =
		lane->stream == 0 ? -1 : plan_find(planned, lane->stream);

	if (index >= 0 || lane->stream == 0)
		return lane->ended && (uint32_t)(index + 1) < planned->count;
	return !lane->ended || planned->count > 0 ||
	       lane->stream != planned->before;
}

RT_DEVICE bool
lane_wants_quantum(struct lane *lane, const struct plan *plan)
{
	const struct deck *deck;

	if (plan == NULL || plan->decks == 0 ||
	    plan->mix.lanes[lane->id].cut == 0)
		return false;
	if (!is_on_cut(lane, plan))
		return free_deck(lane) >= 0;
	if (is_overtaken(lane, plan)) {
		go_astray(lane, plan);
		return false;
	}
	if (lane->ended)
		return false;
	deck = lane_deck(lane);
	if (pcm_ring_writable(&deck->ring) == 0)
		lane->bursting = false;
	else if (pcm_ring_readable(&deck->ring) < ahead_frames(deck) / 2)
		lane->bursting = true;
	return lane->bursting;
}

static RT_SAFE bool
is_primed(const struct lane *lane, const struct deck *deck)
{
	size_t primed = lane->rate_hz / PRIMED_PARTS_OF_SECOND;

	if (primed > ahead_frames(deck) / 2)
		primed = ahead_frames(deck) / 2;
	return lane->ended || pcm_ring_readable(&deck->ring) >= primed;
}

/* The output thread sleeps while it has nothing to mix; it is told when there
 * is enough for the cut to begin, and when there is enough again. */
static RT_DEVICE void
tell_output(struct lane *lane, const struct deck *deck)
{
	bool dry = false;

	if (!is_primed(lane, deck))
		return;
	dry = atomic_exchange_explicit(&lane->bus->lane_dry[lane->id], 0,
				       memory_order_acq_rel) != 0;
	if (lane->told_output && !dry)
		return;
	lane->told_output = true;
	bell_tell_output(lane->bell);
}

/* From the stream that is due, up to where the next one is to be heard with
 * it. 0: nothing can be taken now. */
static RT_DEVICE size_t
take(struct lane *lane, const struct plan *plan, size_t limit)
{
	const struct plan_lane *planned = &plan->lanes[lane->id];
	const struct plan_entry *entry = current_entry(lane, plan);
	uint64_t distance, frames = 0;
	int index;

	if (entry == NULL)
		return 0;
	index = (int)(entry - planned->entries);
	distance = lane_overlap_distance(lane, planned, index, &frames);
	if (distance > 0)
		return lane_take(lane, entry,
				 distance < limit ? (size_t)distance : limit);
	if (lane_overlap_begin(lane, plan, index, frames))
		await(lane, false);
	return 0;
}

/* From two streams; 0: nothing can be taken now, or the overlap is over. */
static RT_DEVICE size_t
take_both(struct lane *lane, const struct plan *plan, size_t limit)
{
	const struct plan_lane *planned = &plan->lanes[lane->id];
	const int head = plan_find(planned, lane->stream);
	const int tail = plan_find(planned, lane->overlap.tail);
	enum lane_overlap_step step = LANE_OVERLAP_OVER;
	size_t frames = 0;

	if (head < 0) {
		go_astray(lane, plan);
		return 0;
	}
	if (tail >= 0)
		step = lane_overlap_step(lane, &planned->entries[tail],
					 &planned->entries[head], limit,
					 &frames);
	if (step != LANE_OVERLAP_OVER)
		return frames;
	if (tail >= 0)
		leave(lane, planned->entries[tail].stream);
	lane->overlap.tail = 0;
	lane->stretch_end = lane_song_frame(planned->entries[head].stream);
	atomic_store_explicit(&planned->entries[head].stream->mixed_until,
			      lane->stretch_end, memory_order_release);
	return 0;
}

RT_DEVICE enum item_work
lane_quantum(struct lane *lane, const struct plan *plan)
{
	const struct deck *deck;
	size_t done = 0;

	if (!is_on_cut(lane, plan) && !begin_cut(lane, plan))
		return ITEM_IDLE;
	deck = lane_deck(lane);
	while (done < LANE_QUANTUM_FRAMES) {
		const uint64_t tail = lane->overlap.tail;
		const size_t limit = LANE_QUANTUM_FRAMES - done;
		const size_t count = tail != 0 ? take_both(lane, plan, limit)
					       : take(lane, plan, limit);

		if (count == 0 && lane->overlap.tail == tail)
			break;
		done += count;
	}
	tell_output(lane, deck);
	if (done == 0)
		return ITEM_IDLE;
	return pcm_ring_readable(&deck->ring) < ahead_frames(deck) / 4
		       ? ITEM_URGENT
		       : ITEM_WORKED;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deck.c - a ring of frames and a ring of the stretches in it.
 *
 *   stretches_dropped <= stretches_written <= stretches_dropped +
 * DECK_STRETCHES
 *
 * Ordering: a stretch is stored, then stretches_written is raised by release,
 * then its first frame is committed by release of the ring's own count. So a
 * reader that asks the ring how much is written before it looks at the list
 * finds the stretch of every frame that it may read. Dropping is the same the
 * other way round. FREE is stored by release after the output thread's last
 * look at the deck, and read by acquire before the lane resets it.
 *
 * The last stretch that begins at or before a frame is never dropped for that
 * frame, so deck_stretch_at() needs no memory of its own. */
#include "daemon/output/deck.h"

#include "daemon/output/mix_plan.h"

_Static_assert((DECK_STRETCHES & (DECK_STRETCHES - 1)) == 0,
	       "free-running counts wrap at a power of two");
_Static_assert(offsetof(struct deck, stretches_written) % CACHE_LINE == 0 &&
		       offsetof(struct deck, stretches_dropped) % CACHE_LINE ==
			       0,
	       "the two sides never share a cache line");

/* The buffer itself, two fades beside each other, how far ahead the mixer
 * looks, and some slack for a card that reports its position in steps. */
size_t
deck_history_frames(uint32_t buffer_frames, uint32_t rate_hz)
{
	const uint64_t fade = (uint64_t)rate_hz * MIX_FADE_US / 1000000 + 1;

	return buffer_frames + (size_t)(6 * fade) + 256;
}

void
deck_init(struct deck *deck, void *buffer, size_t capacity_frames,
	  uint32_t channels, size_t history_frames)
{
	pcm_ring_init(&deck->ring, buffer, capacity_frames, channels,
		      history_frames);
	atomic_store_explicit(&deck->cut, 0, memory_order_relaxed);
	atomic_store_explicit(&deck->stretches_written, 0,
			      memory_order_relaxed);
	atomic_store_explicit(&deck->stretches_dropped, 0,
			      memory_order_relaxed);
	atomic_store_explicit(&deck->state, DECK_FREE, memory_order_release);
}

RT_SAFE bool
deck_begin(struct deck *deck, uint64_t cut)
{
	if (atomic_load_explicit(&deck->state, memory_order_acquire) !=
	    DECK_FREE)
		return false;
	pcm_ring_reset(&deck->ring);
	atomic_store_explicit(&deck->stretches_written, 0,
			      memory_order_relaxed);
	atomic_store_explicit(&deck->stretches_dropped, 0,
			      memory_order_relaxed);
	atomic_store_explicit(&deck->cut, cut, memory_order_relaxed);
	atomic_store_explicit(&deck->state, DECK_FILLING, memory_order_release);
	return true;
}

RT_SAFE bool
deck_add_stretch(struct deck *deck, const struct deck_stretch *stretch)
{
	const uint64_t written = atomic_load_explicit(&deck->stretches_written,
						      memory_order_relaxed);
	const uint64_t dropped = atomic_load_explicit(&deck->stretches_dropped,
						      memory_order_acquire);

	if (written - dropped >= DECK_STRETCHES)
		return false;
	deck->stretches[written % DECK_STRETCHES] = *stretch;
	atomic_store_explicit(&deck->stretches_written, written + 1,
			      memory_order_release);
	return true;
}

RT_SAFE void
deck_release(struct deck *deck)
{
	atomic_store_explicit(&deck->state, DECK_FREE, memory_order_release);
}

RT_SAFE bool
deck_stretch_at(const struct deck *deck, uint64_t frame,
		struct deck_stretch *ret_stretch, uint64_t *ret_next_frame)
{
	const uint64_t written = atomic_load_explicit(&deck->stretches_written,
						      memory_order_acquire);
	const uint64_t dropped = atomic_load_explicit(&deck->stretches_dropped,
						      memory_order_relaxed);
	const struct deck_stretch *found = NULL;
	uint64_t next = UINT64_MAX;
	uint64_t i = 0;

	for (i = dropped; i < written; i++) {
		const struct deck_stretch *stretch =
			&deck->stretches[i % DECK_STRETCHES];

		if (stretch->first_frame > frame) {
			next = stretch->first_frame;
			break;
		}
		found = stretch;
	}
	if (found == NULL)
		return false;
	*ret_stretch = *found;
	*ret_next_frame = next;
	return true;
}

/* `ended` is asked for before the list and the count, so that it speaks of all
 * of both. */
RT_SAFE enum deck_end
deck_stream_end(const struct deck *deck, uint64_t frame, uint64_t stream_id,
		uint64_t *ret_end)
{
	const bool ended = pcm_ring_ended(&deck->ring);
	const uint64_t written = atomic_load_explicit(&deck->stretches_written,
						      memory_order_acquire);
	uint64_t i = atomic_load_explicit(&deck->stretches_dropped,
					  memory_order_relaxed);
	bool found = false;

	for (; i < written; i++) {
		const struct deck_stretch *stretch =
			&deck->stretches[i % DECK_STRETCHES];

		if (stretch->stream_id == stream_id) {
			found = true;
		} else if (found && stretch->first_frame >= frame) {
			*ret_end = stretch->first_frame;
			return DECK_END_KNOWN;
		} else {
			found = false;
		}
	}
	if (!found)
		return DECK_END_NONE;
	if (!ended)
		return DECK_END_OPEN;
	*ret_end = pcm_ring_written(&deck->ring);
	return DECK_END_KNOWN;
}

RT_SAFE void
deck_drop_stretches(struct deck *deck, uint64_t frame)
{
	const uint64_t written = atomic_load_explicit(&deck->stretches_written,
						      memory_order_acquire);
	uint64_t dropped = atomic_load_explicit(&deck->stretches_dropped,
						memory_order_relaxed);

	while (dropped + 1 < written &&
	       deck->stretches[(dropped + 1) % DECK_STRETCHES].first_frame <=
		       frame)
		dropped++;
	atomic_store_explicit(&deck->stretches_dropped, dropped,
			      memory_order_release);
}

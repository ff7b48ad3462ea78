/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.c - a seqlock whose data words are atomic, and the arithmetic of
 * what is heard.
 *
 * Ordering, without stand-alone fences: the writer makes the sequence odd, then
 * stores every word by release; a reader loads every word by acquire, then the
 * sequence again. A reader that got one word of a publication thus also sees
 * its odd sequence or a later one, and tries again. The last store, of the even
 * sequence, is a release that the reader's first load pairs with. */
#include "lib/sync/timeline.h"

#include "lib/base/clock.h"

#include <string.h>

enum { TIMELINE_WORDS = sizeof(struct timeline_view) / sizeof(uint64_t) };

_Static_assert(sizeof(struct timeline_view) % sizeof(uint64_t) == 0,
	       "a view is made of whole words");
_Static_assert(offsetof(struct timeline, sequence) % CACHE_LINE == 0,
	       "a timeline begins a cache line");

void
timeline_init(struct timeline *timeline)
{
	size_t i = 0;

	atomic_init(&timeline->sequence, 0);
	for (i = 0; i < TIMELINE_WORDS; i++)
		atomic_init(&timeline->words[i], 0);
}

RT_SAFE void
timeline_publish(struct timeline *timeline, const struct timeline_view *view)
{
	const uint32_t sequence =
		atomic_load_explicit(&timeline->sequence, memory_order_relaxed);
	const char *bytes = (const void *)view;
	size_t i = 0;

	atomic_store_explicit(&timeline->sequence, sequence + 1,
			      memory_order_relaxed);
	for (i = 0; i < TIMELINE_WORDS; i++) {
		uint64_t word = 0;

		memcpy(&word, bytes + i * sizeof(word), sizeof(word));
		atomic_store_explicit(&timeline->words[i], word,
				      memory_order_release);
	}
	atomic_store_explicit(&timeline->sequence, sequence + 2,
			      memory_order_release);
}

/* False when a publication ran meanwhile. */
static RT_SAFE bool
try_read(const struct timeline *timeline, struct timeline_view *ret_view)
{
	const uint32_t sequence =
		atomic_load_explicit(&timeline->sequence, memory_order_acquire);
	char *bytes = (void *)ret_view;
	size_t i = 0;

	if (sequence % 2 != 0)
		return false;
	for (i = 0; i < TIMELINE_WORDS; i++) {
		const uint64_t word = atomic_load_explicit(
			&timeline->words[i], memory_order_acquire);

		memcpy(bytes + i * sizeof(word), &word, sizeof(word));
	}
	return atomic_load_explicit(&timeline->sequence,
				    memory_order_relaxed) == sequence;
}

RT_SAFE void
timeline_read(const struct timeline *timeline, struct timeline_view *ret_view)
{
	while (!try_read(timeline, ret_view))
		continue;
}

RT_SAFE uint64_t
timeline_heard_frame(const struct timeline_view *view, int64_t now_ns)
{
	uint64_t delay = view->delay_frames;
	uint64_t played = 0;

	if (delay > view->written_frames)
		delay = view->written_frames;
	if (view->running != 0 && view->rate_hz != 0 && now_ns > view->time_ns)
		played = clock_ns_to_frames(now_ns - view->time_ns,
					    view->rate_hz);
	if (played > delay)
		played = delay;
	return view->written_frames - delay + played;
}

/* frames of the card as frames of a stream at another rate. */
static RT_SAFE uint64_t
frames_at_rate(uint64_t frames, uint32_t from_hz, uint32_t to_hz)
{
	if (from_hz == to_hz || from_hz == 0)
		return frames;
	return frames / from_hz * to_hz + frames % from_hz * to_hz / from_hz;
}

RT_SAFE bool
timeline_heard(const struct timeline_view *view, uint32_t lane, int64_t now_ns,
	       struct timeline_point *ret_point)
{
	const uint64_t heard = timeline_heard_frame(view, now_ns);
	const struct timeline_point *found = NULL;
	uint32_t i = 0;

	for (i = 0; i < view->point_count && i < TIMELINE_POINTS; i++) {
		const struct timeline_point *point = &view->points[i];

		if (point->output_frame > heard)
			break;
		if (point->lane == lane)
			found = point;
	}
	if (found == NULL || found->stream_id == 0)
		return false;
	*ret_point = *found;
	ret_point->stream_frame +=
		frames_at_rate(heard - found->output_frame, view->rate_hz,
			       found->stream_rate_hz);
	return true;
}

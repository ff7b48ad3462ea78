/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tap.c - a ring that is claimed, then written.
 *
 *   claimed - capacity <= frames that a reader may trust < claimed
 *
 * Ordering, without stand-alone fences, as in timeline.c: `claimed` is raised
 * before any frame is stored, each by release; a reader loads each by acquire,
 * and `claimed` after them. So a reader that got one sample of what was written
 * over its frames sees that they were claimed. Frames that are mixed again have
 * not been heard, so nobody has asked for them.
 *
 * `first` is where a mix was begun that nobody wanted before: what stands in
 * the ring before it is of no meaning. It is stored by release before the first
 * frame; a publication follows on both.
 *
 * A turn is told before any frame is written anew: stored, counted by release,
 * then the frames by release. So who got one new sample and looks at the count
 * afterwards sees the turn. Where the list may have been written over
 * meanwhile, as the count tells, all is new.
 *
 * The ring holds what the writer may be ahead, and SLACK_MS for a reader that
 * is late. */
#include "daemon/output/tap.h"

#include "lib/base/clock.h"
#include "lib/rt/rt.h"

#include <stdlib.h>
#include <string.h>

enum { SLACK_MS = 1000, TRIES = 4, RUNNING = 1, ENDED = 2 };

struct tap *
tap_create(uint32_t rate_hz, uint32_t channels, uint32_t ahead_frames,
	   bool music)
{
	struct tap *tap = aligned_alloc(CACHE_LINE, sizeof(*tap));
	bool locked = false;
	unsigned mix;

	if (tap == NULL)
		return NULL;
	memset((void *)tap, 0, sizeof(*tap));
	tap->rate_hz = rate_hz;
	tap->channels = channels;
	tap->capacity_frames =
		ahead_frames + (uint64_t)rate_hz * SLACK_MS / 1000 + 1;
	tap->bytes = tap->capacity_frames * channels * sizeof(float);
	for (mix = 0; mix < TAP_MIXES; mix++) {
		atomic_store(&tap->first[mix], UINT64_MAX);
		if (mix == TAP_MUSIC && !music)
			continue;
		tap->memory[mix] = rt_pool_map(tap->bytes, &locked);
		if (tap->memory[mix] == NULL) {
			tap_destroy(tap);
			return NULL;
		}
		tap->frames[mix] = tap->memory[mix];
	}
	return tap;
}

void
tap_destroy(struct tap *tap)
{
	unsigned mix;

	if (tap == NULL)
		return;
	for (mix = 0; mix < TAP_MIXES; mix++)
		if (tap->memory[mix] != NULL)
			rt_pool_unmap(tap->memory[mix], tap->bytes);
	free(tap);
}

void
tap_want(struct tap *tap, enum tap_mix mix, bool wanted)
{
	atomic_store_explicit(&tap->wanted[mix], wanted, memory_order_relaxed);
}

RT_SAFE bool
tap_wants(const struct tap *tap, enum tap_mix mix)
{
	return tap->frames[mix] != NULL &&
	       atomic_load_explicit(&tap->wanted[mix], memory_order_relaxed);
}

RT_SAFE void
tap_pass(struct tap *tap, enum tap_mix mix)
{
	if (atomic_load_explicit(&tap->first[mix], memory_order_relaxed) !=
	    UINT64_MAX)
		atomic_store_explicit(&tap->first[mix], UINT64_MAX,
				      memory_order_release);
}

RT_SAFE void
tap_turn_back(struct tap *tap, uint64_t frame)
{
	const uint32_t turns =
		atomic_load_explicit(&tap->turns, memory_order_relaxed);

	if (frame >= atomic_load_explicit(&tap->claimed, memory_order_relaxed))
		return;
	atomic_store_explicit(&tap->turned_to[turns % TAP_TURNS], frame,
			      memory_order_release);
	atomic_store_explicit(&tap->turns, turns + 1, memory_order_release);
}

/* Whole again from frame on; frames may have been left out before. */
static RT_SAFE void
begin(struct tap *tap, enum tap_mix mix, uint64_t frame)
{
	if (atomic_load_explicit(&tap->first[mix], memory_order_relaxed) >
	    frame)
		atomic_store_explicit(&tap->first[mix], frame,
				      memory_order_release);
}

RT_SAFE void
tap_write(struct tap *tap, enum tap_mix mix, uint64_t frame,
	  const float *frames, size_t count)
{
	const uint64_t claimed =
		atomic_load_explicit(&tap->claimed, memory_order_relaxed);
	const uint32_t channels = tap->channels;

	begin(tap, mix, frame);
	if (frame + count > claimed)
		atomic_store_explicit(&tap->claimed, frame + count,
				      memory_order_relaxed);
	while (count > 0) {
		const uint64_t at = frame % tap->capacity_frames;
		ATOMIC(float) *to = tap->frames[mix] + at * channels;
		size_t run = count, i;

		if (run > tap->capacity_frames - at)
			run = (size_t)(tap->capacity_frames - at);
		for (i = 0; i < run * channels; i++)
			atomic_store_explicit(&to[i],
					      frames != NULL ? frames[i] : 0.0F,
					      memory_order_release);
		if (frames != NULL)
			frames += run * channels;
		frame += run;
		count -= run;
	}
}

RT_SAFE void
tap_publish(struct tap *tap, const struct tap_view *view)
{
	const uint32_t sequence =
		atomic_load_explicit(&tap->sequence, memory_order_relaxed);

	atomic_store_explicit(&tap->sequence, sequence + 1,
			      memory_order_relaxed);
	atomic_store_explicit(&tap->mixed, view->mixed, memory_order_release);
	atomic_store_explicit(&tap->heard, view->heard, memory_order_release);
	atomic_store_explicit(&tap->time_ns, view->time_ns,
			      memory_order_release);
	atomic_store_explicit(&tap->lead_frames, view->lead_frames,
			      memory_order_release);
	atomic_store_explicit(
		&tap->published_turns,
		atomic_load_explicit(&tap->turns, memory_order_relaxed),
		memory_order_release);
	atomic_store_explicit(&tap->flags,
			      (view->running ? RUNNING : 0U) |
				      (view->ended ? ENDED : 0U),
			      memory_order_release);
	atomic_store_explicit(&tap->sequence, sequence + 2,
			      memory_order_release);
}

static RT_SAFE bool
try_look(const struct tap *tap, struct tap_view *ret_view)
{
	const uint32_t sequence =
		atomic_load_explicit(&tap->sequence, memory_order_acquire);
	uint32_t flags;

	if (sequence % 2 != 0)
		return false;
	ret_view->mixed =
		atomic_load_explicit(&tap->mixed, memory_order_acquire);
	ret_view->heard =
		atomic_load_explicit(&tap->heard, memory_order_acquire);
	ret_view->time_ns =
		atomic_load_explicit(&tap->time_ns, memory_order_acquire);
	ret_view->lead_frames =
		atomic_load_explicit(&tap->lead_frames, memory_order_acquire);
	ret_view->turns = atomic_load_explicit(&tap->published_turns,
					       memory_order_acquire);
	flags = atomic_load_explicit(&tap->flags, memory_order_acquire);
	ret_view->running = (flags & RUNNING) != 0;
	ret_view->ended = (flags & ENDED) != 0;
	return atomic_load_explicit(&tap->sequence, memory_order_relaxed) ==
	       sequence;
}

RT_SAFE bool
tap_look(const struct tap *tap, struct tap_view *ret_view)
{
	struct tap_view view;
	unsigned i;

	for (i = 0; i < TRIES; i++) {
		if (try_look(tap, &view)) {
			*ret_view = view;
			return true;
		}
	}
	return false;
}

RT_SAFE uint64_t
tap_first(const struct tap *tap, enum tap_mix mix)
{
	return atomic_load_explicit(&tap->first[mix], memory_order_acquire);
}

RT_SAFE uint32_t
tap_turns(const struct tap *tap)
{
	return atomic_load_explicit(&tap->turns, memory_order_acquire);
}

RT_SAFE uint64_t
tap_turned_to(const struct tap *tap, uint32_t turns)
{
	const uint32_t now = tap_turns(tap);
	uint64_t lowest = UINT64_MAX;
	uint32_t i = turns;

	if (now - turns >= TAP_TURNS)
		return 0;
	for (; i != now; i++) {
		const uint64_t frame = atomic_load_explicit(
			&tap->turned_to[i % TAP_TURNS], memory_order_acquire);

		lowest = frame < lowest ? frame : lowest;
	}
	/* The next one may be being written where the oldest stood. */
	return tap_turns(tap) - turns >= TAP_TURNS ? 0 : lowest;
}

RT_SAFE uint64_t
tap_heard(const struct tap *tap, const struct tap_view *view, int64_t now_ns)
{
	uint64_t heard = view->heard;

	if (view->running && now_ns > view->time_ns)
		heard += clock_ns_to_frames(now_ns - view->time_ns,
					    tap->rate_hz);
	return heard < view->mixed ? heard : view->mixed;
}

static RT_SAFE void
copy(const struct tap *tap, enum tap_mix mix, uint64_t frame, float *out,
     size_t count)
{
	const uint32_t channels = tap->channels;

	while (count > 0) {
		const uint64_t at = frame % tap->capacity_frames;
		const ATOMIC(float) *from = tap->frames[mix] + at * channels;
		size_t run = count, i;

		if (run > tap->capacity_frames - at)
			run = (size_t)(tap->capacity_frames - at);
		for (i = 0; i < run * channels; i++)
			out[i] = atomic_load_explicit(&from[i],
						      memory_order_acquire);
		out += run * channels;
		frame += run;
		count -= run;
	}
}

RT_SAFE bool
tap_read(const struct tap *tap, enum tap_mix mix, int64_t frame, uint64_t until,
	 float *out, size_t count)
{
	const uint64_t first = tap_first(tap, mix);
	const uint64_t end = frame + (int64_t)count > 0
				     ? (uint64_t)(frame + (int64_t)count)
				     : 0;
	uint64_t from = frame > 0 ? (uint64_t)frame : 0;
	const uint64_t to = end < until ? end : until;
	uint64_t claimed;

	from = from > first ? from : first;
	memset(out, 0, count * tap->channels * sizeof(*out));
	if (tap->frames[mix] == NULL || from >= to)
		return true;
	copy(tap, mix, from,
	     out + (size_t)((int64_t)from - frame) * tap->channels,
	     (size_t)(to - from));
	claimed = atomic_load_explicit(&tap->claimed, memory_order_relaxed);
	return claimed <= from + tap->capacity_frames;
}

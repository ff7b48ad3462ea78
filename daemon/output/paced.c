/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paced.c - frame n is played at start + (n - base) / rate, by absolute times,
 * so that no error gathers. When the clock has passed what was written the
 * card has run dry, as hardware does: it stands still and says -EPIPE until it
 * is reset.
 *
 * Ordering: `played` is raised by release after the frames below it were
 * committed, for the storing thread; `stored` by release after they were read,
 * for the output thread that writes over them. */
#include "daemon/output/paced.h"

#include "lib/base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_MS_MIN = 2, PERIOD_MS_MIN = 1 };

void
paced_info(const struct card_request *request, enum card_format format,
	   uint32_t bits, struct card_info *ret_info)
{
	const uint32_t rate_hz = request->spec.rate_hz;
	const uint32_t buffer_ms = request->buffer_ms > BUFFER_MS_MIN
					   ? request->buffer_ms
					   : BUFFER_MS_MIN;
	const uint32_t period_ms = request->period_ms > PERIOD_MS_MIN
					   ? request->period_ms
					   : PERIOD_MS_MIN;

	memset(ret_info, 0, sizeof(*ret_info));
	ret_info->spec.rate_hz = rate_hz;
	ret_info->spec.channels = request->spec.channels;
	ret_info->spec.format = format;
	ret_info->spec.bits = bits;
	ret_info->buffer_frames =
		(uint32_t)((uint64_t)rate_hz * buffer_ms / 1000) + 1;
	ret_info->period_frames =
		(uint32_t)((uint64_t)rate_hz * period_ms / 1000) + 1;
	if (ret_info->period_frames > ret_info->buffer_frames / 2)
		ret_info->period_frames = ret_info->buffer_frames / 2;
	ret_info->can_rewind = request->rewind != 0;
	ret_info->sealable = true;
}

int
paced_init(struct paced *paced, const struct card_info *info,
	   uint32_t spare_frames)
{
	memset((void *)paced, 0, sizeof(*paced));
	paced->frame_bytes =
		card_format_bytes(info->spec.format) * info->spec.channels;
	paced->rate_hz = info->spec.rate_hz;
	paced->buffer_frames = info->buffer_frames;
	paced->ring_frames = info->buffer_frames + spare_frames;
	paced->memory = malloc(paced->ring_frames * paced->frame_bytes);
	if (paced->memory == NULL)
		return -ENOMEM;
	/* Written, so that the output thread meets no page fault there. (Of a
	 * memset() and the malloc() the compiler would make a calloc().) */
	explicit_bzero(paced->memory, paced->ring_frames * paced->frame_bytes);
	return 0;
}

void
paced_finish(struct paced *paced)
{
	free(paced->memory);
	paced->memory = NULL;
}

/* Moves `played` to where it is now; false when the card has run dry. */
static RT_SAFE bool
play(struct paced *paced, int64_t now_ns)
{
	uint64_t position = paced->base;

	if (paced->start_ns != 0)
		position += clock_ns_to_frames(now_ns - paced->start_ns,
					       paced->rate_hz);
	if (position >= paced->written && paced->start_ns != 0) {
		position = paced->written;
		paced->base = position;
		paced->start_ns = 0;
		paced->dry = true;
	}
	atomic_store_explicit(&paced->played, position, memory_order_release);
	return !paced->dry;
}

static RT_SAFE uint64_t
played(const struct paced *paced)
{
	return atomic_load_explicit(&paced->played, memory_order_relaxed);
}

static RT_SAFE uint32_t
room(const struct paced *paced)
{
	const uint64_t stored =
		atomic_load_explicit(&paced->stored, memory_order_acquire);
	const uint64_t queued = paced->written - played(paced);
	const uint64_t kept = paced->written - stored;
	const uint64_t in_buffer = paced->buffer_frames - queued;
	const uint64_t in_ring = paced->ring_frames - kept;

	return (uint32_t)(in_buffer < in_ring ? in_buffer : in_ring);
}

RT_SAFE int
paced_status(struct paced *paced, struct card_status *ret_status)
{
	const int64_t now_ns = clock_now_ns();

	if (!play(paced, now_ns))
		return -EPIPE;
	ret_status->avail_frames = room(paced);
	ret_status->delay_frames = (uint32_t)(paced->written - played(paced));
	ret_status->time_ns = now_ns;
	ret_status->running = paced->start_ns != 0;
	return 0;
}

RT_SAFE int
paced_begin(struct paced *paced, void **ret_memory, size_t *ret_frames)
{
	const size_t at = (size_t)(paced->written % paced->ring_frames);
	size_t frames = room(paced);

	if (frames > paced->ring_frames - at)
		frames = paced->ring_frames - at;
	if (frames < *ret_frames)
		*ret_frames = frames;
	*ret_memory = paced->memory + at * paced->frame_bytes;
	return 0;
}

RT_SAFE int
paced_commit(struct paced *paced, size_t frames)
{
	paced->written += frames;
	return 0;
}

RT_SAFE long
paced_rewind(struct paced *paced, size_t frames)
{
	uint64_t queued = 0;

	if (!play(paced, clock_now_ns()))
		return -EPIPE;
	queued = paced->written - played(paced);
	if (frames > queued)
		frames = (size_t)queued;
	paced->written -= frames;
	return (long)frames;
}

RT_SAFE int
paced_start(struct paced *paced)
{
	paced->start_ns = clock_now_ns();
	return 0;
}

RT_SAFE int
paced_reset(struct paced *paced)
{
	(void)play(paced, clock_now_ns());
	paced->dry = false;
	paced->start_ns = 0;
	paced->written = played(paced);
	paced->base = paced->written;
	return 0;
}

RT_SAFE const void *
paced_read(struct paced *paced, size_t *ret_frames)
{
	const uint64_t stored =
		atomic_load_explicit(&paced->stored, memory_order_relaxed);
	const uint64_t until =
		atomic_load_explicit(&paced->played, memory_order_acquire);
	const size_t at = (size_t)(stored % paced->ring_frames);
	size_t frames = (size_t)(until - stored);

	if (frames > paced->ring_frames - at)
		frames = paced->ring_frames - at;
	*ret_frames = frames;
	return paced->memory + at * paced->frame_bytes;
}

RT_SAFE void
paced_stored(struct paced *paced, size_t frames)
{
	const uint64_t stored =
		atomic_load_explicit(&paced->stored, memory_order_relaxed);

	atomic_store_explicit(&paced->stored, stored + frames,
			      memory_order_release);
}

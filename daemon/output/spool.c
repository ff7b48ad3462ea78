/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spool.c - see spool.h.
 *
 * Ordering: samples are written before `ends` is raised by release, and read
 * after it was exchanged with acquire. `heard` is raised by release after the
 * frames below it were read, for the output thread that writes over them.
 * Halves of 32 bits wrap; they differ by less than 2^31, so their difference
 * is right all the same. */
#include "daemon/output/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TAKEN_SHIFT = 32 };

static RT_SAFE uint64_t
pack(uint32_t written, uint32_t taken)
{
	return written | (uint64_t)taken << TAKEN_SHIFT;
}

static RT_SAFE uint32_t
between(uint64_t ends)
{
	return (uint32_t)ends - (uint32_t)(ends >> TAKEN_SHIFT);
}

int
spool_init(struct spool *spool, size_t frame_bytes, uint32_t ring_frames)
{
	memset((void *)spool, 0, sizeof(*spool));
	spool->frame_bytes = frame_bytes;
	spool->ring_frames = ring_frames;
	spool->memory = malloc(ring_frames * frame_bytes);
	if (spool->memory == NULL)
		return -ENOMEM;
	/* Written, so that the output thread meets no page fault there. (Of a
	 * memset() and the malloc() the compiler would make a calloc().) */
	explicit_bzero(spool->memory, ring_frames * frame_bytes);
	return 0;
}

void
spool_finish(struct spool *spool)
{
	free(spool->memory);
	spool->memory = NULL;
}

RT_SAFE uint64_t
spool_heard(const struct spool *spool)
{
	return atomic_load_explicit(&spool->heard, memory_order_acquire);
}

RT_SAFE void *
spool_begin(struct spool *spool, size_t *ret_frames)
{
	const size_t at = (size_t)(spool->written % spool->ring_frames);
	const uint64_t kept = spool->written - spool_heard(spool);
	size_t frames = spool->ring_frames - (size_t)kept;

	if (frames > spool->ring_frames - at)
		frames = spool->ring_frames - at;
	if (frames < *ret_frames)
		*ret_frames = frames;
	return spool->memory + at * spool->frame_bytes;
}

RT_SAFE void
spool_commit(struct spool *spool, size_t frames)
{
	uint64_t ends =
		atomic_load_explicit(&spool->ends, memory_order_relaxed);

	spool->written += frames;
	while (!atomic_compare_exchange_weak_explicit(
		&spool->ends, &ends,
		pack((uint32_t)spool->written, (uint32_t)(ends >> TAKEN_SHIFT)),
		memory_order_release, memory_order_relaxed))
		continue;
}

RT_SAFE size_t
spool_rewind(struct spool *spool, size_t frames)
{
	uint64_t ends =
		atomic_load_explicit(&spool->ends, memory_order_relaxed);
	size_t back = 0;

	do {
		back = between(ends) < frames ? between(ends) : frames;
	} while (!atomic_compare_exchange_weak_explicit(
		&spool->ends, &ends,
		pack((uint32_t)(spool->written - back),
		     (uint32_t)(ends >> TAKEN_SHIFT)),
		memory_order_release, memory_order_relaxed));
	spool->written -= back;
	return back;
}

RT_SAFE size_t
spool_takeable(const struct spool *spool)
{
	return between(
		atomic_load_explicit(&spool->ends, memory_order_relaxed));
}

RT_SAFE const void *
spool_take(struct spool *spool, size_t *ret_frames)
{
	const size_t at = (size_t)(spool->taken % spool->ring_frames);
	uint64_t ends =
		atomic_load_explicit(&spool->ends, memory_order_relaxed);
	size_t frames = 0;

	if (*ret_frames > spool->ring_frames - at)
		*ret_frames = spool->ring_frames - at;
	do {
		frames = between(ends) < *ret_frames ? between(ends)
						     : *ret_frames;
	} while (!atomic_compare_exchange_weak_explicit(
		&spool->ends, &ends,
		pack((uint32_t)ends, (uint32_t)(spool->taken + frames)),
		memory_order_acq_rel, memory_order_relaxed));
	spool->taken += frames;
	*ret_frames = frames;
	return spool->memory + at * spool->frame_bytes;
}

RT_SAFE void
spool_say_heard(struct spool *spool, uint64_t frames)
{
	if (frames > atomic_load_explicit(&spool->heard, memory_order_relaxed))
		atomic_store_explicit(&spool->heard, frames,
				      memory_order_release);
}

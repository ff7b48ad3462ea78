/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.c - extents of the locked pool.
 *
 * The used extents stand in one array sorted by offset; the gaps are what is
 * between them. There are a few dozen as a rule, so every call walks the array.
 * An extent's pages are locked from take to give, as far as there are any; a
 * gap has none. Invariants, checked by pool_check():
 *
 *   used[i].offset + used[i].bytes <= used[i + 1].offset
 *   the last one ends at or before bytes; all are whole pages. */
#include "daemon/engine/pool.h"

#include "lib/base/alloc.h"
#include "lib/rt/rt.h"
#include "lib/sync/pcm_ring.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct pool_used {
	size_t offset;
	size_t bytes;
};

struct pool {
	/* immutable */
	char *memory;
	size_t bytes;
	size_t page_bytes;
	/* control's own */
	bool locked; /* so far every extent could be */
	size_t reserve;
	size_t apart_bytes;
	unsigned count;
	struct pool_used used[POOL_EXTENTS_MAX];
};

static size_t
whole_pages(const struct pool *pool, size_t bytes)
{
	const size_t page = pool->page_bytes;

	return (bytes + page - 1) / page * page;
}

int
pool_create(size_t bytes, struct pool **ret_pool)
{
	struct pool *pool = allocator_new(NULL, sizeof(*pool));

	if (pool == NULL)
		return -ENOMEM;
	pool->page_bytes = rt_page_bytes();
	pool->locked = true;
	pool->bytes = whole_pages(pool, bytes);
	pool->memory = rt_pool_reserve(pool->bytes);
	if (pool->memory == NULL) {
		allocator_delete(NULL, pool);
		return -ENOMEM;
	}
	*ret_pool = pool;
	return 0;
}

void
pool_destroy(struct pool *pool)
{
	if (pool == NULL)
		return;
	rt_pool_unmap(pool->memory, pool->bytes);
	allocator_delete(NULL, pool);
}

void
pool_set_reserve(struct pool *pool, size_t bytes)
{
	pool->reserve = bytes;
}

/* Gap number index is the one before used[index]; the last one is behind all
 * of them. */
static struct pool_used
gap_before(const struct pool *pool, unsigned index)
{
	struct pool_used gap = {0};
	size_t end = pool->bytes;

	if (index > 0)
		gap.offset = pool->used[index - 1].offset +
			     pool->used[index - 1].bytes;
	if (index < pool->count)
		end = pool->used[index].offset;
	gap.bytes = end - gap.offset;
	return gap;
}

static size_t
largest_gap(const struct pool *pool)
{
	size_t largest = 0;
	unsigned i;

	for (i = 0; i <= pool->count; i++) {
		const struct pool_used gap = gap_before(pool, i);

		if (gap.bytes > largest)
			largest = gap.bytes;
	}
	return largest;
}

static void
use(struct pool *pool, unsigned index, const struct pool_used *used,
    struct pool_extent *ret_extent)
{
	memmove(&pool->used[index + 1], &pool->used[index],
		(pool->count - index) * sizeof(pool->used[0]));
	pool->used[index] = *used;
	pool->count++;
	*ret_extent = (struct pool_extent){
		.memory = pool->memory + used->offset,
		.bytes = used->bytes,
	};
	if (!rt_pool_lock(ret_extent->memory, used->bytes))
		pool->locked = false;
}

bool
pool_take_low(struct pool *pool, size_t least, size_t want,
	      struct pool_extent *ret_extent)
{
	const size_t largest = largest_gap(pool);
	const size_t free =
		largest > pool->reserve ? largest - pool->reserve : 0;
	size_t bytes = free / 5 * 2;
	unsigned i;

	least = whole_pages(pool, least);
	want = whole_pages(pool, want);
	if (free < least || pool->count == POOL_EXTENTS_MAX)
		return false;
	bytes = bytes / pool->page_bytes * pool->page_bytes;
	if (bytes > want)
		bytes = want;
	if (bytes < least)
		bytes = least;
	for (i = 0; i <= pool->count; i++) {
		struct pool_used gap = gap_before(pool, i);

		if (gap.bytes < bytes)
			continue;
		gap.bytes = bytes;
		use(pool, i, &gap, ret_extent);
		return true;
	}
	return false;
}

static bool
map_apart(struct pool *pool, size_t bytes, struct pool_extent *ret_extent)
{
	void *memory = rt_pool_reserve(bytes);

	if (memory == NULL)
		return false;
	(void)rt_pool_lock(memory, bytes);
	pool->apart_bytes += bytes;
	*ret_extent = (struct pool_extent){
		.memory = memory,
		.bytes = bytes,
		.apart = true,
	};
	return true;
}

bool
pool_take_high(struct pool *pool, size_t bytes, struct pool_extent *ret_extent)
{
	unsigned i;

	bytes = whole_pages(pool, bytes);
	if (pool->count == POOL_EXTENTS_MAX)
		return map_apart(pool, bytes, ret_extent);
	for (i = pool->count + 1; i-- > 0;) {
		struct pool_used gap = gap_before(pool, i);

		if (gap.bytes < bytes)
			continue;
		gap.offset += gap.bytes - bytes;
		gap.bytes = bytes;
		use(pool, i, &gap, ret_extent);
		return true;
	}
	return map_apart(pool, bytes, ret_extent);
}

static unsigned
index_of(const struct pool *pool, const struct pool_extent *extent)
{
	const size_t offset = (size_t)((char *)extent->memory - pool->memory);
	unsigned i;

	for (i = 0; i < pool->count; i++)
		if (pool->used[i].offset == offset)
			break;
	assert(i < pool->count);
	return i;
}

void
pool_shrink(struct pool *pool, struct pool_extent *extent, size_t bytes)
{
	bytes = whole_pages(pool, bytes);
	if (extent->apart || bytes == 0 || bytes >= extent->bytes)
		return;
	rt_pool_decommit((char *)extent->memory + bytes, extent->bytes - bytes);
	pool->used[index_of(pool, extent)].bytes = bytes;
	extent->bytes = bytes;
}

void
pool_give(struct pool *pool, struct pool_extent *extent)
{
	unsigned index;

	if (extent->memory == NULL)
		return;
	if (extent->apart) {
		rt_pool_unmap(extent->memory, extent->bytes);
		pool->apart_bytes -= extent->bytes;
	} else {
		rt_pool_decommit(extent->memory, extent->bytes);
		index = index_of(pool, extent);
		pool->count--;
		memmove(&pool->used[index], &pool->used[index + 1],
			(pool->count - index) * sizeof(pool->used[0]));
	}
	*extent = (struct pool_extent){0};
}

bool
pool_populate(struct pcm_ring *ring, uint64_t frames)
{
	const size_t before = pcm_ring_provided(ring);
	const size_t frame_bytes = ring->channels * sizeof(uint32_t);

	if (frames <= before)
		return false;
	if (frames > ring->capacity_frames)
		frames = ring->capacity_frames;
	rt_pool_populate((char *)ring->buffer + before * frame_bytes,
			 ((size_t)frames - before) * frame_bytes);
	pcm_ring_provide(ring, frames == ring->capacity_frames
				       ? SIZE_MAX
				       : (size_t)frames);
	return true;
}

void
pool_get_usage(const struct pool *pool, struct pool_usage *ret_usage)
{
	unsigned i;

	*ret_usage = (struct pool_usage){
		.bytes = pool->bytes,
		.largest_gap_bytes = largest_gap(pool),
		.apart_bytes = pool->apart_bytes,
		.extents = pool->count,
		.locked = pool->locked,
	};
	for (i = 0; i < pool->count; i++)
		ret_usage->used_bytes += pool->used[i].bytes;
}

bool
pool_check(const struct pool *pool)
{
	size_t end = 0;
	unsigned i;

	for (i = 0; i < pool->count; i++) {
		const struct pool_used *used = &pool->used[i];

		if (used->offset < end || used->bytes == 0 ||
		    used->offset % pool->page_bytes != 0 ||
		    used->bytes % pool->page_bytes != 0)
			return false;
		end = used->offset + used->bytes;
	}
	return end <= pool->bytes;
}

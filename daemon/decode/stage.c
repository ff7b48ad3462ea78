/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stage.c - one block and the place reached.
 *
 *        gap: silence          samples
 *   ....|-----------------|=================|
 *      next            block_at        block_at + block_frames
 *
 * Nothing is pending when next >= block_at + block_frames. A block of no
 * frames at a later place is silence up to there. Frames that were written to
 * the aim count as taken, and stage_take() only tells of them. */
#include "daemon/decode/stage.h"

#include "lib/base/alloc.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

int
stage_init(struct stage *stage, struct allocator *allocator, uint32_t channels,
	   size_t capacity)
{
	*stage = (struct stage){.allocator = allocator, .channels = channels};
	return stage_reserve(stage, capacity);
}

void
stage_finish(struct stage *stage)
{
	if (stage->samples != NULL)
		allocator_delete(stage->allocator, stage->samples);
	stage->samples = NULL;
}

int
stage_reserve(struct stage *stage, size_t capacity)
{
	const size_t bytes = capacity * stage->channels * sizeof(uint32_t);
	uint32_t *samples = NULL;

	if (capacity <= stage->capacity)
		return 0;
	samples = allocator_new(stage->allocator, bytes);
	if (samples == NULL)
		return -ENOMEM;
	/* Most blocks never lie here: the first that does, seconds later, must
	 * not be what touches these pages, on a real-time thread. */
	memset(samples, 0, bytes);
	stage_finish(stage);
	stage->samples = samples;
	stage->capacity = capacity;
	stage->block_frames = 0;
	return 0;
}

static RT_SAFE uint32_t *
aim_end(const struct stage *stage)
{
	return stage->aim + stage->aim_capacity * stage->channels;
}

RT_SAFE void
stage_aim(struct stage *stage, void *samples, size_t capacity)
{
	stage->aim = samples;
	stage->aim_capacity = capacity;
	stage->on_aim = false;
	/* What lay ahead of the last aim may be this one's begin. */
	if (samples != NULL &&
	    (stage->ahead < stage->aim || stage->ahead > aim_end(stage)))
		stage->ahead = stage->aim;
}

RT_SAFE void
stage_ahead(struct stage *stage, unsigned parts)
{
	enum { LINE = CACHE_LINE / sizeof(uint32_t) };
	const uint32_t *end = aim_end(stage);
	size_t left = stage->aim_capacity * stage->channels / parts / LINE + 1;

	while (stage->aim != NULL && stage->ahead < end && left-- > 0) {
		__builtin_prefetch(stage->ahead, 1, 2);
		stage->ahead += LINE;
	}
}

RT_SAFE uint32_t *
stage_block(struct stage *stage, size_t frames)
{
	stage->on_aim = stage->aim != NULL && frames <= stage->aim_capacity;
	return stage->on_aim ? stage->aim : stage->samples;
}

RT_SAFE void
stage_put(struct stage *stage, uint64_t block_at, size_t frames)
{
	assert(frames <= stage->capacity);
	stage->block_at = block_at;
	stage->block_frames = frames;
	if (!stage->on_aim)
		return;
	stage->on_aim = false;
	if (block_at == stage->next) {
		stage->aimed = frames;
		stage->next += frames;
	} else {
		memcpy(stage->samples, stage->aim,
		       frames * stage->channels * sizeof(*stage->samples));
	}
}

RT_SAFE bool
stage_holds(const struct stage *stage)
{
	return stage->aimed > 0 ||
	       stage->next < stage->block_at + stage->block_frames;
}

static RT_SAFE size_t
take_aimed(struct stage *stage)
{
	const size_t count = stage->aimed;

	stage->aimed = 0;
	return count;
}

RT_SAFE size_t
stage_take(struct stage *stage, void *ret_samples, size_t capacity)
{
	const size_t frame_bytes = stage->channels * sizeof(*stage->samples);
	const uint64_t end = stage->block_at + stage->block_frames;
	uint64_t count = 0;

	if (!stage_holds(stage))
		return 0;
	if (stage->aimed > 0)
		return take_aimed(stage);
	if (stage->next < stage->block_at) {
		count = stage->block_at - stage->next;
		if (count > capacity)
			count = capacity;
		memset(ret_samples, 0, (size_t)count * frame_bytes);
		stage->gap_frames += count;
	} else {
		const size_t from = (size_t)(stage->next - stage->block_at);

		count = end - stage->next;
		if (count > capacity)
			count = capacity;
		memcpy(ret_samples, stage->samples + from * stage->channels,
		       (size_t)count * frame_bytes);
	}
	stage->next += count;
	return (size_t)count;
}

RT_SAFE void
stage_move(struct stage *stage, uint64_t frame)
{
	stage->next = frame;
	stage->block_at = frame;
	stage->block_frames = 0;
	stage->aimed = 0;
	stage_aim(stage, NULL, 0);
}

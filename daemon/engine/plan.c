/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.c - the plan's memory and its one look-up. What a plan names is kept
 * alive by control until every reader has passed the plan (snapshot.h). */
#include "daemon/engine/plan.h"

#include "daemon/engine/stream.h"
#include "lib/base/alloc.h"

_Static_assert(offsetof(struct plan, mix) == 0,
	       "the output thread takes a plan for its mix_plan");

struct plan *
plan_create(struct allocator *allocator)
{
	struct plan *plan = allocator_new(allocator, sizeof(*plan));
	unsigned lane;

	if (plan == NULL)
		return NULL;
	plan->mix.volume = 1.0F;
	for (lane = 0; lane < LANE_COUNT; lane++)
		plan->mix.lanes[lane].gain = 1.0F;
	return plan;
}

void
plan_release(void *plan, void *allocator)
{
	allocator_delete(allocator, plan);
}

RT_SAFE int
plan_find(const struct plan_lane *lane, uint64_t stream)
{
	uint32_t i;

	for (i = 0; i < lane->count; i++)
		if (lane->entries[i].stream->id == stream)
			return (int)i;
	return -1;
}

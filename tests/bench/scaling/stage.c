/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/scaling/stage.h"

#include "daemon/engine/plan.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"

#include <errno.h>

#define PATIENCE_NS (10 * NS_PER_S)

static bool
allocate(struct stage *stage)
{
	enum { ALIGNMENT = 128 };

	stage->hazards =
		allocator_new_aligned(NULL, sizeof(*stage->hazards), ALIGNMENT);
	stage->set =
		allocator_new_aligned(NULL, sizeof(*stage->set), ALIGNMENT);
	stage->decoders = allocator_new_aligned(NULL, sizeof(*stage->decoders),
						ALIGNMENT);
	stage->plans = snapshot_create(NULL, plan_release, NULL);
	return stage->hazards != NULL && stage->set != NULL &&
	       stage->decoders != NULL && stage->plans != NULL;
}

int
stage_make(struct stage *stage, struct crowd *crowd, unsigned threads)
{
	struct decoders_config config = {
		.first_reader = 1,
		.wake = &crowd->commons->wake,
		.bell = &crowd->commons->bell,
		.wanted = (int)threads,
		.priority = SCALING_DECODER_PRIORITY,
	};

	stage->crowd = crowd;
	if (!allocate(stage))
		return -ENOMEM;
	hazard_domain_init(stage->hazards);
	rotary_init(stage->set, stage->hazards);
	config.set = stage->set;
	config.hazards = stage->hazards;
	config.plans = stage->plans;
	return decoders_start(stage->decoders, &config);
}

void
stage_enter(struct stage *stage)
{
	const struct crowd *crowd = stage->crowd;
	unsigned i;

	for (i = 0; i < crowd->count; i++) {
		rotary_insert(stage->set, &crowd->streams[i]->item.node);
		atomic_fetch_add(&stage->decoders->items, 1);
	}
	wake_post(&crowd->commons->wake);
}

bool
stage_stop(struct stage *stage)
{
	return decoders_stop(stage->decoders, clock_now_ns() + PATIENCE_NS);
}

void
stage_unmake(struct stage *stage)
{
	snapshot_destroy(stage->plans);
	allocator_delete(NULL, stage->decoders);
	allocator_delete(NULL, stage->set);
	allocator_delete(NULL, stage->hazards);
}

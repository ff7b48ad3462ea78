/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stage.h - the engine's decoder threads with a rotary set of their own, and a
 * crowd of streams in it. Nobody judges the streams or promotes threads again,
 * as control would. */
#ifndef ROTARY_BENCH_STAGE_H
#define ROTARY_BENCH_STAGE_H

#include "tests/bench/scaling/bench_scaling.h"

#include "daemon/engine/decoders.h"
#include "lib/sync/snapshot.h"

struct stage {
	struct hazard_domain *hazards;
	struct rotary *set;
	struct decoders *decoders;
	struct snapshot *plans;
	struct crowd *crowd;
};

/* Its threads wait for streams. 0, -errno. */
int stage_make(struct stage *stage, struct crowd *crowd, unsigned threads);
/* All streams of the crowd enter the set. */
void stage_enter(struct stage *stage);
/* Ends the threads; false when one does not come back. */
bool stage_stop(struct stage *stage);
void stage_unmake(struct stage *stage);

#endif

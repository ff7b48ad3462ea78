/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hazard.h - hazard pointers: a reader says which nodes it holds, and who
 * frees looks there first (M. Michael, "Hazard Pointers", IEEE TPDS 15(6),
 * 2004). Publication is a seq_cst exchange, so that it is ordered before the
 * re-read that validates it.
 *
 *          | set/clear(i) | scan
 *  set(i)  |  X (same i)  |  -     X: outside order needed, -: none
 *  scan    |      -       |  -
 *
 * Orders: a set that a scan missed comes after it, so a look after the set sees
 * what was unlinked before the scan; a clear comes after the last use of the
 * node, before what follows a scan that missed it.
 * Progress: wait-free. Cost: set one exchange (7 ns, docs/bench/sync.md), clear
 * one store, scan 32 loads. RT: all RT_SAFE but domain init. */
#ifndef ROTARY_SYNC_HAZARD_H
#define ROTARY_SYNC_HAZARD_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum { HAZARD_READERS_MAX = 16, HAZARD_SLOTS = 2 };

/* The slots of one reader, on cache lines of their own. */
struct ALIGNED(2 * CACHE_LINE) hazard_reader {
	ATOMIC(const void *) slot[HAZARD_SLOTS];
};

struct hazard_domain {
	struct hazard_reader readers[HAZARD_READERS_MAX];
};

void hazard_domain_init(struct hazard_domain *domain);
RT_SAFE void hazard_set(struct hazard_reader *reader, unsigned slot,
			const void *pointer);
RT_SAFE void hazard_clear(struct hazard_reader *reader, unsigned slot);
/* True when some reader holds pointer. One pass over all slots. */
RT_SAFE bool hazard_held(const struct hazard_domain *domain,
			 const void *pointer);

#endif

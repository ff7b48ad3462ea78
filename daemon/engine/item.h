/* SPDX-License-Identifier: GPL-3.0-or-later */
/* item.h - what the rotary set holds: a stream or a lane, with the claim word
 * that keeps two decoder threads off one item.
 *
 *          claim            another claim (fails)
 *   FREE --------> CLAIMED ----------------------> BOUNCED
 *     ^               |                               |
 *     +---- release --+------------- release ---------+
 *
 * No wake-up is lost: whoever makes work raises the event count (wake.h)
 * afterwards; a decoder thread reads the count before it looks at any item and
 * sleeps only if it is still the same. So only a thread that leaves the set
 * without another look at it must post for those that bounced off:
 * item_release() tells it.
 *
 *            | claim | release
 *  claim     |   -   |    -      X: outside order needed, -: none
 *  release   |   -   |    X      (only the holder releases)
 *
 * The holder's writes to the item come before the next holder's reads.
 * RT: all RT_SAFE but init; claim is lock-free, release wait-free. */
#ifndef ROTARY_ENGINE_ITEM_H
#define ROTARY_ENGINE_ITEM_H

#include "lib/base/attr.h"
#include "lib/sync/rotary.h"

#include <stdbool.h>

enum item_kind { ITEM_STREAM, ITEM_LANE };
enum item_claim { ITEM_FREE, ITEM_CLAIMED, ITEM_BOUNCED };

/* What a quantum found. */
enum item_work {
	ITEM_IDLE,   /* nothing to do now */
	ITEM_WORKED, /* did something; what is behind it has enough for now */
	ITEM_URGENT, /* did something, for what was below its low-water mark */
};

struct item {
	struct rotary_node node;
	/* what the threads fight for, away from the links */
	ALIGNED(CACHE_LINE) ATOMIC(uint32_t) claim; /* enum item_claim */
	enum item_kind kind;
};

void item_init(struct item *item, enum item_kind kind);
RT_SAFE bool item_claim(struct item *item);
/* True when another thread came by since the claim. */
RT_SAFE bool item_release(struct item *item);

#endif

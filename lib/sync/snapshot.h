/* SPDX-License-Identifier: GPL-3.0-or-later */
/* snapshot.h - one immutable object, published by one writer, read wait-free
 * by a fixed number of reader threads; old ones are freed when every reader
 * has passed them.
 *
 * A reader's slot holds the generation it may be reading, or 0. It stores the
 * slot with seq_cst before it loads the pointer, so a writer's scan that does
 * not see the slot precedes that load, which then yields the newer object.
 *
 *            | enter/leave(i) | publish/reclaim
 *  enter(i)  |  X (same i)    |       -          X: outside order needed
 *  publish   |       -        |       X          -: none
 *
 * Orders: what the writer did before publish is seen by who enters afterwards;
 * a reader's last look at an object comes before its release. A reader that
 * stays in keeps what was current, and all since, from being released; it holds
 * nobody up.
 * Progress: all wait-free. Cost: enter one exchange and two loads, leave one
 * store; publish O(1) and an allocation; reclaim O(retired x readers).
 * Source: ours, between hazard pointers (hazard.h) and the epochs of K. Fraser,
 * "Practical lock-freedom", UCAM-CL-TR-579, 2004. Proof: tests/model,
 * snapshot.pml and model_snapshot.c.
 * RT: enter and leave are RT_SAFE; the writer's side calls the release function
 * and MAY_BLOCK. */
#ifndef ROTARY_SYNC_SNAPSHOT_H
#define ROTARY_SYNC_SNAPSHOT_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct allocator;
struct snapshot;

enum { SNAPSHOT_READERS_MAX = 32 };

/* release(object, context) frees an object that no reader can hold. */
NODISCARD struct snapshot *
snapshot_create(struct allocator *allocator,
		void (*release)(void *object, void *context), void *context);
/* Releases every object; when no reader runs. */
void snapshot_destroy(struct snapshot *snapshot);

/* Writer. Makes object the current one; the one before is retired. Returns its
 * generation (from 1), or 0 when the list of retired ones is out of memory and
 * nothing was changed. */
NODISCARD uint64_t snapshot_publish(struct snapshot *snapshot, void *object);
/* Releases retired objects that every reader has passed; returns how many are
 * left. */
size_t snapshot_reclaim(struct snapshot *snapshot);
/* The current object, for the writer itself. */
void *snapshot_current(const struct snapshot *snapshot);
/* True when no reader can still hold a generation below this one. */
bool snapshot_passed(const struct snapshot *snapshot, uint64_t generation);

/* Reader number reader (below SNAPSHOT_READERS_MAX): the current object, which
 * lives until snapshot_leave(). NULL before the first publication. */
RT_SAFE const void *snapshot_enter(struct snapshot *snapshot, unsigned reader);
RT_SAFE void snapshot_leave(struct snapshot *snapshot, unsigned reader);

#endif

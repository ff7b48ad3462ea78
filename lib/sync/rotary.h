/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rotary.h - the rotary set: a circular set whose head revolves. One writer
 * (control) inserts and removes, many real-time readers pull.
 *
 *            | pull/head(i) | insert/remove/reclaim
 *  pull(i)   |  X (same i)  |         -               X: outside order needed
 *  insert .. |      -       |         X               -: none
 *
 * Progress: pull and head are lock-free (a retry means that another reader
 * pulled, or the writer inserted or removed), O(1) without one; insert is
 * wait-free, O(1); remove is wait-free, O(nodes + retired); reclaim is
 * wait-free, O(retired x hazards). A reader never waits for the writer: one
 * that stands still, or died, in the midst of any of its steps costs the others
 * nothing.
 * Linearization: insert reads the head, and links the node behind it later, at
 * the store of the forward link before it (or of the head, into an empty set);
 * pull at the compare-exchange of the head, or just before a link that came
 * between its looks and that; remove at the store of the mark (of the last
 * node: or when a reader empties the head). So a pull that begins after
 * rotary_remove() returned never yields the node; between two turns of one node
 * every other that is there all the time has exactly one; no turn is given
 * twice. A pull that took the turn of a node and then finds it removed takes
 * the next one: that turn is lost, with its node.
 * Memory: nodes are embedded in what the caller owns, aligned, below 2^48; a
 * removed node may be reused only after rotary_reclaim() has passed it to the
 * release function.
 * RT: pull, head and release are RT_SAFE; the writer's side neither blocks nor
 * allocates. Cost: docs/bench/sync.md.
 * Source: ours; hazard pointers as in hazard.h, the head's count as in
 * rotary_word.h. Proof: docs/architecture.md, "The rotary set"; tests/model:
 * both rotary.pml and model_rotary.c; tests/stress/sync/stress_history.c. */
#ifndef ROTARY_SYNC_ROTARY_H
#define ROTARY_SYNC_ROTARY_H

#include "lib/base/attr.h"
#include "lib/base/list.h"
#include "lib/sync/hazard.h"

struct ALIGNED(CACHE_LINE) rotary_node {
	ATOMIC(struct rotary_node *) next; /* readers walk it */
	ATOMIC(uint32_t) removed;          /* the deletion mark */
	/* the writer's own */
	uint32_t reclaim_step;
	struct rotary_node *prev;
	struct list retired; /* in rotary.retired */
};

struct rotary {
	ALIGNED(2 * CACHE_LINE) ATOMIC(uint64_t) head; /* rotary_word.h */
	/* the writer's own, and immutable things */
	ALIGNED(2 * CACHE_LINE) struct hazard_domain *domain;
	struct list retired; /* rotary_node::retired */
	size_t length;
	size_t retired_length;
};

void rotary_init(struct rotary *set, struct hazard_domain *domain);

/* Reader. Returns the head and moves the head to the next node, or NULL when
 * the set is empty. The node stays valid until rotary_release(reader) or the
 * reader's next pull or head. */
RT_SAFE struct rotary_node *rotary_pull(struct rotary *set,
					struct hazard_reader *reader);
/* Returns the head without moving it, held as by rotary_pull(). */
RT_SAFE struct rotary_node *rotary_head(struct rotary *set,
					struct hazard_reader *reader);
RT_SAFE void rotary_release(struct hazard_reader *reader);

/* Writer. Links node right after the head as read. */
void rotary_insert(struct rotary *set, struct rotary_node *node);
/* Unlinks node, wherever it is. It stays readable until it is reclaimed. */
void rotary_remove(struct rotary *set, struct rotary_node *node);
/* One step of the three for every removed node; calls release(node, context)
 * for those that no reader can reach any more. Returns how many are left:
 * while that is not 0, call again, e.g. each 10 ms. */
size_t rotary_reclaim(struct rotary *set,
		      void (*release)(struct rotary_node *node, void *context),
		      void *context);
size_t rotary_length(const struct rotary *set);

#endif

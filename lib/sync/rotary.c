/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rotary.c - the rotary set.
 *
 * Present nodes form a ring by `next` (and by `prev`, which only the writer
 * knows). A removed node keeps a way back: its `next` leads to a present node,
 * or is NULL when the set was empty at some time since. So from the head, even
 * when it stands on a removed node, one step leads into the ring. Invariants,
 * between two calls of the writer:
 *
 *   length == 0  <=>  no node is present  =>  head == NULL, and stays so
 *   no `next`, of any node, names a removed node
 *   length > 0   =>  head is a present or a retired node
 *
 * Why a removed node may still become the head: a reader read it as successor
 * of the head before it was unlinked, and moves the head onto it afterwards.
 * That reader holds the node in its second hazard from before the unlinking
 * until after the move. Hence the three steps of a reclaim, per node:
 *
 *   LINKED    a scan finds nobody holding it: no reader can install it any more
 *   ORPHANED  the head is moved off it: no reader can find it any more
 *   UNSEEN    a scan finds nobody holding it: nobody uses it. Released.
 *
 * Why an empty set's head stays NULL: a reader moves the head only by a
 * compare-exchange from a node. And once a node was inserted into the empty
 * set, the head can only come to nodes linked since: a reader that could move
 * it to an older one expects an older head, which it holds, so that it is not
 * the node just inserted.
 *
 * Why the head's word has a count (rotary_word.h): a reader that has read X and
 * its successor may stand still while the others go all the way round, and the
 * head is at X again. If something was inserted behind X meanwhile, a compare
 * of addresses would find nothing wrong and move the head past it. So each move
 * of the head changes the count, and so does an insertion once the node is
 * linked: an exchange that succeeds followed at most one link since its looks,
 * and no pull, and is as if it had come before that link.
 *
 * Why the last node is made to lead nowhere before it is marked: a marked node
 * that led to itself would keep a reader going round until the writer, which
 * may have a lower priority, goes on. So a removal of the last node takes
 * effect at the mark, or when a reader that came first emptied the head.
 *
 * Ordering: hazard.c says why hazards, looks, unlinking and scans are seq_cst.
 * The mark is stored early in a removal and loaded last in a pull, seq_cst
 * both: a pull whose compare-exchange comes after the mark sees it. The link of
 * an insertion needs a release only, as what it makes reachable was written
 * before; the seq_cst access to the head after it, or instead of it, makes that
 * a pull which begins after the insertion returned sees it. */
#include "lib/sync/rotary.h"

#include "lib/base/thread.h"
#include "lib/sync/rotary_word.h"

#include <assert.h>

enum rotary_step { ROTARY_LINKED, ROTARY_ORPHANED, ROTARY_UNSEEN };

enum { HAZARD_HEAD, HAZARD_NEXT };

_Static_assert(offsetof(struct rotary, head) % CACHE_LINE == 0 &&
		       offsetof(struct rotary, domain) % CACHE_LINE == 0,
	       "the head has cache lines of its own");
_Static_assert(1 << ROTARY_WORD_LINE_BITS == CACHE_LINE &&
		       _Alignof(struct rotary_node) == CACHE_LINE,
	       "the low bits of a node's address are zero");
_Static_assert(sizeof(struct rotary_node) % CACHE_LINE == 0,
	       "no two nodes share a cache line");

static RT_SAFE uint64_t
load_head(const struct rotary *set)
{
	return atomic_load_explicit(&set->head, memory_order_seq_cst);
}

static RT_SAFE struct rotary_node *
load_next(const struct rotary_node *node)
{
	return atomic_load_explicit(&node->next, memory_order_seq_cst);
}

static RT_SAFE bool
is_removed(const struct rotary_node *node)
{
	return atomic_load_explicit(&node->removed, memory_order_seq_cst) != 0;
}

/* Moves the head to next; false when it, or its place, changed since word. */
static RT_SAFE bool
move_head(struct rotary *set, uint64_t word, const struct rotary_node *next)
{
	return atomic_compare_exchange_strong_explicit(
		&set->head, &word, rotary_word_moved(word, next),
		memory_order_seq_cst, memory_order_seq_cst);
}

/* The head's word, its node held in the reader's first hazard. */
static RT_SAFE uint64_t
hold_head(const struct rotary *set, struct hazard_reader *reader)
{
	struct rotary_node *node = NULL;
	uint64_t word = load_head(set);

	do {
		node = rotary_word_node(word);
		hazard_set(reader, HAZARD_HEAD, node);
		word = load_head(set);
	} while (rotary_word_node(word) != node);
	return word;
}

/* Moves the head on from the node of word, which the reader holds. False:
 * another one moved it, or there is a new node; look again. */
static RT_SAFE bool
pass_on(struct rotary *set, struct hazard_reader *reader, uint64_t word)
{
	const struct rotary_node *node = rotary_word_node(word);
	struct rotary_node *next = load_next(node);

	hazard_set(reader, HAZARD_NEXT, next);
	return load_next(node) == next && move_head(set, word, next);
}

RT_SAFE struct rotary_node *
rotary_pull(struct rotary *set, struct hazard_reader *reader)
{
	struct rotary_node *node = NULL;
	uint64_t word = 0;

	do {
		word = hold_head(set, reader);
		node = rotary_word_node(word);
	} while (node != NULL &&
		 (!pass_on(set, reader, word) || is_removed(node)));
	hazard_clear(reader, HAZARD_NEXT);
	return node;
}

RT_SAFE struct rotary_node *
rotary_head(struct rotary *set, struct hazard_reader *reader)
{
	uint64_t word = hold_head(set, reader);
	struct rotary_node *node = rotary_word_node(word);

	while (node != NULL && is_removed(node)) {
		(void)pass_on(set, reader, word);
		word = hold_head(set, reader);
		node = rotary_word_node(word);
	}
	hazard_clear(reader, HAZARD_NEXT);
	return node;
}

RT_SAFE void
rotary_release(struct hazard_reader *reader)
{
	hazard_clear(reader, HAZARD_HEAD);
}

void
rotary_init(struct rotary *set, struct hazard_domain *domain)
{
	atomic_init(&set->head, 0);
	set->domain = domain;
	list_init(&set->retired);
	set->length = 0;
	set->retired_length = 0;
}

void
rotary_insert(struct rotary *set, struct rotary_node *node)
{
	const uint64_t word = load_head(set);
	struct rotary_node *before = rotary_word_node(word);
	struct rotary_node *after = NULL;

	thread_assert_control();
	atomic_store_explicit(&node->removed, 0, memory_order_relaxed);
	set->length++;
	if (set->length == 1) {
		assert(before == NULL);
		node->prev = node;
		atomic_store_explicit(&node->next, node, memory_order_relaxed);
		atomic_store_explicit(&set->head, rotary_word_moved(word, node),
				      memory_order_seq_cst);
		return;
	}
	if (is_removed(before))
		before = load_next(before);
	after = load_next(before);
	node->prev = before;
	after->prev = node;
	atomic_store_explicit(&node->next, after, memory_order_relaxed);
	atomic_store_explicit(&before->next, node, memory_order_release);
	(void)atomic_fetch_add_explicit(&set->head, rotary_word_one,
					memory_order_seq_cst);
}

/* Moves the head to next if it stands on node. */
static void
leave(struct rotary *set, const struct rotary_node *node,
      const struct rotary_node *next)
{
	const uint64_t word = load_head(set);

	if (rotary_word_node(word) == node)
		(void)move_head(set, word, next);
}

/* The way back of node, and of every retired node that led to it, is next. */
static void
redirect(struct rotary *set, struct rotary_node *node, struct rotary_node *next)
{
	struct list *i = NULL;

	list_for_each (i, &set->retired) {
		struct rotary_node *retired =
			list_entry(i, struct rotary_node, retired);

		if (load_next(retired) == node)
			atomic_store_explicit(&retired->next, next,
					      memory_order_seq_cst);
	}
}

void
rotary_remove(struct rotary *set, struct rotary_node *node)
{
	struct rotary_node *next = load_next(node);

	thread_assert_control();
	assert(set->length > 0 && !is_removed(node));
	set->length--;
	if (next == node) {
		next = NULL;
		atomic_store_explicit(&node->next, NULL, memory_order_seq_cst);
	}
	atomic_store_explicit(&node->removed, 1, memory_order_seq_cst);
	if (next != NULL) {
		next->prev = node->prev;
		atomic_store_explicit(&node->prev->next, next,
				      memory_order_seq_cst);
	}
	redirect(set, node, next);
	if (next == NULL)
		(void)atomic_fetch_and_explicit(&set->head,
						~(rotary_word_one - 1),
						memory_order_seq_cst);
	else
		leave(set, node, next);
	node->reclaim_step = ROTARY_LINKED;
	list_append(&set->retired, &node->retired);
	set->retired_length++;
}

/* One step; true when nobody can reach node any more. */
static bool
reclaim_step(struct rotary *set, struct rotary_node *node)
{
	switch ((enum rotary_step)node->reclaim_step) {
	case ROTARY_LINKED:
		if (!hazard_held(set->domain, node))
			node->reclaim_step = ROTARY_ORPHANED;
		return false;
	case ROTARY_ORPHANED:
		leave(set, node, load_next(node));
		node->reclaim_step = ROTARY_UNSEEN;
		return false;
	case ROTARY_UNSEEN:
		return !hazard_held(set->domain, node);
	}
	return false;
}

size_t
rotary_reclaim(struct rotary *set,
	       void (*release)(struct rotary_node *node, void *context),
	       void *context)
{
	struct list *i = NULL;
	struct list *after = NULL;

	thread_assert_control();
	list_for_each_safe (i, after, &set->retired) {
		struct rotary_node *node =
			list_entry(i, struct rotary_node, retired);

		if (!reclaim_step(set, node))
			continue;
		list_remove(i);
		set->retired_length--;
		release(node, context);
	}
	return set->retired_length;
}

size_t
rotary_length(const struct rotary *set)
{
	return set->length;
}

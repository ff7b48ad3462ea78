/* SPDX-License-Identifier: GPL-3.0-or-later */
/* takeback.c - one word: the number of the call, and what the thread does.
 *
 *   call number (30 bits) | enum takeback_state (2 bits)
 *
 * Only the owner leaves RUNNING, so it may store; only from ASLEEP and IN_CALL
 * can the word become TAKEN, by a compare-exchange that races with the owner's
 * own on its way back: one of the two succeeds. The watcher's acquires what the
 * owner's store released, so all that was done before the call is seen. */
#include "lib/sync/takeback.h"

enum { STATE_MASK = 3, CALL = 4 };

static RT_SAFE void
go_into(struct takeback *takeback, enum takeback_state state)
{
	const uint32_t word =
		atomic_load_explicit(&takeback->word, memory_order_relaxed);
	const uint32_t call = (word & ~(uint32_t)STATE_MASK) + CALL;

	if (takeback_state_of(word) == TAKEBACK_RUNNING)
		atomic_store_explicit(&takeback->word, call | (uint32_t)state,
				      memory_order_release);
}

RT_SAFE void
takeback_enter(struct takeback *takeback)
{
	go_into(takeback, TAKEBACK_IN_CALL);
}

RT_SAFE void
takeback_sleep(struct takeback *takeback)
{
	go_into(takeback, TAKEBACK_ASLEEP);
}

RT_SAFE bool
takeback_leave(struct takeback *takeback)
{
	uint32_t word =
		atomic_load_explicit(&takeback->word, memory_order_relaxed);

	/* Nobody but the watcher changes it meanwhile, and once. */
	return takeback_state_of(word) != TAKEBACK_TAKEN &&
	       atomic_compare_exchange_strong_explicit(
		       &takeback->word, &word, word & ~(uint32_t)STATE_MASK,
		       memory_order_acq_rel, memory_order_relaxed);
}

RT_SAFE uint32_t
takeback_look(const struct takeback *takeback)
{
	return atomic_load_explicit(&takeback->word, memory_order_relaxed);
}

RT_SAFE enum takeback_state
takeback_state_of(uint32_t word)
{
	return (enum takeback_state)(word & STATE_MASK);
}

RT_SAFE bool
takeback_take(struct takeback *takeback, uint32_t seen)
{
	const enum takeback_state state = takeback_state_of(seen);

	return (state == TAKEBACK_ASLEEP || state == TAKEBACK_IN_CALL) &&
	       atomic_compare_exchange_strong_explicit(
		       &takeback->word, &seen, seen | TAKEBACK_TAKEN,
		       memory_order_acq_rel, memory_order_relaxed);
}

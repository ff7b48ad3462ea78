/* SPDX-License-Identifier: GPL-3.0-or-later */
/* item.c - the claim word.
 *
 * Ordering: the claim is an acquire, the release a release, so that what one
 * holder wrote is seen by the next. A bounce orders nothing: it only tells the
 * holder that somebody looked away. Invariant: at most one thread is between a
 * claim that returned true and its release. */
#include "daemon/engine/item.h"

#include <assert.h>

_Static_assert(offsetof(struct item, node) % CACHE_LINE == 0 &&
		       offsetof(struct item, claim) % CACHE_LINE == 0 &&
		       sizeof(struct item) % CACHE_LINE == 0,
	       "links and claim on lines of their own");

void
item_init(struct item *item, enum item_kind kind)
{
	*item = (struct item){.kind = kind};
	atomic_init(&item->claim, ITEM_FREE);
}

RT_SAFE bool
item_claim(struct item *item)
{
	for (;;) {
		uint32_t seen = ITEM_FREE;

		if (atomic_compare_exchange_strong_explicit(
			    &item->claim, &seen, ITEM_CLAIMED,
			    memory_order_acquire, memory_order_relaxed))
			return true;
		if (seen == ITEM_BOUNCED ||
		    atomic_compare_exchange_strong_explicit(
			    &item->claim, &seen, ITEM_BOUNCED,
			    memory_order_relaxed, memory_order_relaxed))
			return false;
	}
}

RT_SAFE bool
item_release(struct item *item)
{
	const uint32_t seen = atomic_exchange_explicit(&item->claim, ITEM_FREE,
						       memory_order_acq_rel);

	assert(seen != ITEM_FREE);
	return seen == ITEM_BOUNCED;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hazard.c - the slots of all readers, and one pass over them.
 *
 * A reader: exchange(slot, node), then look again whether the node can still be
 * found. Who frees: make the node impossible to find, then scan. The exchange,
 * the second look, the unlinking store and the scan are all seq_cst, so they
 * have one order: if the scan missed the exchange, the second look comes after
 * the unlinking and fails. With a weaker publication both could miss each
 * other. Clearing is a release, so that the reader's last use of the node comes
 * before what follows the scan. */
#include "lib/sync/hazard.h"

#include <assert.h>

_Static_assert(sizeof(struct hazard_reader) == (size_t)2 * CACHE_LINE,
	       "one reader's slots lie on lines of their own");

void
hazard_domain_init(struct hazard_domain *domain)
{
	size_t i = 0;
	size_t slot = 0;

	for (i = 0; i < HAZARD_READERS_MAX; i++)
		for (slot = 0; slot < HAZARD_SLOTS; slot++)
			atomic_init(&domain->readers[i].slot[slot], NULL);
}

RT_SAFE void
hazard_set(struct hazard_reader *reader, unsigned slot, const void *pointer)
{
	assert(slot < HAZARD_SLOTS);
	(void)atomic_exchange_explicit(&reader->slot[slot], pointer,
				       memory_order_seq_cst);
}

RT_SAFE void
hazard_clear(struct hazard_reader *reader, unsigned slot)
{
	assert(slot < HAZARD_SLOTS);
	atomic_store_explicit(&reader->slot[slot], NULL, memory_order_release);
}

RT_SAFE bool
hazard_held(const struct hazard_domain *domain, const void *pointer)
{
	size_t i = 0;
	size_t slot = 0;

	for (i = 0; i < HAZARD_READERS_MAX; i++)
		for (slot = 0; slot < HAZARD_SLOTS; slot++)
			if (atomic_load_explicit(&domain->readers[i].slot[slot],
						 memory_order_seq_cst) ==
			    pointer)
				return true;
	return false;
}

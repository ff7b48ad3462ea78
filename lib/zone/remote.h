/* SPDX-License-Identifier: GPL-3.0-or-later */
/* remote.h - how a block comes back to a heap from threads that do not own it.
 *
 * The freeing thread sets the block's bit in its slab, then the slab's pending
 * flag in the heap, then the summary bit over 64 flags; each with one OR, and
 * the last two only where they are not set already. The owner goes the other
 * way: clears the summary bit, then the flags, then takes the slab's bits.
 *
 *   who frees           OR bits     seq_cst   load flag, OR   seq_cst
 *   who owns            xchg flag   seq_cst   xchg bits       seq_cst
 *
 * Either the owner's look at the bits comes after the OR, or the free's look at
 * the flag comes after the clearing (J. Dekker's pair, twice): no bit is left
 * without a flag. That needs one order over all four, so seq_cst.
 *
 * The flag is the heap's, not the slab's: a thread that stood still between its
 * two ORs, while the slab was emptied and given to another heap, sets a flag
 * that means nothing. No list links, so nothing to come back to.
 *
 * Threads: free by any, take by the owner. RT: RT_SAFE, wait-free.
 * Private to lib/zone. Explored by tests/model/model_zone.c. */
#ifndef ROTARY_ZONE_REMOTE_H
#define ROTARY_ZONE_REMOTE_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum { ZONE_PENDING_WORDS = 64, ZONE_PENDING_SLOTS = 64 * 64 };

struct zone_remote {
	ATOMIC(uint64_t) summary;
	ATOMIC(uint64_t) pending[ZONE_PENDING_WORDS];
};

/* Sets bits in *word of the slab with this unit. False: one of them was set
 * already, somebody has freed twice. */
RT_SAFE bool zone_remote_free(struct zone_remote *remote, uint32_t unit,
			      ATOMIC(uint64_t) * word, uint64_t bits);

/* One pending slot, its flag cleared; its slabs are all units that are the slot
 * modulo ZONE_PENDING_SLOTS. False: none. */
RT_SAFE bool zone_remote_take_slot(struct zone_remote *remote,
				   uint32_t *ret_slot);
/* The slot was not done with. */
RT_SAFE void zone_remote_put_slot(struct zone_remote *remote, uint32_t slot);

/* The bits of a word, cleared. */
RT_SAFE uint64_t zone_remote_take(ATOMIC(uint64_t) * word);

#endif

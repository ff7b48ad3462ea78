/* SPDX-License-Identifier: GPL-3.0-or-later */
/* remote.c - bits, flags and summary; see remote.h for the order and why. */
#include "lib/zone/remote.h"

static inline void
raise(ATOMIC(uint64_t) * flags, unsigned number)
{
	const uint64_t flag = UINT64_C(1) << number;

	if ((atomic_load_explicit(flags, memory_order_seq_cst) & flag) == 0)
		(void)atomic_fetch_or_explicit(flags, flag,
					       memory_order_seq_cst);
}

void
zone_remote_put_slot(struct zone_remote *remote, uint32_t slot)
{
	raise(&remote->pending[slot / 64], slot % 64);
	/* also when the flag was there: who raised it may stand still */
	raise(&remote->summary, slot / 64);
}

bool
zone_remote_free(struct zone_remote *remote, uint32_t unit,
		 ATOMIC(uint64_t) * word, uint64_t bits)
{
	const uint64_t old =
		atomic_fetch_or_explicit(word, bits, memory_order_seq_cst);

	zone_remote_put_slot(remote, unit % ZONE_PENDING_SLOTS);
	return (old & bits) == 0;
}

bool
zone_remote_take_slot(struct zone_remote *remote, uint32_t *ret_slot)
{
	const uint64_t summary =
		atomic_load_explicit(&remote->summary, memory_order_seq_cst);
	unsigned word = 0, number = 0;
	uint64_t flags = 0;

	if (summary == 0)
		return false;
	word = (unsigned)__builtin_ctzll(summary);
	(void)atomic_fetch_and_explicit(
		&remote->summary, ~(UINT64_C(1) << word), memory_order_seq_cst);
	flags = atomic_load_explicit(&remote->pending[word],
				     memory_order_seq_cst);
	if (flags == 0)
		return false;
	number = (unsigned)__builtin_ctzll(flags);
	(void)atomic_fetch_and_explicit(&remote->pending[word],
					~(UINT64_C(1) << number),
					memory_order_seq_cst);
	if ((flags & (flags - 1)) != 0)
		raise(&remote->summary, word);
	*ret_slot = word * 64 + number;
	return true;
}

uint64_t
zone_remote_take(ATOMIC(uint64_t) * word)
{
	if (atomic_load_explicit(word, memory_order_seq_cst) == 0)
		return 0;
	return atomic_exchange_explicit(word, 0, memory_order_seq_cst);
}

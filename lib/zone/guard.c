/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guard.c - the debug build's blocks:
 *
 *   | ... | struct guard | the program's | 16 bytes behind |
 *   raw                  ^ aligned
 *
 * A freed block is poisoned and put into quarantine, a ring of pointers; what
 * it pushes out is looked at once more and freed in earnest. Memory of both
 * zones and the poison is checked byte for byte. */
#include "lib/zone/family.h"

#include <stdint.h>
#include <string.h>

enum {
	QUARANTINE = 1024,
	QUARANTINE_BLOCK_MAX = 64 * 1024,
	BEHIND_BYTES = 16,
	POISON_NEW = 0xa5,
	POISON_FREED = 0xd7,
	POISON_BEHIND = 0x6e,
};

static const uint64_t state_alive = UINT64_C(0x8b1f3c5d7a92e046);
static const uint64_t state_dead = UINT64_C(0x1d2e4f60718293a5);

struct guard {
	uint64_t state;
	size_t size;
	void *raw;
	uint64_t state_again;
};

static _Atomic(struct guard *) quarantine[QUARANTINE];
static ATOMIC(uint64_t) quarantined;

static struct guard *
guard_of(const void *block)
{
	return (struct guard *)((uintptr_t)block - sizeof(struct guard));
}

static bool
holds_only(const void *block, size_t size, unsigned char value)
{
	const unsigned char *bytes = block;
	size_t i = 0;

	for (i = 0; i < size; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

void *
zone_guard_alloc(const struct zone_request *request)
{
	const size_t align = request->align;
	const size_t front = (sizeof(struct guard) + align - 1) / align * align;
	struct zone_request wider = *request;
	struct guard *guard = NULL;
	char *raw = NULL;

	if (__builtin_add_overflow(request->bytes, front + BEHIND_BYTES,
				   &wider.bytes))
		return NULL;
	raw = zone_request(&wider);
	if (raw == NULL)
		return NULL;
	guard = guard_of(raw + front);
	*guard = (struct guard){state_alive, request->bytes, raw, state_alive};
	if (!request->zero)
		memset(raw + front, POISON_NEW, request->bytes);
	memset(raw + front + request->bytes, POISON_BEHIND, BEHIND_BYTES);
	return raw + front;
}

static struct guard *
verify(const void *block)
{
	struct guard *guard = guard_of(block);

	if (guard->state == state_dead && guard->state_again == state_dead)
		zone_fail("freed, and used as if it were not", block);
	if (guard->state != state_alive || guard->state_again != state_alive)
		zone_fail("written before its beginning, or no block", block);
	if (!holds_only((const char *)block + guard->size, BEHIND_BYTES,
			POISON_BEHIND))
		zone_fail("written past its end", block);
	return guard;
}

static void
leave_quarantine(struct guard *guard)
{
	if (guard == NULL)
		return;
	if (guard->state != state_dead || guard->state_again != state_dead ||
	    !holds_only(guard + 1, guard->size, POISON_FREED))
		zone_fail("written after it was freed", guard + 1);
	zone_free(guard->raw);
}

void
zone_guard_free(void *block)
{
	struct guard *guard = NULL;

	/* not one of ours with a guard: from before the beginning */
	if (zone_early_owns(block))
		return;
	guard = verify(block);
	guard->state = state_dead;
	guard->state_again = state_dead;
	if (guard->size > QUARANTINE_BLOCK_MAX) {
		zone_free(guard->raw);
		return;
	}
	memset(block, POISON_FREED, guard->size);
	leave_quarantine(atomic_exchange(
		&quarantine[atomic_fetch_add(&quarantined, 1) % QUARANTINE],
		guard));
}

/* Always to another place, so that who kept the old pointer is found. */
void *
zone_guard_resize(void *block, size_t size)
{
	const struct zone_request request = {
		.bytes = size, .align = 16, .dry = ZONE_DRY_KERNEL};
	const size_t old = verify(block)->size;
	void *moved = zone_guard_alloc(&request);

	if (moved == NULL)
		return NULL;
	memcpy(moved, block, old < size ? old : size);
	zone_guard_free(block);
	return moved;
}

size_t
zone_guard_usable(const void *block)
{
	return verify(block)->size;
}

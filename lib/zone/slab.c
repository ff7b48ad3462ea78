/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slab.c - the free bits of a slab: opened for a class, taken from and put
 * back by the heap that owns it. Blocks themselves are never touched.
 *
 *   free_count = number of free bits
 *   blocks from fresh on have their bit set and have never been given out, if
 *   the unit was ZERO; since the lowest are always taken first, the next block
 *   that is taken from there is fresh itself */
#include "lib/zone/parts.h"

void
zone_slab_open(const struct zone_heap *heap, uint32_t unit, unsigned number)
{
	const struct zone_class *class = &zone_classes[number];
	struct zone_slab *slab = &zone_region.slabs[unit];
	uint64_t *words = zone_slab_free_words(unit, class);
	unsigned i = 0;

	for (i = 0; i < class->words; i++)
		words[i] = UINT64_MAX;
	if (class->blocks % 64 != 0)
		words[class->words - 1] =
			(UINT64_C(1) << class->blocks % 64) - 1;
	slab->free_count = class->blocks;
	slab->hint = 0;
	slab->fresh = (slab->flags & ZONE_UNIT_ZERO) != 0 ? 0 : class->blocks;
	slab->flags &= ~(uint32_t)ZONE_UNIT_ZERO;
	slab->number = (uint8_t)number;
	slab->listed = false;
	slab->next = 0;
	slab->previous = 0;
	slab->purged = 0;
	zone_tag_set(unit, heap->tag | (ZONE_KIND_SLAB + number));
}

/* The last of the lowest comes first, so that they are popped in the order of
 * their addresses. */
static RT_SAFE void
reverse(uintptr_t *slots, unsigned count)
{
	unsigned i = 0;

	for (i = 0; i < count / 2; i++) {
		const uintptr_t other = slots[i];

		slots[i] = slots[count - 1 - i];
		slots[count - 1 - i] = other;
	}
}

/* Their pages will be touched. */
static RT_SAFE void
unpurge(struct zone_slab *slab, const struct zone_class *class,
	const uintptr_t *slots, unsigned count)
{
	unsigned i = 0;

	for (i = 0; i < count; i++) {
		const uint32_t begin = slots[i] % ZONE_UNIT_BYTES & ~1U;
		const uint32_t end = begin + class->size - 1;

		slab->purged &= (uint16_t) ~((2U << end / ZONE_PAGE_MAX) -
					     (1U << begin / ZONE_PAGE_MAX));
	}
}

unsigned
zone_slab_take(uint32_t unit, uintptr_t *slots, unsigned most)
{
	struct zone_slab *slab = &zone_region.slabs[unit];
	const struct zone_class *class = &zone_classes[slab->number];
	uint64_t *words = zone_slab_free_words(unit, class);
	const uintptr_t base = (uintptr_t)zone_unit_at(unit);
	unsigned word = slab->hint;
	unsigned count = 0;

	for (; word < class->words; word++) {
		uint64_t bits = words[word];

		for (; bits != 0 && count < most; count++) {
			const unsigned block =
				word * 64 + (unsigned)__builtin_ctzll(bits);

			bits &= bits - 1;
			slots[count] = base + (uintptr_t)block * class->size;
			if (block >= slab->fresh) {
				slots[count] |= 1;
				slab->fresh = (uint16_t)(block + 1);
			}
		}
		words[word] = bits;
		if (count == most)
			break;
	}
	if (slab->purged != 0)
		unpurge(slab, class, slots, count);
	slab->hint = (uint16_t)(word < class->words ? word : 0);
	slab->free_count = (uint16_t)(slab->free_count - count);
	reverse(slots, count);
	return count;
}

bool
zone_slab_put(uint32_t unit, unsigned word, uint64_t bits)
{
	struct zone_slab *slab = &zone_region.slabs[unit];
	uint64_t *words =
		zone_slab_free_words(unit, &zone_classes[slab->number]);

	if ((words[word] & bits) != 0)
		return false;
	words[word] |= bits;
	slab->free_count = (uint16_t)(slab->free_count + zone_bits_in(bits));
	if (word < slab->hint)
		slab->hint = (uint16_t)word;
	return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parcel.c - blocks on their way back to slabs, those of one word of bits
 * together: into the free bits of an own slab, or with one OR into the remote
 * bits of another heap's.
 *
 * Blocks leave a magazine in the order in which they came. What one thread has
 * allocated in the order of addresses and another frees in that order, so goes
 * home by words. Small blocks of other heaps wait for company in an outbox for
 * each class. */
#include "lib/zone/parts.h"

void
zone_block_send(uint32_t unit, uint32_t tag, unsigned block)
{
	const unsigned number = (tag & ZONE_KIND_MASK) - ZONE_KIND_SLAB;
	ATOMIC(uint64_t) *words =
		zone_slab_remote_words(unit, &zone_classes[number]);
	struct zone_heap *owner = zone_heap_at(tag >> ZONE_TAG_SHIFT);

	if (!zone_remote_free(&owner->remote, unit, &words[block / 64],
			      UINT64_C(1) << block % 64)) {
		RT_EXCEPTION("the process ends here")
		{
			zone_fail("freed twice", zone_unit_at(unit));
		}
	}
}

/* Blocks of one word of one slab, on their way home. */
struct parcel {
	uint32_t unit;
	unsigned word;
	uint64_t bits;
};

static RT_SAFE void
deliver(struct zone_heap *heap, const struct parcel *parcel)
{
	const uint32_t tag = zone_tag_of(parcel->unit);
	ATOMIC(uint64_t) *words = NULL;

	if (tag >> ZONE_TAG_SHIFT == heap->unit) {
		zone_heap_take_back(heap, parcel->unit, parcel->word,
				    parcel->bits);
		return;
	}
	words = zone_slab_remote_words(
		parcel->unit,
		&zone_classes[(tag & ZONE_KIND_MASK) - ZONE_KIND_SLAB]);
	if (!zone_remote_free(&zone_heap_at(tag >> ZONE_TAG_SHIFT)->remote,
			      parcel->unit, &words[parcel->word],
			      parcel->bits)) {
		RT_EXCEPTION("the process ends here")
		{
			zone_fail("freed twice", zone_unit_at(parcel->unit));
		}
	}
}

/* False: it does not fit in, the parcel is another word's. */
static RT_SAFE bool
join(struct parcel *parcel, const struct zone_class *class, uintptr_t block)
{
	const uint32_t unit = zone_unit_of(block);
	const unsigned index = zone_block_of(class, block % ZONE_UNIT_BYTES);
	const uint64_t bit = UINT64_C(1) << index % 64;

	if (parcel->bits == 0) {
		parcel->unit = unit;
		parcel->word = index / 64;
	} else if (parcel->unit != unit || parcel->word != index / 64 ||
		   (parcel->bits & bit) != 0) {
		return false;
	}
	parcel->bits |= bit;
	return true;
}

static RT_SAFE void
add_to_parcel(struct zone_heap *heap, struct parcel *parcel,
	      const struct zone_class *class, uintptr_t block)
{
	if (join(parcel, class, block))
		return;
	deliver(heap, parcel);
	parcel->bits = 0;
	(void)join(parcel, class, block);
}

static RT_SAFE void
send_class(struct zone_heap *heap, unsigned number)
{
	struct parcel parcel = {0};
	unsigned i = 0;

	for (i = 0; i < heap->outgoing[number]; i++)
		add_to_parcel(heap, &parcel, &zone_classes[number],
			      heap->outbox[number][i]);
	heap->outgoing[number] = 0;
	if (parcel.bits != 0)
		deliver(heap, &parcel);
}

void
zone_heap_send_later(struct zone_heap *heap, unsigned number, void *block)
{
	uint32_t *count = &heap->outgoing[number];

	heap->outbox[number][*count] = (uintptr_t)block;
	(*count)++;
	if (*count == ZONE_OUTBOX)
		send_class(heap, number);
}

void
zone_heap_send_all(struct zone_heap *heap)
{
	unsigned number = 0;

	for (number = 0; number < ZONE_CLASS_64; number++)
		send_class(heap, number);
}

static uintptr_t
slot_at(const struct zone_heap *heap, unsigned number, uint32_t place)
{
	return heap->slots[number][place % ZONE_MAGAZINE_MAX] & ~(uintptr_t)1;
}

/* Looks at all first, so that their cache misses overlap. What fits into the
 * last parcel goes with it: that costs no atomic operation more. */
void
zone_heap_flush(struct zone_heap *heap, unsigned number, unsigned count)
{
	const struct zone_class *class = &zone_classes[number];
	struct zone_head *head = &heap->heads[number];
	struct parcel parcel = {0};
	unsigned i = 0;

	for (i = 0; i < count; i++)
		__builtin_prefetch(&zone_region.slabs[zone_unit_of(
			slot_at(heap, number, head->bottom + i))]);
	for (i = 0; i < count; i++) {
		add_to_parcel(heap, &parcel, class,
			      slot_at(heap, number, head->bottom));
		head->bottom++;
	}
	for (; i < ZONE_FLUSH_MOST && head->bottom != head->top; i++) {
		if (!join(&parcel, class, slot_at(heap, number, head->bottom)))
			break;
		head->bottom++;
	}
	if (parcel.bits != 0)
		deliver(heap, &parcel);
}

void
zone_heap_keep_more(struct zone_heap *heap, unsigned number, uintptr_t block)
{
	const unsigned limit = zone_classes[number].magazine;
	struct zone_head *head = &heap->heads[number];

	zone_heap_flush(heap, number, limit < ZONE_FLUSH ? limit : ZONE_FLUSH);
	heap->slots[number][head->top % ZONE_MAGAZINE_MAX] = block;
	head->top++;
}

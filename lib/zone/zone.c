/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zone.c - what programs call: the fast ways, and the crossing to the slow.
 *
 *   alloc   class -> magazine -> refill from slabs -> a unit
 *   free    tag -> own or keepable: magazine -> flush 8 of a full one
 *               -> another heap's: one OR into its slab
 *
 * A small block that is another heap's (below 64 bytes) goes home: kept here,
 * two threads would write to one cache line. */
#include "lib/zone/quick.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
say(const char *text)
{
	const ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written;
}

void
zone_fail(const char *what, const void *block)
{
	char digits[2 * sizeof(block) + 1];
	uintptr_t rest = (uintptr_t)block;
	unsigned i = 0;

	for (i = 2 * sizeof(block); i > 0; i--, rest /= 16)
		digits[i - 1] = "0123456789abcdef"[rest % 16];
	digits[2 * sizeof(block)] = '\0';
	say("zone: ");
	say(what);
	say(": 0x");
	say(digits);
	say("\n");
	abort();
}

static RT_SAFE void *
alloc_small(struct zone_heap *heap, unsigned class, enum zone_dry dry,
	    bool *ret_fresh)
{
	uintptr_t slot = zone_pop(heap, class);

	if (slot == 0) {
		if (!zone_heap_refill(heap, class, dry))
			return NULL;
		slot = zone_pop(heap, class);
	}
	*ret_fresh = (slot & 1) != 0;
	return zone_block_in(slot);
}

/* The class whose blocks are all aligned so: slabs are to 64 KiB, so any size
 * that is a multiple will do. ZONE_CLASSES: none. */
static RT_SAFE unsigned
aligned_class(size_t bytes, size_t align)
{
	unsigned class = 0;

	if (bytes < align)
		bytes = align;
	if (bytes > ZONE_SMALL_MAX)
		return ZONE_CLASSES;
	class = zone_class_of(bytes);
	while (class < ZONE_CLASSES &&
	       (zone_classes[class].size & (align - 1)) != 0)
		class ++;
	return class;
}

/* A thread that has ended, or for which there was no heap: for one call. */
static void *
request_borrowed(unsigned class, enum zone_dry dry, bool *ret_fresh)
{
	struct zone_heap *heap = zone_heap_adopt(false);
	void *block = NULL;

	if (heap == NULL)
		heap = zone_heap_new(false, false);
	if (heap == NULL)
		return NULL;
	block = alloc_small(heap, class, dry, ret_fresh);
	zone_heap_abandon(heap);
	return block;
}

static void *
request_early(const struct zone_request *request)
{
	if (zone_region_init())
		return zone_request(request);
	if (zone_self.initialising)
		return zone_early_alloc(request->bytes, request->align);
	return NULL;
}

void *
zone_request(const struct zone_request *request)
{
	const size_t bytes = request->bytes != 0 ? request->bytes : 1;
	struct zone_heap *heap = zone_self.heap;
	bool fresh = false;
	unsigned class = 0;
	void *block = NULL;

	if (bytes > PTRDIFF_MAX - ZONE_UNIT_BYTES ||
	    request->align > PTRDIFF_MAX / 2)
		return NULL;
	if (atomic_load_explicit(&zone_region.state, memory_order_acquire) !=
	    ZONE_READY) {
		RT_EXCEPTION("before the first thread is marked")
		{
			return request_early(request);
		}
	}
	class = aligned_class(bytes, request->align);
	if (class == ZONE_CLASSES) {
		RT_EXCEPTION("a marked thread gets a ready span or nothing")
		{
			block = zone_span_alloc(bytes, request->align,
						request->dry, &fresh);
		}
	} else if (heap != NULL) {
		block = alloc_small(heap, class, request->dry, &fresh);
	} else {
		RT_EXCEPTION("a marked thread has a heap")
		{
			heap = zone_thread_heap();
			block = heap != NULL
					? alloc_small(heap, class, request->dry,
						      &fresh)
					: request_borrowed(class, request->dry,
							   &fresh);
		}
	}
	if (block != NULL && request->zero && !fresh)
		memset(block, 0, bytes);
	return block;
}

static ZONE_APART RT_SAFE void *
alloc_slowly(size_t size)
{
	return zone_request(&(struct zone_request){.bytes = size, .align = 1});
}

void *
zone_alloc(size_t size)
{
	struct zone_heap *heap = zone_self.heap;

	if (ZONE_LIKELY(heap != NULL && size - 1 < ZONE_SMALL_MAX)) {
		const uintptr_t slot = zone_pop(heap, zone_class_of(size));

		if (ZONE_LIKELY(slot != 0))
			return zone_block_in(slot);
	}
	return alloc_slowly(size);
}

void *
zone_alloc_zeroed(size_t size)
{
	return zone_request(&(struct zone_request){
		.bytes = size, .align = 1, .zero = true});
}

void *
zone_alloc_aligned(size_t size, size_t align)
{
	if (align == 0 || (align & (align - 1)) != 0)
		return NULL;
	return zone_request(
		&(struct zone_request){.bytes = size, .align = align});
}

/* A block that is not the heap's in use. */
static RT_SAFE void
free_foreign(void *block, uint32_t unit, uint32_t tag, unsigned index)
{
	const unsigned class = (tag & ZONE_KIND_MASK) - ZONE_KIND_SLAB;
	struct zone_heap *heap = zone_self.heap;

	if (heap == NULL && !zone_self.ended) {
		RT_EXCEPTION("a marked thread has a heap")
		{
			heap = zone_thread_heap();
		}
	}
	if (heap != NULL && (tag >> ZONE_TAG_SHIFT == heap->unit ||
			     zone_is_keepable(heap, tag, class)))
		zone_keep(heap, class, (uintptr_t)block);
	else if (heap == NULL || ((heap->tag | tag) & ZONE_TAG_HOME) != 0)
		zone_block_send(unit, tag, index);
	else
		zone_heap_send_later(heap, class, block);
}

static RT_SAFE void
free_other(void *block, uint32_t unit, uint32_t tag)
{
	if ((tag & ZONE_KIND_MASK) == ZONE_KIND_SPAN &&
	    (uintptr_t)block % ZONE_UNIT_BYTES == 0) {
		RT_EXCEPTION("over 64 KiB; kept as it is on a marked thread")
		{
			zone_span_free(unit, tag);
		}
		return;
	}
	RT_EXCEPTION("the process ends here")
	{
		zone_fail("freed, and no block in use", block);
	}
}

/* Whatever is not a matter of a magazine. */
static ZONE_APART RT_SAFE void
free_slowly(void *block)
{
	const uint32_t unit = zone_unit_of((uintptr_t)block);
	const uint32_t in_unit = (uintptr_t)block % ZONE_UNIT_BYTES;
	uint32_t tag = 0, class = 0;

	if (unit == 0) {
		if (block == NULL || zone_early_owns(block))
			return;
		RT_EXCEPTION("the process ends here")
		{
			zone_fail("freed, and not ours", block);
		}
	}
	tag = zone_tag_of(unit);
	class = (tag & ZONE_KIND_MASK) - ZONE_KIND_SLAB;
	if (class >= ZONE_CLASSES) {
		free_other(block, unit, tag);
		return;
	}
	if (!zone_block_begins(&zone_classes[class], in_unit)) {
		RT_EXCEPTION("the process ends here")
		{
			zone_fail("freed, and inside of a block", block);
		}
	}
	free_foreign(block, unit, tag,
		     zone_block_of(&zone_classes[class], in_unit));
}

void
zone_free(void *block)
{
	if (ZONE_UNLIKELY(!zone_free_quick(block)))
		free_slowly(block);
}

bool
zone_owns(const void *block)
{
	return zone_unit_of((uintptr_t)block) != 0 || zone_early_owns(block);
}

size_t
zone_usable_size(const void *block)
{
	const uint32_t unit = zone_unit_of((uintptr_t)block);
	uint32_t kind = 0;

	if (block == NULL)
		return 0;
	if (unit == 0)
		return zone_early_owns(block) ? zone_early_usable(block) : 0;
	kind = zone_tag_of(unit) & ZONE_KIND_MASK;
	if (kind == ZONE_KIND_SPAN)
		return zone_span_usable(unit);
	if (kind == ZONE_KIND_NONE || kind > ZONE_KIND_SPAN) {
		RT_EXCEPTION("the process ends here")
		{
			zone_fail("no block in use", block);
		}
	}
	return zone_classes[kind - ZONE_KIND_SLAB].size;
}

/* A block may stay where it is while at least half of it is used. */
static RT_SAFE void *
resize_span(void *block, size_t size, enum zone_dry dry)
{
	const uint32_t unit = zone_unit_of((uintptr_t)block);
	void *moved = NULL;

	RT_EXCEPTION("over 64 KiB")
	{
		moved = zone_span_resize(unit, size, dry);
	}
	return moved;
}

void *
zone_resize_for(void *block, size_t size, enum zone_dry dry)
{
	const struct zone_request request = {
		.bytes = size,
		.align = dry == ZONE_DRY_KERNEL ? 16 : 1,
		.dry = dry};
	size_t old = 0;
	void *moved = NULL;

	if (block == NULL)
		return zone_request(&request);
	if (size > PTRDIFF_MAX - ZONE_UNIT_BYTES)
		return NULL;
	old = zone_usable_size(block);
	if (size <= old && size >= old / 2 && old <= ZONE_SMALL_MAX)
		return block;
	if (old > ZONE_SMALL_MAX && size > ZONE_SMALL_MAX)
		return resize_span(block, size, dry);
	moved = zone_request(&request);
	if (moved == NULL)
		return NULL;
	memcpy(moved, block, old < size ? old : size);
	zone_free(block);
	return moved;
}

void *
zone_resize(void *block, size_t size)
{
	return zone_resize_for(block, size, ZONE_DRY_NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* family.c - malloc and its relatives on top of the allocator, with the rules
 * of glibc 2.36 for errno, alignment and overflow.
 *
 * In a program that links rotary_zone_malloc, and in libzone-preload.so. It
 * works from the first call of the dynamic linker on: zone_request() makes the
 * reservation, and what is called meanwhile is served from a static arena. A
 * pointer that is not ours is glibc's (RTLD_DEEPBIND, or before we came), and
 * goes there; so do all calls when there is no address space for us.
 *
 * free() never changes errno, every failure sets ENOMEM but posix_memalign's.
 */
#include "lib/zone/family.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MALLOC_ALIGN = 16 };

#pragma GCC visibility push(default)

/* glibc's own, if it is there. */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming) */
void *__libc_malloc(size_t size) __attribute__((weak));
void *__libc_memalign(size_t align, size_t size) __attribute__((weak));
void *__libc_calloc(size_t count, size_t size) __attribute__((weak));
void *__libc_realloc(void *block, size_t size) __attribute__((weak));
void __libc_free(void *block) __attribute__((weak));
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

/* Small reservations, or none: the C library has the rest. */
static bool
has_system(void)
{
	return zone_region.units < ZONE_UNITS_PLENTY;
}

/* The C library sets up its malloc in the first call of it and takes that for
 * one of a single thread, as it is in every program but one with a malloc
 * instead. Here it would be several threads' at once, when memory is short. */
void
zone_system_prepare(void)
{
	if (has_system() && __libc_malloc != NULL && __libc_free != NULL)
		__libc_free(__libc_malloc(1));
}

static void *
system_alloc(size_t size, size_t align, bool zero)
{
	zone_count(&zone_region.figures.system_blocks, 1);
	if (align > MALLOC_ALIGN && __libc_memalign != NULL)
		return __libc_memalign(align, size);
	if (zero && __libc_calloc != NULL)
		return __libc_calloc(1, size);
	return __libc_malloc != NULL ? __libc_malloc(size) : NULL;
}

static void *
request(size_t size, size_t align, bool zero)
{
	const struct zone_request wanted = {
		.bytes = size,
		.align = align < MALLOC_ALIGN ? MALLOC_ALIGN : align,
		.zero = zero,
		.dry = ZONE_DRY_KERNEL,
	};
	void *block = zone_guard_alloc(&wanted);

	if (block == NULL)
		zone_refuse();
	if (block == NULL && size <= PTRDIFF_MAX && align <= PTRDIFF_MAX / 2 &&
	    has_system())
		block = system_alloc(size, align, zero);
	if (block == NULL)
		errno = ENOMEM;
	return block;
}

/* Out of a magazine, whoever is not in a special case. */
static inline bool
is_plain(size_t size)
{
	return !ZONE_DEBUG &&
	       ZONE_LIKELY(!zone_trace_on && zone_self.heap != NULL &&
			   size - 1 < ZONE_SMALL_MAX);
}

static inline uintptr_t
pop(size_t size)
{
	return is_plain(size) ? zone_pop(zone_self.heap, zone_class_of_16(size))
			      : 0;
}

/* After pop() came to nothing. */
static uintptr_t
refill_and_pop(size_t size)
{
	struct zone_heap *heap = zone_self.heap;
	const unsigned number = zone_class_of_16(size);

	return zone_heap_refill(heap, number, ZONE_DRY_KERNEL)
		       ? zone_pop(heap, number)
		       : 0;
}

static ZONE_APART void *
malloc_slowly(size_t size)
{
	const uintptr_t slot = is_plain(size) ? refill_and_pop(size) : 0;
	void *block = slot != 0 ? zone_block_in(slot)
				: request(size, MALLOC_ALIGN, false);

	if (zone_trace_on)
		zone_trace(ZONE_TRACE_MALLOC, block, size, 0);
	return block;
}

void *
malloc(size_t size)
{
	const uintptr_t slot = pop(size);

	return ZONE_LIKELY(slot != 0) ? zone_block_in(slot)
				      : malloc_slowly(size);
}

static ZONE_APART void *
calloc_slowly(size_t bytes)
{
	void *block = request(bytes, MALLOC_ALIGN, true);

	if (zone_trace_on)
		zone_trace(ZONE_TRACE_CALLOC, block, bytes, 0);
	return block;
}

void *
calloc(size_t count, size_t size)
{
	size_t bytes = 0;
	uintptr_t slot = 0;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	slot = pop(bytes);
	if (ZONE_UNLIKELY(slot == 0))
		return calloc_slowly(bytes);
	return (slot & 1) != 0 ? zone_block_in(slot)
			       : memset(zone_block_in(slot), 0, bytes);
}

static ZONE_APART void
free_slowly(void *block)
{
	int saved_errno = 0;

	if (block == NULL)
		return;
	if (zone_trace_on)
		zone_trace(ZONE_TRACE_FREE, block, 0, 0);
	if (zone_owns(block)) {
		zone_guard_free(block);
	} else if (__libc_free != NULL) {
		/* ours is left alone below, but glibc's is not ours to know */
		saved_errno = errno;
		__libc_free(block);
		errno = saved_errno;
	}
}

void
free(void *block)
{
	if (ZONE_DEBUG ||
	    ZONE_UNLIKELY(zone_trace_on || !zone_free_quick(block)))
		free_slowly(block);
}

static void *
resize(void *block, size_t size)
{
	void *moved = NULL;

	if (!zone_owns(block))
		return __libc_realloc != NULL ? __libc_realloc(block, size)
					      : NULL;
	moved = zone_guard_resize(block, size);
	if (moved == NULL) {
		zone_refuse();
		errno = ENOMEM;
	}
	return moved;
}

/* From one magazine's block to another's, both small; NULL: it is not done, and
 * nothing else either. */
static inline void *
resize_quickly(void *block, size_t size)
{
	const size_t offset = (uintptr_t)block - (uintptr_t)zone_region.base;
	const struct zone_class *class = NULL;
	uintptr_t slot = 0;
	unsigned number = 0;

	if (!is_plain(size) || offset >= zone_region.bytes)
		return NULL;
	number = (zone_tag_of((uint32_t)(offset >> ZONE_UNIT_SHIFT)) &
		  ZONE_KIND_MASK) -
		 ZONE_KIND_SLAB;
	if (number >= ZONE_CLASSES)
		return NULL;
	class = &zone_classes[number];
	if (!zone_block_begins(class, (uint32_t)offset % ZONE_UNIT_BYTES))
		return NULL;
	if (size <= class->size && size >= class->size / 2)
		return block;
	slot = pop(size);
	if (slot == 0)
		return NULL;
	memcpy(zone_block_in(slot), block,
	       size < class->size ? size : class->size);
	free(block);
	return zone_block_in(slot);
}

void *
realloc(void *block, size_t size)
{
	void *moved = resize_quickly(block, size);

	if (ZONE_LIKELY(moved != NULL))
		return moved;
	if (block == NULL)
		return malloc(size);
	if (size == 0) {
		free(block);
		return NULL;
	}
	moved = resize(block, size);
	if (zone_trace_on)
		zone_trace(ZONE_TRACE_REALLOC, moved, size, (uintptr_t)block);
	return moved;
}

void *
reallocarray(void *block, size_t count, size_t size)
{
	size_t bytes = 0;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(block, bytes);
}

static void *
request_aligned(size_t align, size_t size)
{
	void *block = request(size, align, false);

	if (zone_trace_on)
		zone_trace(ZONE_TRACE_ALIGNED, block, size, align);
	return block;
}

/* As glibc does it: to the next power of two. */
void *
memalign(size_t align, size_t size)
{
	size_t power = MALLOC_ALIGN;

	if (align > SIZE_MAX / 2 + 1) {
		errno = EINVAL;
		return NULL;
	}
	while (power < align)
		power *= 2;
	return request_aligned(power, size);
}

void *
aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int
posix_memalign(void **ret_block, size_t align, size_t size)
{
	void *block = NULL;

	if (align == 0 || (align & (align - 1)) != 0 ||
	    align % sizeof(void *) != 0)
		return EINVAL;
	block = request_aligned(align, size);
	if (block == NULL)
		return ENOMEM;
	*ret_block = block;
	return 0;
}

void *
valloc(size_t size)
{
	return request_aligned(ZONE_PAGE_MAX, size);
}

void *
pvalloc(size_t size)
{
	if (size > PTRDIFF_MAX - ZONE_PAGE_MAX) {
		errno = ENOMEM;
		return NULL;
	}
	return request_aligned(ZONE_PAGE_MAX, (size + ZONE_PAGE_MAX - 1) /
						      ZONE_PAGE_MAX *
						      ZONE_PAGE_MAX);
}

size_t
malloc_usable_size(void *block)
{
	static ATOMIC(uintptr_t) next;
	uintptr_t function = 0;

	if (block == NULL)
		return 0;
	if (zone_owns(block))
		return zone_guard_usable(block);
	function = atomic_load(&next);
	if (function == 0) {
		function = (uintptr_t)dlsym(RTLD_NEXT, "malloc_usable_size");
		atomic_store(&next, function);
	}
	return function != 0 ? ((size_t(*)(void *))function)(block) : 0;
}

int
mallopt(int parameter, int value)
{
	(void)parameter;
	(void)value;
	return 1;
}

int
malloc_trim(size_t keep)
{
	struct zone_stats before, after;
	const int saved_errno = errno;

	(void)keep;
	zone_stats(&before);
	zone_trim();
	zone_stats(&after);
	errno = saved_errno;
	return after.purged_units != before.purged_units;
}

static void
gather(struct mallinfo2 *info)
{
	struct zone_stats stats;
	size_t held = 0;
	unsigned i = 0;

	zone_stats(&stats);
	for (i = 0; i < ZONE_STATS_CLASSES; i++) {
		info->uordblks += stats.classes[i].blocks_in_use *
				  stats.classes[i].size_bytes;
		held += stats.classes[i].slabs * ZONE_UNIT_BYTES;
	}
	info->arena = held + stats.ready_bytes + stats.locked_free_bytes;
	info->fordblks = info->arena - info->uordblks;
	info->hblks = stats.spans;
	info->hblkhd = stats.span_bytes;
	info->keepcost = stats.ready_bytes + stats.span_cache_bytes;
}

struct mallinfo2
mallinfo2(void)
{
	struct mallinfo2 info = {0};

	gather(&info);
	return info;
}

/* Its numbers are too small for what there is, as glibc's are. */
struct mallinfo
mallinfo(void)
{
	const struct mallinfo2 wide = mallinfo2();

	return (struct mallinfo){
		.arena = (int)wide.arena,
		.uordblks = (int)wide.uordblks,
		.fordblks = (int)wide.fordblks,
		.hblks = (int)wide.hblks,
		.hblkhd = (int)wide.hblkhd,
		.keepcost = (int)wide.keepcost,
	};
}

/* The last line's name is one that programs look for. */
void
malloc_stats(void)
{
	struct zone_stats stats;
	int state = 0;

	zone_stats(&stats);
	/* no place to be cancelled, as glibc's is not */
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	(void)fprintf(stderr,
		      "slab and heap bytes = %10zu\n"
		      "free bytes          = %10zu\n"
		      "of them, no memory  = %10zu\n"
		      "spans               = %10zu\n"
		      "span bytes          = %10zu\n"
		      "max mmap bytes      = %10zu\n",
		      stats.frontier_bytes,
		      stats.ready_bytes + stats.cold_bytes, stats.cold_bytes,
		      stats.spans, stats.span_bytes,
		      stats.span_bytes + stats.span_cache_bytes);
	(void)pthread_setcancelstate(state, &state);
}

#pragma GCC visibility pop

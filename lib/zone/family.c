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
 * free() never changes errno, every failure sets ENOMEM but posix_memalign's. */
#include "lib/zone/family.h"
#include "lib/zone/parts.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MALLOC_ALIGN = 16, PAGE_BYTES = 4096 };

/* glibc's own, if it is there. */
void *__libc_malloc(size_t size) __attribute__((weak));
void *__libc_memalign(size_t align, size_t size) __attribute__((weak));
void *__libc_calloc(size_t count, size_t size) __attribute__((weak));
void *__libc_realloc(void *block, size_t size) __attribute__((weak));
void __libc_free(void *block) __attribute__((weak));

static bool
is_refused(void)
{
	return atomic_load_explicit(&zone_region.state, memory_order_acquire) ==
	       ZONE_REFUSED;
}

static void *
system_alloc(size_t size, size_t align, bool zero)
{
	if (align > MALLOC_ALIGN && __libc_memalign != NULL)
		return __libc_memalign(align, size);
	if (zero && __libc_calloc != NULL)
		return __libc_calloc(1, size);
	return __libc_malloc != NULL ? __libc_malloc(size) : NULL;
}

static inline void *
request(size_t size, size_t align, bool zero)
{
	const struct zone_request wanted = {
		.bytes = size,
		.align = align < MALLOC_ALIGN ? MALLOC_ALIGN : align,
		.zero = zero,
		.dry = ZONE_DRY_KERNEL,
	};
	const int saved_errno = errno;
	void *block;

	block = zone_debug_alloc(&wanted);
	/* small reservations, or none: glibc has the rest */
	if (block == NULL && size <= PTRDIFF_MAX && align <= PTRDIFF_MAX / 2 &&
	    (is_refused() || zone_region.units < ZONE_UNITS_PLENTY))
		block = system_alloc(size, align, zero);
	errno = block != NULL ? saved_errno : ENOMEM;
	return block;
}

void *
malloc(size_t size)
{
	struct zone_heap *heap = zone_self.heap;
	void *block = NULL;

	if (!ZONE_DEBUG && heap != NULL && size - 1 < ZONE_SMALL_MAX)
		block = zone_pop(&heap->magazines[zone_class_of_16(size)]);
	if (block == NULL)
		block = request(size, MALLOC_ALIGN, false);
	return block;
}

void *
calloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return request(bytes, MALLOC_ALIGN, true);
}

void
free(void *block)
{
	const int saved_errno = errno;

	if (block == NULL)
		return;
	if (zone_owns(block))
		zone_debug_free(block);
	else if (__libc_free != NULL)
		__libc_free(block);
	errno = saved_errno;
}

void *
realloc(void *block, size_t size)
{
	const int saved_errno = errno;
	void *moved;

	if (block == NULL)
		return malloc(size);
	if (size == 0) {
		free(block);
		return NULL;
	}
	if (!zone_owns(block))
		return __libc_realloc != NULL ? __libc_realloc(block, size)
					      : NULL;
	moved = zone_debug_resize(block, size);
	errno = moved != NULL ? saved_errno : ENOMEM;
	return moved;
}

void *
reallocarray(void *block, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(block, bytes);
}

/* As glibc does it: the next power of two. */
static bool
round_align(size_t *align)
{
	size_t power = MALLOC_ALIGN;

	if (*align > SIZE_MAX / 2 + 1)
		return false;
	while (power < *align)
		power *= 2;
	*align = power;
	return true;
}

void *
memalign(size_t align, size_t size)
{
	if (!round_align(&align)) {
		errno = EINVAL;
		return NULL;
	}
	return request(size, align, false);
}

void *
aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int
posix_memalign(void **ret_block, size_t align, size_t size)
{
	const int saved_errno = errno;
	void *block;

	if (align == 0 || (align & (align - 1)) != 0 ||
	    align % sizeof(void *) != 0)
		return EINVAL;
	block = request(size, align, false);
	errno = saved_errno;
	if (block == NULL)
		return ENOMEM;
	*ret_block = block;
	return 0;
}

void *
valloc(size_t size)
{
	return request(size, PAGE_BYTES, false);
}

void *
pvalloc(size_t size)
{
	if (size > PTRDIFF_MAX - PAGE_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	return request((size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES,
		       PAGE_BYTES, false);
}

size_t
malloc_usable_size(void *block)
{
	static ATOMIC(uintptr_t) next;
	uintptr_t function;

	if (block == NULL)
		return 0;
	if (zone_owns(block))
		return zone_debug_usable(block);
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

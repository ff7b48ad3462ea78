/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/alloc.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

static void *
system_allocate(size_t size, size_t align)
{
	void *block = NULL;

	if (posix_memalign(&block, align, size) != 0)
		return NULL;
	memset(block, 0, size);
	return block;
}

void *
allocator_new(struct allocator *allocator, size_t size)
{
	if (allocator == NULL)
		return calloc(1, size);
	return allocator->allocate(allocator, size, alignof(max_align_t));
}

void *
allocator_new_aligned(struct allocator *allocator, size_t size, size_t align)
{
	if (allocator == NULL)
		return system_allocate(size, align);
	return allocator->allocate(allocator, size, align);
}

void
allocator_delete(struct allocator *allocator, void *block)
{
	if (allocator == NULL)
		free(block);
	else
		allocator->release(allocator, block);
}

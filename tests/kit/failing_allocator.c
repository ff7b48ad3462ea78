/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kit/failing_allocator.h"

#include <stdlib.h>
#include <string.h>

static void *
failing_allocate(struct allocator *self, size_t size, size_t align)
{
	struct failing_allocator *failing = (void *)self;
	const size_t rounded = (size + align - 1) / align * align;
	void *block;

	failing->calls++;
	if (failing->calls == failing->fail_at)
		return NULL;
	block = aligned_alloc(align, rounded);
	if (block == NULL)
		return NULL;
	memset(block, 0, rounded);
	failing->live++;
	return block;
}

static void
failing_release(struct allocator *self, void *block)
{
	struct failing_allocator *failing = (void *)self;

	if (block == NULL)
		return;
	failing->live--;
	free(block);
}

void
failing_allocator_init(struct failing_allocator *allocator, size_t fail_at)
{
	*allocator = (struct failing_allocator){
		.base = {failing_allocate, failing_release},
		.fail_at = fail_at,
	};
}

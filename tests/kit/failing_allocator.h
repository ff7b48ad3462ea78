/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failing_allocator.h - an allocator that fails at the n-th call, so that every
 * out-of-memory path can be run: count the allocations of a constructor once,
 * then fail each in turn. Counts what is not given back. One thread. */
#ifndef ROTARY_KIT_FAILING_ALLOCATOR_H
#define ROTARY_KIT_FAILING_ALLOCATOR_H

#include "lib/base/alloc.h"

struct failing_allocator {
	struct allocator base;
	size_t calls;
	size_t fail_at; /* the call, from 1, that gives NULL; 0: none */
	size_t live;    /* blocks not given back */
};

void failing_allocator_init(struct failing_allocator *allocator,
			    size_t fail_at);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* family.h - what stands between malloc and the allocator: nothing, or the
 * guards of a debug build; and the record of every call, if one is wanted.
 *
 * With ZONE_DEBUG=1 each block has a red zone before and behind it, new and
 * freed memory is poisoned, and freed blocks wait in quarantine, where a late
 * write to them is found.
 * Threads: any. Errors: a broken guard is a message and abort().
 * Private to lib/zone. */
#ifndef ROTARY_ZONE_FAMILY_H
#define ROTARY_ZONE_FAMILY_H

#include "lib/zone/quick.h"

#ifndef ZONE_DEBUG
#	define ZONE_DEBUG 0
#endif

/* Below it glibc serves what we cannot. */
enum { ZONE_UNITS_PLENTY = 1 << (30 - ZONE_UNIT_SHIFT) };

#if ZONE_DEBUG
void *zone_guard_alloc(const struct zone_request *request);
void zone_guard_free(void *block);
void *zone_guard_resize(void *block, size_t size);
size_t zone_guard_usable(const void *block);
#else
static inline void *
zone_guard_alloc(const struct zone_request *request)
{
	return zone_request(request);
}

static inline void
zone_guard_free(void *block)
{
	zone_free(block);
}

static inline void *
zone_guard_resize(void *block, size_t size)
{
	return zone_resize_for(block, size, ZONE_DRY_KERNEL);
}

static inline size_t
zone_guard_usable(const void *block)
{
	return zone_usable_size(block);
}
#endif

/* --- trace.c --- */

enum zone_trace_call {
	ZONE_TRACE_MALLOC = 1,
	ZONE_TRACE_CALLOC,
	ZONE_TRACE_ALIGNED,
	ZONE_TRACE_REALLOC,
	ZONE_TRACE_FREE,
};

/* As it stands in the file, after a page with struct zone_trace_head. */
struct zone_trace_record {
	uint64_t block; /* the result, or what is freed */
	uint64_t size;
	uint64_t before; /* realloc: the old block; aligned: the alignment */
	uint32_t thread; /* small numbers, in order of appearance */
	uint32_t call;   /* 0: never completed */
};

enum { ZONE_TRACE_HEAD_BYTES = 4096 };

struct zone_trace_head {
	char magic[8]; /* "zonetrc1" */
	ATOMIC(uint64_t) records;
	ATOMIC(uint64_t) lost;
};

extern ZONE_HIDDEN bool zone_trace_on;

void zone_trace(enum zone_trace_call call, const void *block, size_t size,
		uint64_t before);

#endif

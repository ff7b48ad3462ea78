/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shim.h - names of mimalloc's interface for functions of the C library. Its
 * heaps are none here: what is of one is of the process. */
#ifndef ROTARY_FOREIGN_SHIM_H
#define ROTARY_FOREIGN_SHIM_H

#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MI_ALIGNMENT_MAX (1024 * 1024)
#define MI_DEBUG 0
#define mi_cdecl

typedef struct {
	int unused;
} mi_heap_t;

enum { mi_option_verbose };

#define mi_malloc malloc
#define mi_calloc calloc
#define mi_realloc realloc
#define mi_reallocarray reallocarray
#define mi_free free
#define mi_memalign memalign
#define mi_posix_memalign posix_memalign
#define mi_usable_size malloc_usable_size
#define mi_realpath realpath
#define mi_malloc_aligned(size, align) memalign(align, size)
#define mi_malloc_aligned_at(size, align, offset) memalign(align, size)
#define mi_heap_malloc_aligned(heap, size, align) memalign(align, size)
#define mi_heap_malloc_tp(heap, type) ((type *)malloc(sizeof(type)))
#define mi_heap_new() ((mi_heap_t *)calloc(1, sizeof(mi_heap_t)))
#define mi_heap_delete(heap) free(heap)
#define mi_heap_destroy(heap) free(heap)
#define mi_heap_contains_block(heap, block) true
#define mi_option_disable(option) ((void)0)
#define mi_stats_print(out) ((void)0)

static inline void *
mi_zalloc_aligned(size_t size, size_t align)
{
	void *block = memalign(align, size);

	return block != NULL ? memset(block, 0, size) : NULL;
}

#endif

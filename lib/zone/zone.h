/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zone.h - the allocator: size classes in slabs of one reservation, per-thread
 * magazines in front, no lock anywhere.
 *
 * Threads: all functions on any thread, unless said. A block may be freed by
 *          any thread; a private heap is used by one thread at a time.
 * Orders:  what was done to a block before it was freed comes before it is
 *          given out again, by whatever thread.
 * Progress: no lock. A marked thread is wait-free with blocks of up to 64 KiB:
 *          what another thread could keep busy is tried 8 times, then its own
 *          reserve serves. Else lock-free, but for the kernel.
 * Cost:    O(1): a class by a count of leading zeros, a magazine in front.
 * Source:  slabs and magazines: J. Bonwick, USENIX 1994 and (with J. Adams)
 *          2001; the stack: R. K. Treiber, IBM RJ 5118, 1986; frees by others:
 *          ours (remote.h). Proof: tests/model/model_zone.c.
 * RT:      zone_alloc*, zone_resize (up to 64 KiB), zone_free and
 *          zone_usable_size are RT_SAFE on a thread marked by
 *          zone_thread_realtime(true): bounded, no system call, no page fault;
 *          NULL when its memory is dry. On other threads they may enter the
 *          kernel. The rest MAY_BLOCK unless marked.
 * Memory:  blocks are aligned to 16, of 8 bytes and 17..24 bytes to 8.
 * Errors:  NULL: no memory, or size over PTRDIFF_MAX; errno is untouched. A
 *          pointer that is no block in use is a bug: message and abort().
 * fork():  the child has the forking thread's heap and everything that was
 *          free; what other threads held stays theirs, and unused. Memory is
 *          not locked in it, and no thread of it is marked.
 * Sanitizers see the whole reservation as addressable. */
#ifndef ROTARY_ZONE_ZONE_H
#define ROTARY_ZONE_ZONE_H

#include "lib/base/alloc.h"
#include "lib/base/attr.h"

#include <stdbool.h>

struct zone_heap;

/* Also in libzone-preload.so: a program may ask for them as weak symbols. */
#pragma GCC visibility push(default)

NODISCARD RT_SAFE void *zone_alloc(size_t size);
NODISCARD RT_SAFE void *zone_alloc_zeroed(size_t size);
/* align: a power of two; over 64 KiB it costs as much address space again. */
NODISCARD RT_SAFE void *zone_alloc_aligned(size_t size, size_t align);
/* As realloc(), but a size of 0 gives the smallest block. NULL: the old block
 * is as it was. */
NODISCARD RT_SAFE void *zone_resize(void *block, size_t size);
/* NULL is allowed. */
RT_SAFE void zone_free(void *block);
/* What may be written to, the same all the block's life but for zone_resize. */
RT_SAFE size_t zone_usable_size(const void *block);
/* False: some other allocator's, or no pointer at all. */
RT_SAFE bool zone_owns(const void *block);

/* --- real-time threads --- */

/* Makes the janitor keep this much memory populated and, where RLIMIT_MEMLOCK
 * lets it, locked, for marked threads and private heaps; the first part of it
 * at once. Returns 0, -ENOMEM (not all could be had). */
NODISCARD MAY_BLOCK int zone_reserve(size_t bytes);
/* The same, but only first_bytes at once and most_bytes in the end: more is
 * made when a quarter of first_bytes is left. */
NODISCARD MAY_BLOCK int zone_reserve_upto(size_t first_bytes,
					  size_t most_bytes);

/* Marks the calling thread, or takes the mark off. It gets a heap of its own of
 * reserved memory and a private reserve of 256 KiB. Blocks that it had before
 * stay valid. Returns 0, -ENOMEM (not marked). */
NODISCARD MAY_BLOCK int zone_thread_realtime(bool on);

/* Tops up the calling thread's private reserve from what the janitor has ready;
 * false: it is not whole, no quantum should be begun. */
RT_SAFE bool zone_thread_is_ready(void);
/* Gives the private reserve back, for a thread that will not work for a while;
 * zone_thread_is_ready() takes it again. */
RT_SAFE void zone_thread_rest(void);
/* From now on a library's malloc on a marked thread that would have to enter
 * the kernel ends the process. For tests. */
void zone_realtime_strict(void);

/* One pass: populate, lock, purge, tidy what finished threads left. */
MAY_BLOCK void zone_janitor_pass(void);
/* There is work for a pass. */
RT_SAFE bool zone_janitor_is_wanted(void);
/* A thread that makes a pass each period_ns, less and less often while there is
 * nothing to do, and at once when woken. Returns 0, -EAGAIN (no thread),
 * -EALREADY. */
NODISCARD MAY_BLOCK int zone_janitor_start(int64_t period_ns);
MAY_BLOCK void zone_janitor_stop(void);
/* One futex call when a pass is wanted and none was made for it, otherwise
 * none. A marked thread that makes system calls should come by now and then;
 * for one that does not, those threads do it that are not marked. */
RT_DEVICE void zone_janitor_wake(void);

/* --- private heaps --- */

/* A heap with a limit of its own, in whole slabs and spans. NULL: no memory. */
NODISCARD MAY_BLOCK struct zone_heap *zone_heap_create(size_t limit_bytes);
/* Frees all its blocks. Nobody is in it, nobody frees one of them meanwhile. */
MAY_BLOCK void zone_heap_destroy(struct zone_heap *heap);
/* From here on the calling thread allocates from it; leave goes back to what it
 * was. They nest. The thread must leave before it ends. False: not entered, the
 * thread has no heap of its own to come back to. */
NODISCARD RT_SAFE bool zone_heap_enter(struct zone_heap *heap);
RT_SAFE void zone_heap_leave(struct zone_heap *heap);
/* The private heap that the calling thread has entered last, or NULL. */
RT_SAFE struct zone_heap *zone_heap_entered(void);
/* Any thread. */
RT_SAFE size_t zone_heap_used(const struct zone_heap *heap);
/* A library that cannot live with NULL: refuse(context) is called by malloc and
 * its relatives, on the thread that entered the heap, where they would return
 * it. It must not return but leave the library by longjmp(), after which the
 * heap's blocks are good for nothing but zone_heap_destroy(). NULL: as before.
 * Whoever has entered the heap. */
typedef void zone_refuse_fn(void *context);
RT_SAFE void zone_heap_on_refusal(struct zone_heap *heap,
				  zone_refuse_fn *refuse, void *context);
/* Whether the program's malloc is this allocator. */
bool zone_is_malloc(void);

/* The same as a struct allocator, for constructors of lib/ and decoders. */
struct zone_allocator {
	struct allocator allocator;
	struct zone_heap *heap; /* NULL: the calling thread's */
};
void zone_allocator_init(struct zone_allocator *allocator,
			 struct zone_heap *heap);

/* --- looking at it --- */

enum { ZONE_STATS_CLASSES = 32 };

/* Figures are taken while threads run: each is right by itself. */
struct zone_class_stats {
	size_t size_bytes;
	size_t slabs;
	size_t slabs_high;    /* the most, added up over the heaps */
	size_t blocks_in_use; /* what magazines hold is in use too */
	uint64_t remote_frees;
};

struct zone_stats {
	struct zone_class_stats classes[ZONE_STATS_CLASSES];
	size_t reserved_bytes; /* 0: refused, the system's malloc serves */
	size_t reservations;   /* made one after the other */
	size_t frontier_bytes; /* of slabs and heaps, ever used */
	size_t spans;
	size_t span_bytes;
	size_t span_cache_bytes;
	size_t ready_bytes;  /* free units, memory still there */
	size_t cold_bytes;   /* free units without memory */
	size_t locked_bytes; /* of the reserve */
	size_t locked_free_bytes;
	size_t not_locked_bytes; /* of the reserve, populated only */
	uint64_t heaps;
	uint64_t orphans;
	uint64_t adoptions;
	uint64_t kernel_calls;
	uint64_t kernel_failures;
	uint64_t rt_dry;          /* NULL given to marked threads */
	uint64_t rt_alloc_kernel; /* the kernel entered on them instead */
	uint64_t purged_units;
	uint64_t purged_pages;   /* of slabs in use */
	uint64_t harvests_asked; /* of threads that left freed blocks lying */
	uint64_t refusals;       /* of private heaps */
	uint64_t small_extents;  /* one unit, where 16 were not to be had */
	uint64_t system_blocks;  /* that glibc gave instead */
};

void zone_stats(struct zone_stats *ret_stats);

/* Walks the calling thread's heap and the units. Returns 0, -EUCLEAN and where
 * in ret_what (may be NULL). */
NODISCARD int zone_check(const char **ret_what);

/* Gives back what the calling thread's heap and finished threads hold free. */
MAY_BLOCK void zone_trim(void);

/* How much of freed spans may be kept ready: 32 MiB before it is called. */
void zone_span_cache(size_t bytes);
/* The same of free slabs: 3.75 MiB before it is called. The janitor gives back
 * what is over half of it. */
void zone_slab_cache(size_t bytes);

#pragma GCC visibility pop

#endif

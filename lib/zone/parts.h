/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parts.h - what the files of lib/zone share: the layout of the reservation
 * and of a heap. Private to lib/zone.
 *
 * The reservation is an array of units of 64 KiB (or several, see tract.c), and
 * beside it three arrays with an entry for each unit: its tag (one load tells
 * what a pointer is), its struct zone_slab and, for slabs of many blocks, its
 * struct zone_bits. A unit is a slab of one class, the beginning or inside of a
 * span, a heap, or free.
 *
 *   tag = owning heap's unit << 8 | home << 7 | kind
 *
 * Unit 0 is never used, so that 0 means none. home: the blocks go straight
 * back to their heap, no other thread keeps them.
 *
 * Fields of a slab belong to who owns the heap that owns the slab, but for the
 * remote bits (remote.h) and the link, which the stacks use (stack.h). */
#ifndef ROTARY_ZONE_PARTS_H
#define ROTARY_ZONE_PARTS_H

#include "lib/zone/classes.h"
#include "lib/zone/remote.h"
#include "lib/zone/stack.h"
#include "lib/zone/zone.h"

#include <assert.h>

enum {
	ZONE_KIND_NONE = 0,
	ZONE_KIND_SLAB = 1, /* + class */
	ZONE_KIND_SPAN = ZONE_KIND_SLAB + ZONE_CLASSES,
	ZONE_KIND_HEAP,
	ZONE_KIND_MASK = 0x7f,
	ZONE_TAG_HOME = 0x80,
	ZONE_TAG_SHIFT = 8,
};

enum {
	ZONE_MOVE = 8, /* blocks moved at once to or from a magazine */
	ZONE_FLUSH = 4,
	ZONE_FLUSH_MOST = 32, /* when they go to one word of another heap's */
	ZONE_OUTBOX = 16,
	ZONE_EXTENT_UNITS = 16,
	ZONE_RESERVE_UNITS = 4,
	ZONE_INLINE_WORDS = 4,
	ZONE_GRANULE_UNITS = 1024, /* whose entries are committed at once */
	ZONE_STACK_TRIES = 8,      /* of a real-time thread */
	ZONE_SPAN_CLASSES = 104,
	ZONE_TRACTS = 64,
};

/* Of a unit that is free or a slab's. */
enum {
	ZONE_UNIT_ZERO = 1,   /* nobody has written to it */
	ZONE_UNIT_LOCKED = 2, /* populated, and locked where that was allowed */
};

struct zone_span {
	size_t bytes;   /* of the block */
	uint32_t first; /* unit; differs from the block's when aligned */
	uint32_t units;
	uint32_t next;             /* of its private heap */
	uint32_t number;           /* of the class */
	ATOMIC(uint32_t) released; /* of a private heap's */
	bool zero;
};

struct zone_slab {
	/* owner */
	union {
		struct {
			uint16_t free_count;
			uint16_t hint;  /* no free bit in a word before it */
			uint16_t fresh; /* first block never given out */
			uint8_t number; /* of the class */
			bool listed;    /* with those that have a free bit */
			uint32_t next, previous;
			uint64_t free[ZONE_INLINE_WORDS];
			uint16_t purged; /* pages given back to the kernel */
		};
		struct zone_span span;
	};
	/* anybody */
	ALIGNED(CACHE_LINE) ATOMIC(uint64_t) remote[ZONE_INLINE_WORDS];
	ATOMIC(uint32_t) link;
	/* who holds the unit */
	uint32_t flags;
};

static_assert(sizeof(struct zone_slab) == (size_t)2 * CACHE_LINE,
	      "an owner's line and everybody's");

struct zone_bits {
	uint64_t free[ZONE_BLOCKS_MAX / 64];
	ATOMIC(uint64_t) remote[ZONE_BLOCKS_MAX / 64];
};

/* Of a magazine: counters of what went in and out; equal: it is empty. */
struct zone_head {
	uint32_t top, bottom;
};

struct zone_list {
	uint32_t head, tail;
};

/* Slabs of one class, and figures: written by the owner, read by anybody. */
struct zone_bin {
	struct zone_list some; /* with free bits */
	struct zone_list full; /* without, the longest so first */
	ATOMIC(uint32_t) slabs;
	ATOMIC(uint32_t) free; /* bits in slabs of the bin */
	ATOMIC(uint32_t) high; /* slabs */
	ATOMIC(uint32_t) remote_frees;
	uint32_t used_ms;  /* when it was seen to be in use */
	uint32_t returned; /* blocks, since pages were given back */
	bool used;         /* since it was looked at */
};

/* A magazine holds pointers to blocks that are neither in use nor free in their
 * slab: a ring, at most as many as the class says. Bit 0 tells that a block has
 * never been given out. The heads are apart from the slots, so that those of
 * all the classes are few cache lines. */
struct zone_heap {
	/* immutable while it has an owner */
	uint32_t unit;
	uint32_t tag; /* of its units, without kind */
	bool is_private;
	bool realtime;
	uint32_t older; /* heap's unit; private ones are not in the list */
	/* owner */
	struct zone_heap *outer; /* in use before this one was entered */
	ALIGNED(CACHE_LINE) struct zone_head heads[ZONE_CLASSES];
	struct zone_bin bins[ZONE_CLASSES];
	uint32_t reserve[ZONE_RESERVE_UNITS];
	uint32_t reserved;
	uint32_t spans; /* of a private heap */
	uint32_t refills;
	uint32_t traffic; /* bytes between slabs and magazines */
	uint32_t outgoing[ZONE_CLASS_64];
	uintptr_t outbox[ZONE_CLASS_64][ZONE_OUTBOX]; /* of other heaps */
	uint64_t limit_units;
	zone_refuse_fn *refuse;
	void *refuse_context;
	ATOMIC(uint64_t) units;
	ATOMIC(uint32_t) entered;
	ATOMIC(uint32_t) harvests;
	uint32_t harvests_seen; /* by the janitor */
	/* anybody */
	ALIGNED(2 * CACHE_LINE) struct zone_remote remote;
	ATOMIC(uint32_t) asked; /* to harvest */
	/* owner */
	ALIGNED(2 * CACHE_LINE)
	uintptr_t slots[ZONE_CLASSES][ZONE_MAGAZINE_MAX];
};

enum {
	ZONE_HEAP_BYTES = (sizeof(struct zone_heap) + ZONE_PAGE_MAX - 1) /
			  ZONE_PAGE_MAX * ZONE_PAGE_MAX,
};

static_assert(ZONE_HEAP_BYTES - ZONE_UNIT_BYTES <= 0, "a heap is a unit");
static_assert(offsetof(struct zone_heap, slots) <= 4096,
	      "what others touch is on the page that its making touched");

enum zone_state {
	ZONE_UNBORN,
	ZONE_INITIALISING,
	ZONE_READY,
	ZONE_REFUSED, /* no address space */
};

struct zone_figures {
	ATOMIC(uint64_t) kernel_calls;
	ATOMIC(uint64_t) kernel_failures;
	ATOMIC(uint64_t) rt_dry;
	ATOMIC(uint64_t) rt_alloc_kernel;
	ATOMIC(uint64_t) heaps;
	ATOMIC(uint64_t) adoptions;
	ATOMIC(uint64_t) locked_bytes;
	ATOMIC(uint64_t) unlocked_bytes; /* populated, but mlock() refused */
	ATOMIC(uint64_t) purged_units;
	ATOMIC(uint64_t) refusals;
	ATOMIC(uint64_t) small_extents;
	ATOMIC(uint64_t) system_blocks;
	ATOMIC(uint64_t) purged_pages;
	ATOMIC(uint64_t) harvests_asked;
	ATOMIC(uint64_t) live_spans;
	ATOMIC(uint64_t) live_span_bytes;
};

/* Address space that was reserved at once. */
struct zone_tract {
	/* immutable once it is there */
	char *base;
	uint32_t first; /* unit */
	/* anybody */
	ATOMIC(uint32_t) units;    /* 0: not there */
	ATOMIC(uint64_t) frontier; /* region.c */
};

/* There is one. */
struct zone_region {
	/* immutable once READY */
	char *base; /* unit 0 */
	size_t bytes;
	ATOMIC(uint32_t) * tags;
	struct zone_slab *slabs;
	struct zone_bits *bits;
	uint32_t units;   /* of the first tract */
	uint32_t entries; /* of the side arrays */
	ATOMIC(uint32_t) state;
	/* anybody */
	ALIGNED(2 * CACHE_LINE) struct zone_tract tract[ZONE_TRACTS];
	ATOMIC(uint64_t) claimed; /* units << 32 | tracts, perhaps not there */
	ATOMIC(uint32_t) extending;
	ALIGNED(CACHE_LINE) struct zone_stack ready; /* touched, perhaps */
	ALIGNED(CACHE_LINE) struct zone_stack cold;  /* purged */
	ALIGNED(CACHE_LINE) struct zone_stack locked;
	ALIGNED(CACHE_LINE) struct zone_stack orphans;
	ALIGNED(CACHE_LINE) struct zone_stack rt_orphans;
	ATOMIC(uint32_t) heaps; /* the youngest that is not private */
	struct zone_stack spans_hot[ZONE_SPAN_CLASSES];
	struct zone_stack spans_cold[ZONE_SPAN_CLASSES];
	ATOMIC(uint64_t) spans_hot_bytes;
	ATOMIC(uint64_t) spans_hot_limit;
	ATOMIC(uint32_t) purge_above; /* ready units */
	ATOMIC(uint32_t) ready_least; /* since ready_ms */
	ATOMIC(uint32_t) ready_ms;
	ATOMIC(uint32_t) locked_low; /* locked units, see janitor.c */
	ATOMIC(uint32_t) locked_high;
	ATOMIC(uint32_t) locked_most;
	ATOMIC(uint32_t) locked_total;
	ATOMIC(uint32_t) wanted; /* 0: no pass is, see janitor.c */
	ATOMIC(uint32_t) strict;
	struct zone_figures figures;
};

/* The calling thread's. heap: its own, or the private one that it has entered;
 * NULL: none yet, or none any more. */
struct zone_self {
	struct zone_heap *heap;
	bool realtime;
	bool ended; /* its destructors have run; late calls come by themselves
		     */
	bool initialising; /* the reservation */
};

/* Off the quick path, which is one function that saves no registers. */
#define ZONE_APART __attribute__((noinline))
#define ZONE_HIDDEN __attribute__((visibility("hidden")))

extern ZONE_HIDDEN struct zone_region zone_region;
extern ZONE_HIDDEN __thread struct zone_self zone_self
	__attribute__((tls_model("initial-exec")));

/* What happens when a thread that is marked real-time finds no memory. */
enum zone_dry { ZONE_DRY_NULL, ZONE_DRY_KERNEL };

/* --- region.c --- */
bool zone_region_init(void); /* true when READY */
/* A run of units that nobody has used, usable, their entries too; 0: none. */
uint32_t zone_region_extend(uint32_t units);
/* The same for a span; only its first unit's entries are. */
uint32_t zone_region_extend_span(uint32_t units);
bool zone_region_commit_entry(uint32_t unit);
/* Units of slabs and heaps. 0: none. */
uint32_t zone_unit_take(void);
RT_SAFE uint32_t zone_unit_take_locked(void);
/* False when a real-time thread did not get through to the stack. */
RT_SAFE bool zone_unit_give(uint32_t unit);
void zone_units_purge(unsigned most);
/* Those of the ready units that nobody has wanted for long. */
void zone_units_decay(uint32_t now_ms);
/* Pages back to the kernel; true: they read as zeros from now on. */
bool zone_pages_purge(void *at, size_t bytes);
bool zone_pages_populate(void *at, size_t bytes);
void zone_count(ATOMIC(uint64_t) * figure, uint64_t more);

/* --- tract.c --- */
/* Of a unit, or a block, that is not in the first tract. 0: in none. */
RT_SAFE char *zone_tract_unit_at(uint32_t unit);
RT_SAFE uint32_t zone_tract_unit_of(uintptr_t block);
/* Its first unit that no slab or heap has ever had. */
RT_SAFE uint32_t zone_tract_low(const struct zone_tract *tract);
/* The next one that a slab or heap has had, 0: no more. */
uint32_t zone_unit_after(uint32_t unit);
/* Address space for at least so many units, after those tracts that were seen
 * had none; true also if there are others now. */
bool zone_tract_add(uint32_t seen, uint32_t least);

/* --- kernel.c: system calls, where tests make them fail --- */
int zone_kernel_protect(void *at, size_t bytes);
int zone_kernel_lock(void *at, size_t bytes);
int zone_kernel_advise(void *at, size_t bytes, int advice);
void *zone_kernel_reserve(size_t bytes);
void *zone_kernel_move(void *from, size_t bytes, void *to);

/* --- heap.c --- */
struct zone_heap *zone_heap_new(bool is_private, bool realtime);
struct zone_heap *zone_heap_adopt(bool realtime);
void zone_heap_abandon(struct zone_heap *heap);
/* Everything that is free goes back. */
void zone_heap_trim(struct zone_heap *heap);

/* --- bin.c --- */
/* Fills an empty magazine; false: no memory. */
ZONE_APART RT_SAFE bool zone_heap_refill(struct zone_heap *heap,
					 unsigned number, enum zone_dry dry);
/* Some bits of one word of an own slab are free again. */
RT_SAFE void zone_heap_take_back(struct zone_heap *heap, uint32_t unit,
				 unsigned word, uint64_t bits);
RT_SAFE void zone_heap_harvest(struct zone_heap *heap, unsigned words);
/* If the janitor has asked for it. */
RT_SAFE void zone_heap_heed(struct zone_heap *heap);
/* Empty slabs that were kept go away. */
void zone_bin_release_empty(struct zone_heap *heap, unsigned number);

/* --- purge.c --- */
/* Gives the kernel the pages of a class that hold free blocks only. */
void zone_bin_purge(struct zone_heap *heap, unsigned number);
/* The same where it is due. */
void zone_heap_tend(struct zone_heap *heap);

/* --- parcel.c --- */
/* Empties count places of a magazine, and more where that costs little. */
RT_SAFE void zone_heap_flush(struct zone_heap *heap, unsigned number,
			     unsigned count);
/* Puts a block into a full magazine. */
ZONE_APART RT_SAFE void zone_heap_keep_more(struct zone_heap *heap,
					    unsigned number, uintptr_t block);
/* A small block of another heap's, to be sent with others. */
RT_SAFE void zone_heap_send_later(struct zone_heap *heap, unsigned number,
				  void *block);
/* Empties the outboxes. */
RT_SAFE void zone_heap_send_all(struct zone_heap *heap);
/* A block to its owner, who is another one. */
RT_SAFE void zone_block_send(uint32_t unit, uint32_t tag, unsigned block);

/* --- slab.c --- */
RT_SAFE void zone_slab_open(const struct zone_heap *heap, uint32_t unit,
			    unsigned number);
RT_SAFE unsigned zone_slab_take(uint32_t unit, uintptr_t *slots, unsigned most);
/* True when the word had none of them. */
RT_SAFE bool zone_slab_put(uint32_t unit, unsigned word, uint64_t bits);

/* --- span.c --- */
void *zone_span_alloc(size_t bytes, size_t align, enum zone_dry dry,
		      bool *ret_zero);
void zone_span_free(uint32_t unit, uint32_t tag);
void *zone_span_resize(uint32_t unit, size_t bytes, enum zone_dry dry);
size_t zone_span_usable(uint32_t unit);
void zone_spans_release(struct zone_heap *heap);

/* --- thread.c --- */
int zone_thread_init(void);
/* The calling thread's heap, made or adopted; NULL: none to be had. */
struct zone_heap *zone_thread_heap(void);
/* From the private reserve of the thread's own heap; 0: it is empty. */
RT_SAFE uint32_t zone_reserve_take(void);
/* The thread had to get memory in spite of its mark, or did not get any. */
RT_SAFE void zone_count_dry(enum zone_dry dry);
/* A private heap's malloc ends here if somebody is there to take it. */
void zone_refuse(void);
RT_SAFE void zone_reserve_drop(struct zone_heap *heap);

/* --- janitor.c --- */
/* The reserve is low. */
RT_SAFE void zone_janitor_want(void);
void zone_janitor_forget(void);
/* How long it sleeps after a look that found something to do or did not. */
int64_t zone_janitor_pause(int64_t period_ns, int64_t last_ns, bool found);

/* --- early.c --- */
void *zone_early_alloc(size_t bytes, size_t align);
bool zone_early_owns(const void *block);
size_t zone_early_usable(const void *block);

/* --- family.c, where it is linked --- */
/* Before the first block may be asked of the C library's malloc. */
__attribute__((weak)) ZONE_HIDDEN void zone_system_prepare(void);

/* --- zone.c --- */
struct zone_request {
	size_t bytes;
	size_t align; /* a power of two */
	bool zero;
	enum zone_dry dry;
};
RT_SAFE void *zone_request(const struct zone_request *request);
RT_SAFE void *zone_resize_for(void *block, size_t size, enum zone_dry dry);
__attribute__((noreturn)) void zone_fail(const char *what, const void *block);

/* Some of them may not be there yet. */
static inline uint32_t
zone_tracts(void)
{
	return (uint32_t)atomic_load_explicit(&zone_region.claimed,
					      memory_order_acquire);
}

static inline char *
zone_unit_at(uint32_t unit)
{
	if (__builtin_expect(unit >= zone_region.units, 0))
		return zone_tract_unit_at(unit);
	return zone_region.base + ((size_t)unit << ZONE_UNIT_SHIFT);
}

static inline struct zone_heap *
zone_heap_at(uint32_t unit)
{
	return (struct zone_heap *)(void *)zone_unit_at(unit);
}

/* 0: not ours. */
static inline uint32_t
zone_unit_of(uintptr_t block)
{
	const size_t offset = block - (uintptr_t)zone_region.base;

	if (__builtin_expect(offset >= zone_region.bytes, 0))
		return zone_tract_unit_of(block);
	return (uint32_t)(offset >> ZONE_UNIT_SHIFT);
}

static inline uint32_t
zone_tag_of(uint32_t unit)
{
	return atomic_load_explicit(&zone_region.tags[unit],
				    memory_order_relaxed);
}

static inline void
zone_tag_set(uint32_t unit, uint32_t tag)
{
	atomic_store_explicit(&zone_region.tags[unit], tag,
			      memory_order_relaxed);
}

static inline uint64_t *
zone_slab_free_words(uint32_t unit, const struct zone_class *shape)
{
	return shape->words <= ZONE_INLINE_WORDS ? zone_region.slabs[unit].free
						 : zone_region.bits[unit].free;
}

static inline ATOMIC(uint64_t) *
	zone_slab_remote_words(uint32_t unit, const struct zone_class *shape)
{
	return shape->words <= ZONE_INLINE_WORDS
		       ? zone_region.slabs[unit].remote
		       : zone_region.bits[unit].remote;
}

/* Without a call into the compiler's library, which knows nothing better on
 * x86-64's oldest. */
static inline unsigned
zone_bits_in(uint64_t bits)
{
	bits -= bits >> 1 & UINT64_C(0x5555555555555555);
	bits = (bits & UINT64_C(0x3333333333333333)) +
	       (bits >> 2 & UINT64_C(0x3333333333333333));
	bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(bits * UINT64_C(0x0101010101010101) >> 56);
}

/* For counters that one thread writes and anybody reads. */
static inline void
zone_bump(ATOMIC(uint32_t) * counter, int64_t more)
{
	const uint32_t old =
		atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, (uint32_t)(old + more),
			      memory_order_relaxed);
}

#endif

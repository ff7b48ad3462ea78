/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thread.c - which heap a thread has, from its first call to after its end.
 *
 *   none -> own (adopted, else new) <-> marked: one of reserved memory
 *           own <-> a private one that it entered
 *           own -> ended: abandoned by the key's destructor
 *
 * Other destructors and the C library itself come after ours: the key is set
 * again a few times to be among the last, and who comes later still borrows an
 * orphan for the length of one call. A free needs no heap at all.
 *
 * Initial-exec, 16 bytes: no dynamic linker in the way, and they fit in what it
 * keeps for libraries that are loaded late. */
#include "lib/zone/parts.h"

#include <errno.h>
#include <pthread.h>

enum { DESTRUCTOR_ROUNDS = 3 };

__thread struct zone_self zone_self;

static pthread_key_t key;

static void
abandon(void)
{
	struct zone_heap *heap = zone_self.heap;

	zone_self.ended = true;
	zone_self.realtime = false;
	while (heap != NULL && heap->outer != NULL)
		heap = heap->outer;
	zone_self.heap = NULL;
	if (heap == NULL)
		return;
	if (heap->realtime)
		zone_reserve_drop(heap);
	zone_heap_abandon(heap);
}

/* value: the round + 1 */
static void
end_thread(void *value)
{
	const uintptr_t round = (uintptr_t)value;

	if (round < DESTRUCTOR_ROUNDS &&
	    pthread_setspecific(key, (void *)(round + 1)) == 0)
		return;
	abandon();
}

/* The other threads are not there. What they owned stays theirs: it may be half
 * changed. Orphans and free units were at rest. */
static void
begin_child(void)
{
	zone_self.realtime = false;
	zone_janitor_forget();
	atomic_store(&zone_region.extending, 0);
}

int
zone_thread_init(void)
{
	if (pthread_key_create(&key, end_thread) != 0)
		return -EAGAIN;
	return 0;
}

/* Registers with fork(); not from the first malloc, which may come from inside
 * of the C library. */
__attribute__((constructor)) static void
watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, begin_child);
}

static struct zone_heap *
find_heap(bool realtime)
{
	struct zone_heap *heap = zone_heap_adopt(realtime);

	return heap != NULL ? heap : zone_heap_new(false, realtime);
}

struct zone_heap *
zone_thread_heap(void)
{
	struct zone_heap *heap = zone_self.heap;

	if (heap != NULL || zone_self.ended)
		return heap;
	heap = find_heap(false);
	/* before the key: setting it may allocate */
	zone_self.heap = heap;
	if (heap != NULL)
		(void)pthread_setspecific(key, (void *)1);
	return heap;
}

static struct zone_heap *
own_heap(void)
{
	struct zone_heap *heap = zone_self.heap;

	while (heap != NULL && heap->outer != NULL)
		heap = heap->outer;
	return heap;
}

uint32_t
zone_reserve_take(void)
{
	struct zone_heap *heap = own_heap();

	if (heap == NULL || heap->reserved == 0)
		return 0;
	heap->reserved--;
	return heap->reserve[heap->reserved];
}

/* A unit that cannot be given, on a marked thread, is kept. */
void
zone_reserve_drop(struct zone_heap *heap)
{
	while (heap->reserved > 0 &&
	       zone_unit_give(heap->reserve[heap->reserved - 1]))
		heap->reserved--;
}

void
zone_thread_rest(void)
{
	struct zone_heap *heap = own_heap();

	if (heap != NULL && heap->realtime)
		zone_reserve_drop(heap);
}

void
zone_realtime_strict(void)
{
	atomic_store(&zone_region.strict, 1);
}

void
zone_count_dry(enum zone_dry dry)
{
	struct zone_figures *figures = &zone_region.figures;

	zone_count(dry == ZONE_DRY_NULL ? &figures->rt_dry
					: &figures->rt_alloc_kernel,
		   1);
	if (dry == ZONE_DRY_NULL || atomic_load(&zone_region.strict) == 0)
		return;
	RT_EXCEPTION("the process ends here")
	{
		zone_fail("malloc needs the kernel on a real-time thread",
			  zone_self.heap);
	}
}

bool
zone_thread_is_ready(void)
{
	struct zone_heap *heap = own_heap();

	if (heap == NULL || !heap->realtime)
		return false;
	while (heap->reserved < ZONE_RESERVE_UNITS) {
		const uint32_t unit = zone_unit_take_locked();

		if (unit == 0)
			return false;
		heap->reserve[heap->reserved] = unit;
		heap->reserved++;
	}
	return true;
}

static int
change_mark(bool on)
{
	struct zone_heap *before = zone_self.heap;
	struct zone_heap *heap = NULL;

	if (before != NULL && before->outer != NULL)
		return -EBUSY;
	heap = find_heap(on);
	if (heap == NULL)
		return -ENOMEM;
	zone_self.realtime = false;
	zone_self.heap = heap;
	if (before != NULL) {
		if (before->realtime)
			zone_reserve_drop(before);
		zone_heap_abandon(before);
	}
	(void)pthread_setspecific(key, (void *)1);
	if (on && !zone_thread_is_ready()) {
		(void)change_mark(false);
		return -ENOMEM;
	}
	zone_self.realtime = on;
	return 0;
}

int
zone_thread_realtime(bool on)
{
	if (on == zone_self.realtime)
		return 0;
	if (!zone_region_init())
		return -ENOMEM;
	return change_mark(on);
}

bool
zone_heap_enter(struct zone_heap *heap)
{
	struct zone_heap *outer = zone_self.heap;

	if (outer == NULL) {
		RT_EXCEPTION("a marked thread has a heap")
		{
			outer = zone_thread_heap();
		}
	}
	if (outer == NULL)
		return false;
	if (atomic_exchange_explicit(&heap->entered, 1, memory_order_acquire) !=
	    0) {
		RT_EXCEPTION("the process ends here")
		{
			zone_fail("entered by two threads", heap);
		}
	}
	heap->outer = outer;
	zone_self.heap = heap;
	return true;
}

struct zone_heap *
zone_heap_entered(void)
{
	struct zone_heap *heap = zone_self.heap;

	return heap != NULL && heap->is_private ? heap : NULL;
}

void
zone_heap_leave(struct zone_heap *heap)
{
	zone_self.heap = heap->outer;
	heap->outer = NULL;
	atomic_store_explicit(&heap->entered, 0, memory_order_release);
}

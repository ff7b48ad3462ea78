/* SPDX-License-Identifier: GPL-3.0-or-later */
/* janitor.c - memory that is there before a real-time thread asks.
 *
 *   free locked units   0 ..... low ........ high .....
 *                       make more  |  leave  | give back
 *
 * low is a quarter of what was asked for at once, high all of it and a quarter;
 * of zone_reserve() at most twice as much is ever made. A unit of the reserve
 * stays one: it is populated with its entries and locked, one extent of 1 MiB
 * at a time so that locking splits few mappings, and whoever frees it gives it
 * back to the same stack. Only the janitor takes it out of there.
 *
 * zone.wanted is raised by who pops below low; the janitor's thread sleeps on
 * it as a futex, so waking costs nothing while nothing is wanted. A thread that
 * may not call the kernel only raises it: whoever may and comes by next makes
 * the call, once. That is the owner of the thread's loop by
 * zone_janitor_wake(), or any thread that is not marked, when a magazine of its
 * is empty.
 *
 *   NOT --(popped below low)--> WANTED --(futex call)--> WOKEN --(looks)--> NOT
 *
 * Nobody calls for what is only to be given back: for that it looks by itself,
 * each time twice as long after a look that found nothing, up to
 * LONGEST_PERIODS: so long, too, a raised flag may wait where nobody comes by.
 */
#include "lib/zone/parts.h"

#include <alloca.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PURGE_AT_ONCE = 64,
	LONGEST_PERIODS = 16,
	JANITOR_STACK = 64 * 1024,
	REPORT_STACK = 16 * 1024, /* for a handler that tells of a fault */
};

/* Sanitizers have stacks of their own for that. */
#ifdef ROTARY_SANITIZED
enum { WITH_FAULT_STACK = 0 };
#else
enum { WITH_FAULT_STACK = 1 };
#endif

static struct {
	pthread_t thread;
	ATOMIC(uint32_t) state;
	int64_t period_ns;
} janitor;

enum { JANITOR_NONE, JANITOR_RUNS, JANITOR_STOPS };

enum { NOT_WANTED, WANTED, WOKEN };

static bool
make_present(void *at, size_t bytes)
{
	if (zone_kernel_lock(at, bytes) == 0)
		return true;
	(void)zone_pages_populate(at, bytes);
	return false;
}

/* An extent of the reserve. False: no memory. */
static bool
add_extent(void)
{
	struct zone_region *region = &zone_region;
	const size_t bytes = (size_t)ZONE_EXTENT_UNITS << ZONE_UNIT_SHIFT;
	const uint32_t first = zone_region_extend(ZONE_EXTENT_UNITS);
	uint32_t i = 0;

	if (first == 0)
		return false;
	(void)make_present(&region->slabs[first],
			   ZONE_EXTENT_UNITS * sizeof(*region->slabs));
	(void)make_present(&region->bits[first],
			   ZONE_EXTENT_UNITS * sizeof(*region->bits));
	zone_count(make_present(zone_unit_at(first), bytes)
			   ? &region->figures.locked_bytes
			   : &region->figures.unlocked_bytes,
		   bytes);
	atomic_fetch_add(&region->locked_total, ZONE_EXTENT_UNITS);
	for (i = ZONE_EXTENT_UNITS; i > 0; i--) {
		region->slabs[first + i - 1].flags |= ZONE_UNIT_LOCKED;
		(void)zone_stack_push(&region->locked, region->slabs,
				      first + i - 1, ZONE_STACK_FOREVER);
	}
	return true;
}

/* True when units, all or free ones, are there. */
static bool
top_up(uint32_t unlocked, uint32_t most)
{
	struct zone_region *region = &zone_region;

	while (zone_stack_count(&region->locked) < unlocked) {
		if (atomic_load(&region->locked_total) >= most)
			return false;
		if (!add_extent())
			return false;
	}
	return true;
}

static uint64_t
whole_extents(size_t bytes)
{
	const uint64_t extent = (uint64_t)ZONE_EXTENT_UNITS << ZONE_UNIT_SHIFT;

	return (bytes + extent - 1) / extent * ZONE_EXTENT_UNITS;
}

int
zone_reserve_upto(size_t first_bytes, size_t most_bytes)
{
	struct zone_region *region = &zone_region;
	const uint64_t units = whole_extents(first_bytes);
	const uint64_t most = whole_extents(most_bytes);

	if (!zone_region_init() || most / 2 > region->units / 4 || most < units)
		return -ENOMEM;
	atomic_store(&region->locked_low, (uint32_t)(units / 4));
	atomic_store(&region->locked_high, (uint32_t)(units + units / 4));
	atomic_store(&region->locked_most, (uint32_t)most);
	return top_up((uint32_t)units, (uint32_t)most) ? 0 : -ENOMEM;
}

int
zone_reserve(size_t bytes)
{
	const size_t units = whole_extents(bytes);

	return zone_reserve_upto(bytes, 2 * units << ZONE_UNIT_SHIFT);
}

/* Over the high mark: unlocked, and the memory given back. False: nothing. */
static bool
give_back(void)
{
	struct zone_region *region = &zone_region;
	const uint32_t high = atomic_load(&region->locked_high);
	unsigned i = 0;

	for (i = 0;
	     i < PURGE_AT_ONCE && zone_stack_count(&region->locked) > high;
	     i++) {
		const uint32_t unit = zone_stack_pop(
			&region->locked, region->slabs, ZONE_STACK_FOREVER);

		if (unit == 0)
			break;
		(void)munlock(zone_unit_at(unit), ZONE_UNIT_BYTES);
		zone_count(&region->figures.kernel_calls, 1);
		zone_count(&region->figures.locked_bytes,
			   (uint64_t)-ZONE_UNIT_BYTES);
		atomic_fetch_sub(&region->locked_total, 1);
		region->slabs[unit].flags = 0;
		(void)zone_stack_push(&region->ready, region->slabs, unit,
				      ZONE_STACK_FOREVER);
	}
	return i > 0;
}

/* Each orphan once: they are taken out first, else the last to be put back
 * would be the first to be taken. */
static void
trim_orphans(bool realtime)
{
	struct zone_heap *heaps[PURGE_AT_ONCE];
	unsigned count = 0;

	while (count < PURGE_AT_ONCE) {
		struct zone_heap *heap = zone_heap_adopt(realtime);

		if (heap == NULL)
			break;
		heaps[count] = heap;
		count++;
		zone_heap_trim(heap);
		zone_reserve_drop(heap);
	}
	while (count > 0) {
		count--;
		zone_heap_abandon(heaps[count]);
	}
}

/* What others have freed lies in a heap whose owner does not come by: asks it
 * to look, once it calls us again. More cannot be done, for the heap is its. A
 * thread that sleeps for ever keeps what it has. False: none was asked. */
static bool
ask_owners(void)
{
	bool asked = false;
	uint32_t unit = atomic_load(&zone_region.heaps);

	while (unit != 0) {
		struct zone_heap *heap = zone_heap_at(unit);
		const uint32_t harvests = atomic_load_explicit(
			&heap->harvests, memory_order_relaxed);

		unit = heap->older;
		if (atomic_load_explicit(&heap->remote.summary,
					 memory_order_relaxed) == 0) {
			heap->harvests_seen = UINT32_MAX;
			continue;
		}
		if (heap->harvests_seen == harvests &&
		    atomic_exchange_explicit(&heap->asked, 1,
					     memory_order_relaxed) == 0) {
			zone_count(&zone_region.figures.harvests_asked, 1);
			asked = true;
		}
		heap->harvests_seen = harvests;
	}
	return asked;
}

/* False: there was nothing to do. */
static bool
look(void)
{
	struct zone_region *region = &zone_region;
	bool found = false;

	if (atomic_load(&region->state) != ZONE_READY)
		return false;
	atomic_store(&region->wanted, NOT_WANTED);
	if (zone_stack_count(&region->locked) <
	    atomic_load(&region->locked_low))
		found = top_up(2 * atomic_load(&region->locked_low),
			       atomic_load(&region->locked_most));
	found = give_back() || found;
	trim_orphans(false);
	trim_orphans(true);
	found = ask_owners() || found;
	if (zone_stack_count(&region->ready) >
	    atomic_load(&region->purge_above) / 2) {
		zone_units_purge(PURGE_AT_ONCE);
		found = true;
	}
	return found;
}

void
zone_janitor_pass(void)
{
	(void)look();
}

int64_t
zone_janitor_pause(int64_t period_ns, int64_t last_ns, bool found)
{
	const int64_t longest_ns = LONGEST_PERIODS * period_ns;

	if (found)
		return period_ns;
	return last_ns > longest_ns / 2 ? longest_ns : 2 * last_ns;
}

RT_SAFE void
zone_janitor_want(void)
{
	atomic_store_explicit(&zone_region.wanted, WANTED,
			      memory_order_relaxed);
}

bool
zone_janitor_is_wanted(void)
{
	return atomic_load_explicit(&zone_region.wanted,
				    memory_order_relaxed) != NOT_WANTED;
}

static void
sleep_until_wanted(int64_t longest_ns)
{
	const struct timespec longest = {
		.tv_sec = longest_ns / 1000000000,
		.tv_nsec = longest_ns % 1000000000,
	};

	(void)syscall(SYS_futex, &zone_region.wanted, FUTEX_WAIT_PRIVATE,
		      NOT_WANTED, &longest, NULL, 0);
}

/* The kernel's part grows with the processor's registers. */
static size_t
fault_stack_bytes(void)
{
	const long least = sysconf(_SC_MINSIGSTKSZ);

	if (!WITH_FAULT_STACK)
		return 0;
	return REPORT_STACK + (size_t)(least > 0 ? least : MINSIGSTKSZ);
}

static void
set_fault_stack(void *memory, size_t bytes)
{
	const stack_t stack = {.ss_sp = memory, .ss_size = bytes};

	if (bytes > 0)
		(void)sigaltstack(&stack, NULL);
}

static void *
janitor_main(void *unused)
{
	const size_t fault_bytes = fault_stack_bytes();
	int64_t pause_ns = janitor.period_ns;

	(void)unused;
	/* cppcheck-suppress allocaCalled ; it must outlive main() only */
	set_fault_stack(alloca(fault_bytes), fault_bytes);
	while (atomic_load(&janitor.state) == JANITOR_RUNS) {
		pause_ns =
			zone_janitor_pause(janitor.period_ns, pause_ns, look());
		sleep_until_wanted(pause_ns);
	}
	return NULL;
}

static RT_DEVICE void
wake(void)
{
	(void)syscall(SYS_futex, &zone_region.wanted, FUTEX_WAKE_PRIVATE,
		      INT_MAX, NULL, NULL, 0);
}

/* Where no janitor runs the flag stays up, and is nobody's business. */
void
zone_janitor_wake(void)
{
	if (atomic_load_explicit(&zone_region.wanted, memory_order_relaxed) !=
		    WANTED ||
	    atomic_load_explicit(&janitor.state, memory_order_relaxed) !=
		    JANITOR_RUNS)
		return;
	if (atomic_exchange(&zone_region.wanted, WOKEN) == WANTED)
		wake();
}

/* What is sent to the process is for other threads; a fault of this one is for
 * whoever handles faults. Real-time signals are as the caller has them. */
static void
block_signals(sigset_t *ret_before)
{
	static const int open[] = {SIGSYS, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	sigset_t mask;
	size_t i = 0;
	int number = 0;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	for (number = 1; number < SIGRTMIN; number++)
		(void)sigaddset(&mask, number);
	for (i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		(void)sigdelset(&mask, open[i]);
	pthread_sigmask(SIG_SETMASK, &mask, ret_before);
}

static int
start_thread(void)
{
	pthread_attr_t attributes;
	sigset_t before;
	int result = 0;

	if (pthread_attr_init(&attributes) != 0)
		return -EAGAIN;
	(void)pthread_attr_setstacksize(&attributes,
					JANITOR_STACK + fault_stack_bytes());
	block_signals(&before);
	result = pthread_create(&janitor.thread, &attributes, janitor_main,
				NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return result == 0 ? 0 : -EAGAIN;
}

int
zone_janitor_start(int64_t period_ns)
{
	uint32_t state = JANITOR_NONE;

	if (!atomic_compare_exchange_strong(&janitor.state, &state,
					    JANITOR_RUNS))
		return -EALREADY;
	janitor.period_ns = period_ns;
	if (start_thread() < 0) {
		atomic_store(&janitor.state, JANITOR_NONE);
		return -EAGAIN;
	}
	(void)pthread_setname_np(janitor.thread, "janitor");
	return 0;
}

void
zone_janitor_stop(void)
{
	uint32_t state = JANITOR_RUNS;

	if (!atomic_compare_exchange_strong(&janitor.state, &state,
					    JANITOR_STOPS))
		return;
	atomic_store(&zone_region.wanted, WOKEN);
	wake();
	(void)pthread_join(janitor.thread, NULL);
	atomic_store(&janitor.state, JANITOR_NONE);
}

/* In a child of fork() it does not run. */
void
zone_janitor_forget(void)
{
	atomic_store(&janitor.state, JANITOR_NONE);
}

void
zone_trim(void)
{
	if (zone_self.heap != NULL && !zone_self.realtime)
		zone_heap_trim(zone_self.heap);
	trim_orphans(false);
	while (zone_stack_count(&zone_region.ready) > 0 &&
	       atomic_load(&zone_region.purge_above) != UINT32_MAX)
		zone_units_purge(PURGE_AT_ONCE);
}

/* Before it is READY the region sets its own, and after mlockall() nothing can
 * be given back. */
void
zone_slab_cache(size_t bytes)
{
	if (zone_region_init() &&
	    atomic_load(&zone_region.purge_above) != UINT32_MAX)
		atomic_store(&zone_region.purge_above,
			     (uint32_t)(bytes / ZONE_UNIT_BYTES));
}

void
zone_span_cache(size_t bytes)
{
	atomic_store(&zone_region.spans_hot_limit, bytes);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_realtime.c - marked threads: no system call, no page fault, and what
 * happens when memory is dry. */
#include "lib/zone/zone.h"
#include "tests/kit/child.h"
#include "tests/kit/dice.h"
#include "tests/kit/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	POOL = 8 << 20,
	LIVE = 128,
	STEPS = 20 * 1000,
	LOAD_STEPS = 2000 * 1000,
	BOXES = 64,
	RESERVE = 256 * 1024,
};

static _Atomic(void *) boxes[BOXES];
static ATOMIC(uint32_t) stop;

static void *
load(void *unused)
{
	struct dice dice = dice_seeded(99);
	unsigned i;

	(void)unused;
	/* ends by itself too: the other thread may be killed before its stop */
	for (i = 0; i < LOAD_STEPS && !atomic_load(&stop); i++) {
		const size_t size = dice_roll(&dice, 30000);
		char *block = zone_alloc(size);

		if (block != NULL)
			memset(block, 3, size);
		zone_free(atomic_exchange(&boxes[dice_roll(&dice, BOXES)],
					  block));
	}
	return NULL;
}

/* As a decoder would, with blocks of other threads thrown in. False: no memory
 * or a wrong byte. */
static bool
work(struct zone_heap *heap, unsigned steps, uint64_t seed)
{
	static unsigned char *live[LIVE];
	struct dice dice = dice_seeded(seed);
	unsigned i;
	bool right = true;

	if (heap != NULL && !zone_heap_enter(heap))
		return false;
	for (i = 0; i < steps; i++) {
		unsigned char **place = &live[dice_roll(&dice, LIVE)];
		const size_t size =
			1 + dice_roll(&dice, 1u << dice_roll(&dice, 14));

		if (*place != NULL)
			right = right && **place == 0x42;
		if (dice_roll(&dice, 4) == 0) {
			*place = zone_resize(*place, size);
		} else {
			zone_free(*place);
			*place = zone_alloc(size);
		}
		if (*place == NULL)
			return false;
		memset(*place, 0x42, size);
		if (heap == NULL)
			zone_free(atomic_exchange(&boxes[i % BOXES], NULL));
	}
	for (i = 0; i < LIVE; i++) {
		zone_free(live[i]);
		live[i] = NULL;
	}
	if (heap != NULL)
		zone_heap_leave(heap);
	return right;
}

#ifndef ROTARY_SANITIZED
/* The tenth number of the line. Read only once from each descriptor: there is
 * no lseek() where this is used. */
static long
minor_faults(int stat_file)
{
	char line[1024] = {0};
	const char *at = line;
	unsigned field;

	if (read(stat_file, line, sizeof(line) - 1) <= 0)
		return -1;
	at = strrchr(line, ')');
	for (field = 2; at != NULL && field < 10; field++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtol(at, NULL, 10) : -1;
}

static int
open_stat(void)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/task/%ld/stat",
		       (long)syscall(SYS_gettid));
	return open(path, O_RDONLY | O_CLOEXEC);
}

struct sealed {
	bool is_private;
	bool misbehaves;
	int verdict[2]; /* a pipe: the exit code would be the other thread's */
};

/* From the prctl() on the kernel allows read, write and exit, and kills the
 * thread for anything else. */
static int
live_sealed(void *argument)
{
	const struct sealed *sealed = argument;
	struct zone_heap *heap = NULL;
	const int once = open_stat(), first = open_stat(), second = open_stat();
	pthread_t loader;
	long before, after;
	bool done;
	char verdict;

	if (zone_reserve(POOL) < 0)
		return 10;
	if (sealed->is_private)
		heap = zone_heap_create(POOL);
	if (pthread_create(&loader, NULL, load, NULL) != 0 ||
	    zone_thread_realtime(true) < 0)
		return 11;
	/* text and stack pages, and those of the test */
	if (!work(heap, STEPS, 5) || minor_faults(once) < 0)
		return 12;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
		return 13;
	before = minor_faults(first);
	done = work(heap, 3 * STEPS, 6) && zone_thread_is_ready();
	after = minor_faults(second);
	atomic_store(&stop, 1);
	if (sealed->misbehaves)
		(void)syscall(SYS_getpid);
	verdict = !done ? 'm' : before < 0 || after != before ? 'f' : 'y';
	if (write(sealed->verdict[1], &verdict, 1) != 1)
		verdict = 'w';
	(void)syscall(SYS_exit, 0);
	return 16;
}

/* y: all well, f: a page fault, m: no memory, -: it was killed. */
static char
verdict_of(struct sealed *sealed)
{
	char verdict = '-';

	assert_int_equal(pipe2(sealed->verdict, O_CLOEXEC), 0);
	(void)child_run(live_sealed, sealed, NULL, 0);
	(void)close(sealed->verdict[1]);
	if (read(sealed->verdict[0], &verdict, 1) < 0)
		verdict = 'r';
	(void)close(sealed->verdict[0]);
	return verdict;
}

static void
no_system_call_and_no_fault(void **state)
{
	struct sealed common = {.is_private = false};
	struct sealed private = {.is_private = true};

	(void)state;
	if (!machine_has_seccomp())
		skip();
	assert_int_equal(verdict_of(&common), 'y');
	assert_int_equal(verdict_of(&private), 'y');
}

#endif

static int
fill_dry(void *unused)
{
	struct zone_stats stats;
	static void *blocks[4096];
	unsigned count = 0, i;

	(void)unused;
	if (zone_reserve(1 << 20) < 0 || zone_thread_realtime(true) < 0)
		return 1;
	while (count < 4096 && (blocks[count] = zone_alloc(8000)) != NULL)
		count++;
	zone_stats(&stats);
	/* at most what was asked for and the extents that round it up */
	if (count < 100 || count * 8192 > 2 << 20 || stats.rt_dry == 0)
		return 2;
	if (zone_alloc(100000) != NULL || zone_thread_is_ready() ||
	    !zone_janitor_is_wanted())
		return 3;
	/* what it holds goes on working */
	zone_free(blocks[0]);
	blocks[0] = zone_alloc(8000);
	if (blocks[0] == NULL || zone_check(NULL) != 0)
		return 4;
	zone_janitor_pass();
	if (zone_janitor_is_wanted() || zone_alloc(8000) == NULL ||
	    !zone_thread_is_ready())
		return 5;
	for (i = 0; i < count; i++)
		zone_free(blocks[i]);
	zone_stats(&stats);
	if (stats.rt_alloc_kernel != 0 || zone_thread_realtime(false) < 0)
		return 6;
	return zone_alloc(100000) != NULL ? 0 : 7;
}

static void
dry_is_null_until_the_janitor_comes(void **state)
{
	(void)state;
	assert_int_equal(child_run(fill_dry, NULL, NULL, 0), 0);
}

static int
mark_without_reserve(void *unused)
{
	(void)unused;
	if (zone_thread_realtime(true) != -ENOMEM || zone_thread_is_ready())
		return 1;
	/* not marked: it may enter the kernel as before */
	return zone_alloc(1000) != NULL && zone_alloc(1 << 20) != NULL ? 0 : 2;
}

static void
no_mark_without_a_reserve(void **state)
{
	(void)state;
	assert_int_equal(child_run(mark_without_reserve, NULL, NULL, 0), 0);
}

#ifndef ROTARY_SANITIZED
/* Theirs say that mlock() worked. */
static int
reserve_without_rights(void *unused)
{
	const struct rlimit limit = {64 * 1024, 64 * 1024};
	struct zone_stats stats;

	(void)unused;
	if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		return 1;
	child_drop_rights();
	if (zone_reserve(4 << 20) < 0 || zone_thread_realtime(true) < 0)
		return 2;
	zone_stats(&stats);
	return stats.not_locked_bytes == 4 << 20 && stats.locked_bytes == 0 ? 0
									    : 3;
}

static void
not_locked_is_told(void **state)
{
	(void)state;
	assert_int_equal(child_run(reserve_without_rights, NULL, NULL, 0), 0);
}
#endif

static void *
come_and_go(void *unused)
{
	(void)unused;
	if (zone_thread_realtime(true) < 0)
		return "not marked";
	if (!work(NULL, 500, 5))
		return "no work done";
	return NULL;
}

static int
many_marked_threads(void *unused)
{
	struct zone_stats before, after;
	pthread_t loader;
	unsigned i;

	(void)unused;
	if (zone_reserve(4 << 20) < 0 || zone_janitor_start(1000000) < 0 ||
	    zone_janitor_start(1000000) != -EALREADY ||
	    pthread_create(&loader, NULL, load, NULL) != 0)
		return 1;
	zone_stats(&before);
	for (i = 0; i < 100; i++) {
		pthread_t thread;
		void *what;

		if (pthread_create(&thread, NULL, come_and_go, NULL) != 0)
			return 2;
		pthread_join(thread, &what);
		if (what != NULL)
			return 3;
	}
	atomic_store(&stop, 1);
	pthread_join(loader, NULL);
	zone_janitor_stop();
	zone_stats(&after);
	/* the loader's, one heap before the mark, one after it, each adopted
	 * again */
	if (after.heaps - before.heaps > 4)
		return 4;
	return after.rt_dry == 0 ? 0 : 5;
}

static void
marked_threads_come_and_go(void **state)
{
	(void)state;
	assert_int_equal(child_run(many_marked_threads, NULL, NULL, 0), 0);
}

#ifndef ROTARY_SANITIZED
static void
the_seal_would_notice(void **state)
{
	struct sealed sealed = {.misbehaves = true};

	(void)state;
	if (!machine_has_seccomp())
		skip();
	assert_int_equal(verdict_of(&sealed), '-');
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_mark_without_a_reserve),
		cmocka_unit_test(dry_is_null_until_the_janitor_comes),
		cmocka_unit_test(marked_threads_come_and_go),
#ifndef ROTARY_SANITIZED
		/* their run-time makes calls of its own */
		cmocka_unit_test(not_locked_is_told),
		cmocka_unit_test(no_system_call_and_no_fault),
		cmocka_unit_test(the_seal_would_notice),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

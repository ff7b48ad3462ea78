/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_faults.c - the n-th system call of the allocator fails, and all after
 * it, or it alone; and address space is short. Whatever is refused, nothing is
 * broken, and what can be had again afterwards is. */
#include "lib/zone/zone.h"
#include "tests/kit/child.h"
#include "tests/kit/dice.h"
#include "tests/kit/machine.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

enum { LIVE = 300, STEPS = 700, FAULTS = 150 };

static long countdown = -1; /* -1: none fails */
static bool once;
static unsigned failures;

bool zone_test_fails(void);

bool
zone_test_fails(void)
{
	if (countdown < 0)
		return false;
	if (countdown > 0) {
		countdown--;
		return false;
	}
	failures++;
	if (once)
		countdown = -1;
	return true;
}

static unsigned char *live[LIVE];
static size_t sizes[LIVE];

static bool
is_whole(unsigned i)
{
	size_t at;

	for (at = 0; live[i] != NULL && at < sizes[i]; at += 61)
		if (live[i][at] != (unsigned char)i)
			return false;
	return true;
}

/* A failed resize leaves the old block as it was. */
static void
step(unsigned i, size_t size, bool resize)
{
	unsigned char *block;

	assert_true(is_whole(i));
	if (resize && live[i] != NULL) {
		block = zone_resize(live[i], size);
		if (block == NULL)
			return;
		assert_true(block[0] == (unsigned char)i);
	} else {
		zone_free(live[i]);
		block = zone_alloc(size);
	}
	live[i] = block;
	sizes[i] = size;
	if (block != NULL)
		memset(block, (int)i, size);
}

static void
run(uint64_t seed)
{
	struct dice dice = dice_seeded(seed);
	struct zone_heap *heap;
	unsigned i;

	for (i = 0; i < STEPS; i++) {
		const size_t size =
			1 + dice_roll(&dice, 1u << dice_roll(&dice, 21));

		step(dice_roll(&dice, LIVE), size, dice_roll(&dice, 3) == 0);
	}
	heap = zone_heap_create(1 << 20);
	if (heap != NULL && zone_heap_enter(heap)) {
		(void)!zone_alloc(5000);
		(void)!zone_alloc(500000);
		zone_heap_leave(heap);
	}
	zone_heap_destroy(heap);
	zone_janitor_pass();
	zone_trim();
	assert_int_equal(zone_check(NULL), 0);
}

static void
finish(void)
{
	unsigned i;

	countdown = -1;
	for (i = 0; i < LIVE; i++) {
		assert_true(is_whole(i));
		zone_free(live[i]);
		live[i] = zone_alloc(10000);
		assert_non_null(live[i]);
		zone_free(live[i]);
		live[i] = NULL;
	}
	assert_int_equal(zone_check(NULL), 0);
}

static void
each_call_fails(void **state)
{
	long n;

	(void)state;
	/* qemu-user takes what mremap() leaves in place for unmapped */
	if (!machine_has_seccomp())
		skip();
	for (n = 0; n < FAULTS; n += 1 + n / 12) {
		once = true;
		countdown = n;
		run((uint64_t)n);
		finish();
		once = false;
		countdown = n;
		run((uint64_t)n + 1000);
		finish();
	}
	assert_true(failures > 20);
}

static int
fail_at_birth(void *argument)
{
	const long n = *(const long *)argument;
	struct zone_stats stats;
	void *block;

	once = false;
	countdown = n;
	block = zone_alloc(100);
	zone_free(block);
	(void)!zone_reserve(1 << 20);
	zone_stats(&stats);
	if (zone_thread_realtime(true) == 0 && block == NULL)
		return 1;
	if (n == 0 &&
	    (stats.reserved_bytes != 0 || block != NULL || zone_owns(&stats)))
		return 2;
	return 0;
}

static void
the_first_calls_fail(void **state)
{
	long n;

	(void)state;
	/* nor is a reservation quickly made there, and here it is made often */
	if (!machine_has_seccomp())
		skip();
	for (n = 0; n < 12; n++)
		assert_int_equal(child_run(fail_at_birth, &n, NULL, 0), 0);
}

#ifndef ROTARY_SANITIZED
/* Their shadow alone is more. */
static int
live_on_little(void *unused)
{
	const struct rlimit limit = {200 << 20, 200 << 20};
	static void *blocks[5000];
	unsigned round, counts[3] = {0}, i;
	struct zone_stats stats;

	(void)unused;
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		return 1;
	for (round = 0; round < 3; round++) {
		while (counts[round] < 5000 &&
		       (blocks[counts[round]] = zone_alloc(60000)) != NULL) {
			memset(blocks[counts[round]], 1, 60000);
			counts[round]++;
		}
		for (i = 0; i < counts[round]; i++)
			zone_free(blocks[i]);
	}
	if (zone_alloc(SIZE_MAX / 4) != NULL || zone_check(NULL) != 0)
		return 2;
	/* half of it at first, and more after that */
	zone_stats(&stats);
	if (stats.reservations < 2 || counts[0] * 60000ul < 150ul << 20)
		return 4;
	return counts[0] > 500 && counts[0] < 3500 && counts[2] == counts[0]
		       ? 0
		       : 3;
}

static void
little_address_space(void **state)
{
	(void)state;
	/* an emulator that has none has its own limits of address space too */
	if (!machine_has_seccomp())
		skip();
	assert_int_equal(child_run(live_on_little, NULL, NULL, 0), 0);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		/* in children, before this process has a reservation */
		cmocka_unit_test(the_first_calls_fail),
#ifndef ROTARY_SANITIZED
		cmocka_unit_test(little_address_space),
#endif
		cmocka_unit_test(each_call_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

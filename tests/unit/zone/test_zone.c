/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_zone.c - the direct API on one thread, and what ends the process. */
#include "lib/zone/zone.h"
#include "tests/kit/child.h"
#include "tests/kit/dice.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { SMALL_MAX = 64 * 1024, SHADOWS = 512, STEPS = 20000 };

static void
assert_sound(void)
{
	const char *what = NULL;

	if (zone_check(&what) != 0)
		fail_msg("%s", what);
}

static void
assert_filled(const unsigned char *block, size_t size, unsigned char value)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (block[i] != value)
			fail_msg("byte %zu of %zu is %u, not %u", i, size,
				 block[i], value);
}

static void
sizes_are_usable_and_aligned(void **state)
{
	size_t size;

	(void)state;
	for (size = 0; size <= 300000; size += size < 2000 ? 1 : 997) {
		unsigned char *block = zone_alloc(size);
		const size_t usable = zone_usable_size(block);

		assert_non_null(block);
		assert_true(zone_owns(block));
		assert_true(usable >= size);
		assert_int_equal((uintptr_t)block % 8, 0);
		if (size > 24 || (size > 8 && size <= 16))
			assert_int_equal((uintptr_t)block % 16, 0);
		memset(block, 0x5a, usable);
		zone_free(block);
	}
	assert_sound();
}

static void
alignment_is_kept(void **state)
{
	size_t align, size;

	(void)state;
	for (align = 1; align <= 4u << 20; align *= 2)
		for (size = 0; size < 200000; size = size * 3 + 1) {
			char *blocks[3];
			unsigned i;

			for (i = 0; i < 3; i++) {
				blocks[i] = zone_alloc_aligned(size, align);
				assert_non_null(blocks[i]);
				assert_int_equal((uintptr_t)blocks[i] % align,
						 0);
				assert_true(zone_usable_size(blocks[i]) >=
					    size);
				memset(blocks[i], 1, size);
			}
			for (i = 0; i < 3; i++)
				zone_free(blocks[i]);
		}
	assert_null(zone_alloc_aligned(1, 0));
	assert_null(zone_alloc_aligned(1, 48));
	assert_null(zone_alloc_aligned(1, SIZE_MAX / 2 + 1));
	assert_sound();
}

static void
too_much_is_refused(void **state)
{
	void *block = zone_alloc(100);

	(void)state;
	assert_null(zone_alloc(SIZE_MAX));
	assert_null(zone_alloc((size_t)PTRDIFF_MAX + 1));
	assert_null(zone_alloc_zeroed(SIZE_MAX - 4096));
	assert_null(zone_alloc_aligned(SIZE_MAX - 100, 4096));
	assert_null(zone_resize(block, SIZE_MAX));
	assert_null(zone_resize(block, (size_t)PTRDIFF_MAX - (1 << 20)));
	memset(block, 1, 100);
	zone_free(block);
}

/* One block of each size after another has dirtied the same place. */
static void
zeroed_blocks_are_zero(void **state)
{
	size_t size;

	(void)state;
	for (size = 1; size < 3000000; size = size * 5 / 3 + 1) {
		unsigned char *blocks[20];
		unsigned round, i;

		for (round = 0; round < 3; round++) {
			for (i = 0; i < 20; i++) {
				blocks[i] = zone_alloc_zeroed(size);
				assert_non_null(blocks[i]);
				assert_filled(blocks[i], size, 0);
				memset(blocks[i], 0xff,
				       zone_usable_size(blocks[i]));
			}
			for (i = 0; i < 20; i++)
				zone_free(blocks[i]);
		}
	}
	zone_trim();
	assert_sound();
}

struct shadow {
	unsigned char *block;
	size_t size;
	unsigned char value;
};

static size_t
random_size(struct dice *dice)
{
	return (size_t)1 << dice_roll(dice, 19) | dice_roll(dice, 256);
}

static void
step(struct shadow *shadow, struct dice *dice)
{
	const size_t size = random_size(dice);

	if (shadow->block == NULL) {
		shadow->block = zone_alloc(size);
		shadow->size = size;
		shadow->value = (unsigned char)dice_roll(dice, 255);
		memset(shadow->block, shadow->value, size);
		return;
	}
	assert_filled(shadow->block, shadow->size < 64 ? shadow->size : 64,
		      shadow->value);
	if (dice_roll(dice, 3) == 0) {
		shadow->block = zone_resize(shadow->block, size);
		assert_non_null(shadow->block);
		assert_filled(shadow->block,
			      size < shadow->size ? size : shadow->size,
			      shadow->value);
		shadow->size = size;
		memset(shadow->block, shadow->value, size);
		return;
	}
	assert_filled(shadow->block, shadow->size, shadow->value);
	zone_free(shadow->block);
	shadow->block = NULL;
}

/* Overlapping blocks would spoil each other's bytes. */
static void
blocks_keep_their_bytes(void **state)
{
	static struct shadow shadows[SHADOWS];
	struct dice dice = dice_seeded(4);
	unsigned i;

	(void)state;
	for (i = 0; i < STEPS; i++) {
		step(&shadows[dice_roll(&dice, SHADOWS)], &dice);
		if (i % 4000 == 0) {
			zone_trim();
			assert_sound();
		}
	}
	for (i = 0; i < SHADOWS; i++)
		zone_free(shadows[i].block);
	assert_sound();
}

static void
growing_keeps_what_was_there(void **state)
{
	unsigned char *block = NULL;
	size_t size = 0;

	(void)state;
	while (size < 8u << 20) {
		const size_t more = size / 4 + 100;

		block = zone_resize(block, size + more);
		assert_non_null(block);
		memset(block + size, (int)(size / 100 % 251), more);
		size += more;
		assert_int_equal(block[0], 0);
	}
	while (size > 100) {
		const size_t before = size;

		size = size * 4 / 5;
		block = zone_resize(block, size);
		assert_non_null(block);
		assert_true(before > size);
	}
	assert_filled(block, size, 0);
	zone_free(block);
}

/* The memory of what is freed is used again. The kernel is called only to give
 * something back. */
static void
nothing_leaks(void **state)
{
	struct zone_stats before, after;
	unsigned round, i;

	(void)state;
	for (round = 0; round < 60; round++) {
		static void *blocks[800];

		for (i = 0; i < 800; i++)
			blocks[i] = zone_alloc(i * 7 % 9000);
		for (i = 0; i < 800; i++)
			zone_free(blocks[i]);
		if (round == 5)
			zone_stats(&before);
	}
	zone_stats(&after);
	assert_int_equal(after.frontier_bytes, before.frontier_bytes);
	assert_true(after.kernel_calls - before.kernel_calls <=
		    after.purged_units - before.purged_units +
			    after.purged_pages - before.purged_pages);
	assert_sound();
}

static void
figures_follow_the_blocks(void **state)
{
	static void *blocks[3000];
	struct zone_stats before, during;
	unsigned i;

	(void)state;
	zone_trim();
	zone_stats(&before);
	for (i = 0; i < 3000; i++)
		blocks[i] = zone_alloc(128);
	zone_stats(&during);
	for (i = 0; i < ZONE_STATS_CLASSES; i++)
		if (during.classes[i].size_bytes == 128)
			break;
	assert_in_range(during.classes[i].blocks_in_use -
				before.classes[i].blocks_in_use,
			3000, 3064);
	assert_int_equal(during.classes[i].slabs - before.classes[i].slabs, 6);
	for (i = 0; i < 3000; i++)
		zone_free(blocks[i]);
	zone_trim();
	zone_stats(&during);
	assert_true(during.ready_bytes + during.cold_bytes >=
		    before.ready_bytes + before.cold_bytes);
	assert_true(during.purged_units > before.purged_units);
}

static int
free_inside(void *size)
{
	char *block = zone_alloc((size_t)(uintptr_t)size);

	zone_free(block + 16);
	return 0;
}

static int
free_foreign(void *unused)
{
	char byte;

	(void)unused;
	zone_free(&byte);
	return 0;
}

static int
free_unused_unit(void *unused)
{
	char *block = zone_alloc(100);

	(void)unused;
	zone_free(block + (8u << 20));
	return 0;
}

static int
free_twice(void *size)
{
	void *blocks[200];
	unsigned i;

	for (i = 0; i < 200; i++)
		blocks[i] = zone_alloc((size_t)(uintptr_t)size);
	for (i = 0; i < 200; i++)
		zone_free(blocks[i]);
	for (i = 0; i < 200; i++)
		zone_free(blocks[i]);
	return 0;
}

static void
bad_pointers_end_the_process(void **state)
{
	static const struct {
		int (*main)(void *argument);
		uintptr_t argument;
		const char *text;
	} cases[] = {
		{free_inside, 100, "inside of a block"},
		{free_inside, 100000, "no block in use"},
		{free_foreign, 0, "not ours"},
		{free_unused_unit, 0, "no block in use"},
		{free_twice, 100, "freed twice"},
		{free_twice, 8, "freed twice"},
		{free_twice, 100000, "no block in use"},
	};
	char errors[512];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int status =
			child_run(cases[i].main, (void *)cases[i].argument,
				  errors, sizeof(errors));

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGABRT);
		assert_non_null(strstr(errors, cases[i].text));
	}
	zone_free(NULL);
}

static void
allocator_gives_zeroed_blocks(void **state)
{
	struct zone_allocator allocator;
	unsigned char *block;

	(void)state;
	zone_allocator_init(&allocator, NULL);
	block = allocator_new_aligned(&allocator.allocator, 1000, 64);
	assert_non_null(block);
	assert_int_equal((uintptr_t)block % 64, 0);
	assert_filled(block, 1000, 0);
	allocator_delete(&allocator.allocator, block);
	allocator_delete(&allocator.allocator, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_usable_and_aligned),
		cmocka_unit_test(alignment_is_kept),
		cmocka_unit_test(too_much_is_refused),
		cmocka_unit_test(zeroed_blocks_are_zero),
		cmocka_unit_test(blocks_keep_their_bytes),
		cmocka_unit_test(growing_keeps_what_was_there),
		cmocka_unit_test(nothing_leaks),
		cmocka_unit_test(figures_follow_the_blocks),
		cmocka_unit_test(bad_pointers_end_the_process),
		cmocka_unit_test(allocator_gives_zeroed_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

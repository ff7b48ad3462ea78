/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_pool.c - extents of the locked pool: disjoint, shared fairly, given
 * back without a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/pool.h"
#include "tests/kit/dice.h"

#include <string.h>

enum { POOL_BYTES = 6 << 20, PAGE = 4096, HELD = 40 };

static int
set_up(void **state)
{
	struct pool *pool = NULL;

	if (pool_create(POOL_BYTES, &pool) < 0)
		return -1;
	*state = pool;
	return 0;
}

static int
tear_down(void **state)
{
	pool_destroy(*state);
	return 0;
}

static size_t
used_bytes(const struct pool *pool)
{
	struct pool_usage usage;

	pool_get_usage(pool, &usage);
	return usage.used_bytes;
}

static void
low_share_falls_but_never_to_nothing(void **state)
{
	struct pool *pool = *state;
	struct pool_extent extents[8] = {{0}};
	unsigned i;

	for (i = 0; i < 5; i++) {
		assert_true(
			pool_take_low(pool, 256 << 10, 3 << 20, &extents[i]));
		assert_true(pool_check(pool));
		assert_true(extents[i].bytes >= 256 << 10);
		if (i > 0)
			assert_true(extents[i].bytes <= extents[i - 1].bytes);
	}
	/* The first is not held to the least. */
	assert_true(extents[0].bytes > 2 << 20);
	for (i = 0; i < 5; i++)
		pool_give(pool, &extents[i]);
	assert_int_equal(used_bytes(pool), 0);
}

static void
low_leaves_the_reserve_alone(void **state)
{
	struct pool *pool = *state;
	struct pool_extent extent = {0}, deck = {0};
	unsigned count = 0;

	pool_set_reserve(pool, 1 << 20);
	while (pool_take_low(pool, 256 << 10, 256 << 10, &extent))
		count++;
	assert_int_equal(count, 5 * 4);
	assert_true(pool_take_high(pool, 1 << 20, &deck));
	assert_false(deck.apart);
	assert_true(pool_check(pool));
	assert_int_equal(used_bytes(pool), POOL_BYTES);
}

static void
high_is_mapped_apart_when_full(void **state)
{
	struct pool *pool = *state;
	struct pool_extent inside = {0}, apart = {0};
	struct pool_usage usage;

	assert_true(pool_take_high(pool, POOL_BYTES, &inside));
	assert_true(pool_take_high(pool, 8 << 20, &apart));
	assert_false(inside.apart);
	assert_true(apart.apart);
	memset(apart.memory, 1, apart.bytes);
	pool_get_usage(pool, &usage);
	assert_int_equal(usage.apart_bytes, 8 << 20);
	pool_give(pool, &apart);
	pool_give(pool, &inside);
	pool_get_usage(pool, &usage);
	assert_int_equal(usage.apart_bytes, 0);
	assert_null(apart.memory);
}

static void
shrink_gives_back_the_tail(void **state)
{
	struct pool *pool = *state;
	struct pool_extent extent = {0}, next = {0};

	assert_true(pool_take_low(pool, POOL_BYTES, POOL_BYTES, &extent));
	assert_false(pool_take_low(pool, PAGE, PAGE, &next));
	pool_shrink(pool, &extent, 2 * PAGE - 1);
	assert_int_equal(extent.bytes, 2 * PAGE);
	assert_true(pool_take_low(pool, PAGE, PAGE, &next));
	assert_ptr_equal(next.memory, (char *)extent.memory + 2 * PAGE);
	assert_true(pool_check(pool));
	pool_give(pool, &next);
	pool_give(pool, &extent);
	assert_int_equal(used_bytes(pool), 0);
}

static void
giving_nothing_is_harmless(void **state)
{
	struct pool_extent none = {0};

	pool_give(*state, &none);
	assert_true(pool_check(*state));
}

/* Each extent carries its own byte; none is ever found in another's. */
static void
extents_never_overlap(void **state)
{
	struct pool *pool = *state;
	struct dice dice = dice_seeded(7);
	struct pool_extent held[HELD] = {{0}};
	size_t sum;
	unsigned i, n;

	for (n = 0; n < 4000; n++) {
		const unsigned at = dice_roll(&dice, HELD);
		struct pool_extent *extent = &held[at];
		const size_t bytes = 1 + dice_roll(&dice, 300 << 10);

		if (extent->memory != NULL) {
			const uint8_t *memory = extent->memory;

			assert_int_equal(memory[0], at);
			assert_int_equal(memory[extent->bytes - 1], at);
			pool_give(pool, extent);
		} else if (dice_roll(&dice, 2) == 0) {
			if (!pool_take_low(pool, PAGE, bytes, extent))
				continue;
		} else if (!pool_take_high(pool, bytes, extent)) {
			continue;
		}
		if (extent->memory != NULL) {
			((uint8_t *)extent->memory)[0] = (uint8_t)at;
			((uint8_t *)extent->memory)[extent->bytes - 1] =
				(uint8_t)at;
		}
		assert_true(pool_check(pool));
	}
	sum = 0;
	for (i = 0; i < HELD; i++)
		sum += held[i].apart ? 0 : held[i].bytes;
	assert_int_equal(used_bytes(pool), sum);
	for (i = 0; i < HELD; i++)
		pool_give(pool, &held[i]);
	assert_int_equal(used_bytes(pool), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			low_share_falls_but_never_to_nothing, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(low_leaves_the_reserve_alone,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(high_is_mapped_apart_when_full,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(shrink_gives_back_the_tail,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(giving_nothing_is_harmless,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(extents_never_overlap, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_item.c - the claim word: one holder at a time, and a holder that learns
 * of who came by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/item.h"

static void
claim_excludes_until_release(void **state)
{
	struct item item;

	(void)state;
	item_init(&item, ITEM_LANE);
	assert_int_equal(item.kind, ITEM_LANE);
	assert_true(item_claim(&item));
	assert_false(item_claim(&item));
	assert_true(item_release(&item));
	assert_true(item_claim(&item));
	assert_false(item_release(&item));
}

static void
many_bounces_are_one(void **state)
{
	struct item item;

	(void)state;
	item_init(&item, ITEM_STREAM);
	assert_true(item_claim(&item));
	assert_false(item_claim(&item));
	assert_false(item_claim(&item));
	assert_true(item_release(&item));
	assert_int_equal(atomic_load(&item.claim), ITEM_FREE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claim_excludes_until_release),
		cmocka_unit_test(many_bounces_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_classes.c - every size against the table searched from its beginning. */
#include "lib/zone/classes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static unsigned
search(size_t size, size_t multiple)
{
	unsigned class;

	for (class = 0; class < ZONE_CLASSES; class ++)
		if (zone_classes[class].size >= size &&
		    zone_classes[class].size % multiple == 0)
			return class;
	abort();
}

static void
each_size_has_the_smallest_class(void **state)
{
	size_t size;

	(void)state;
	for (size = 1; size <= ZONE_SMALL_MAX; size++) {
		assert_int_equal(zone_class_of(size), search(size, 1));
		assert_int_equal(zone_class_of_16(size), search(size, 16));
	}
}

static void
waste_is_bounded(void **state)
{
	unsigned class;

	(void)state;
	for (class = 1; class < ZONE_CLASSES; class ++) {
		const uint32_t below = zone_classes[class - 1].size;

		assert_true(zone_classes[class].size > below);
		assert_true(zone_classes[class].size <= 2 * below);
	}
	assert_int_equal(zone_classes[ZONE_CLASS_16].size, 16);
	assert_int_equal(zone_classes[ZONE_CLASS_64].size, 64);
}

static void
blocks_fit_their_slab(void **state)
{
	unsigned class;

	(void)state;
	for (class = 0; class < ZONE_CLASSES; class ++) {
		const struct zone_class *c = &zone_classes[class];

		assert_true(c->blocks * c->size <= ZONE_UNIT_BYTES);
		assert_true((c->blocks + 1u) * c->size > ZONE_UNIT_BYTES ||
			    c->blocks == ZONE_BLOCKS_MAX);
		assert_true(c->magazine >= 1 &&
			    c->magazine <= ZONE_MAGAZINE_MAX);
		assert_true(c->magazine * c->size <= ZONE_UNIT_BYTES);
		assert_int_equal(c->words, (c->blocks + 63) / 64);
	}
}

static void
check_offset(const struct zone_class *class, uint32_t offset)
{
	const unsigned index = offset / class->size;
	const bool begins = offset % class->size == 0 && index < class->blocks;

	if (zone_block_of(class, offset) != index ||
	    zone_block_begins(class, offset) != begins)
		fail_msg("size %u, offset %u", class->size, offset);
}

static void
the_inverse_is_exact(void **state)
{
	unsigned class;
	uint32_t offset;

	(void)state;
	for (class = 0; class < ZONE_CLASSES; class ++)
		for (offset = 0; offset < ZONE_UNIT_BYTES; offset++)
			check_offset(&zone_classes[class], offset);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_size_has_the_smallest_class),
		cmocka_unit_test(waste_is_bounded),
		cmocka_unit_test(blocks_fit_their_slab),
		cmocka_unit_test(the_inverse_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

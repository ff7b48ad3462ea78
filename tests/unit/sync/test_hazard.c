/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every slot of every reader is seen by a scan, and by no other. */
#include "lib/sync/hazard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void
a_scan_sees_every_slot(void **state)
{
	static struct hazard_domain domain;
	int node[2];
	unsigned reader;
	unsigned slot;

	(void)state;
	hazard_domain_init(&domain);
	assert_false(hazard_held(&domain, &node[0]));
	for (reader = 0; reader < HAZARD_READERS_MAX; reader++) {
		for (slot = 0; slot < HAZARD_SLOTS; slot++) {
			hazard_set(&domain.readers[reader], slot, &node[0]);
			assert_true(hazard_held(&domain, &node[0]));
			assert_false(hazard_held(&domain, &node[1]));
			hazard_set(&domain.readers[reader], slot, &node[1]);
			assert_false(hazard_held(&domain, &node[0]));
			hazard_clear(&domain.readers[reader], slot);
			assert_false(hazard_held(&domain, &node[1]));
		}
	}
}

static void
two_holders_must_both_let_go(void **state)
{
	static struct hazard_domain domain;
	int node;

	(void)state;
	hazard_domain_init(&domain);
	hazard_set(&domain.readers[0], 1, &node);
	hazard_set(&domain.readers[9], 0, &node);
	hazard_clear(&domain.readers[0], 1);
	assert_true(hazard_held(&domain, &node));
	hazard_clear(&domain.readers[9], 0);
	assert_false(hazard_held(&domain, &node));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scan_sees_every_slot),
		cmocka_unit_test(two_holders_must_both_let_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* as_child.h - for tests that are a child's exit code: 0 is good, 77 that the
 * machine cannot do it. After cmocka.h. */
#ifndef ROTARY_TEST_RT_AS_CHILD_H
#define ROTARY_TEST_RT_AS_CHILD_H

#include "tests/kit/child.h"

#include <stddef.h>
#include <sys/wait.h>

static inline void
expect_child(int (*main)(void *argument))
{
	const int status = child_run(main, NULL, NULL, 0);

	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

#endif

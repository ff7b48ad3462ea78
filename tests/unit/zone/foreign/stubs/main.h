/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.h - included at the end of a test; the status is its own, or 1 when a
 * check failed. */
#include "stub.h"

#include <sys/resource.h>

#ifndef TIMEOUT
#	define TIMEOUT 60
#endif

#ifdef TEST_FUNCTION
#	define STUB_RUN TEST_FUNCTION
#else
#	define STUB_RUN do_test()
#endif

int
main(void)
{
	int status = 0;

	(void)setvbuf(stdout, NULL, _IONBF, 0);
	(void)alarm(4 * TIMEOUT);
#ifdef TEST_RLIMIT_AS
	(void)setrlimit(RLIMIT_AS,
			&(struct rlimit){TEST_RLIMIT_AS, TEST_RLIMIT_AS});
#endif
	status = STUB_RUN;
	return status != 0 ? status : stub_failures != 0;
}

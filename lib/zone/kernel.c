/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel.c - the only system calls of the allocator, each counted, and each
 * one that a test can make fail. errno is left as it was. */
#include "lib/zone/parts.h"

#include <errno.h>
#include <sys/mman.h>

#ifdef ZONE_TEST_FAULTS
/* A test's: true when this call is to fail. */
bool zone_test_fails(void);
#else
static bool
zone_test_fails(void)
{
	return false;
}
#endif

static int
conclude(bool done)
{
	zone_count(&zone_region.figures.kernel_calls, 1);
	if (done)
		return 0;
	zone_count(&zone_region.figures.kernel_failures, 1);
	return -ENOMEM;
}

int
zone_kernel_protect(void *at, size_t bytes)
{
	const int saved_errno = errno;
	const bool done = !zone_test_fails() &&
			  mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0;

	errno = saved_errno;
	return conclude(done);
}

int
zone_kernel_lock(void *at, size_t bytes)
{
	const int saved_errno = errno;
	const bool done = !zone_test_fails() && mlock(at, bytes) == 0;

	errno = saved_errno;
	return conclude(done);
}

int
zone_kernel_advise(void *at, size_t bytes, int advice)
{
	const int saved_errno = errno;
	const bool done = !zone_test_fails() && madvise(at, bytes, advice) == 0;

	errno = saved_errno;
	return conclude(done);
}

/* Only address space: no page of it can be touched, none becomes resident under
 * mlockall(). */
void *
zone_kernel_reserve(size_t bytes)
{
	const int saved_errno = errno;
	void *at = zone_test_fails()
			   ? MAP_FAILED
			   : mmap(NULL, bytes, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				  -1, 0);

	errno = saved_errno;
	return conclude(at != MAP_FAILED) == 0 ? at : NULL;
}

/* Pages to another place of the reservation, without leaving a hole behind. */
void *
zone_kernel_move(void *from, size_t bytes, void *to)
{
	const int saved_errno = errno;
	void *at = zone_test_fails() ? MAP_FAILED
				     : mremap(from, bytes, bytes,
					      MREMAP_MAYMOVE | MREMAP_FIXED |
						      MREMAP_DONTUNMAP,
					      to);

	errno = saved_errno;
	return conclude(at != MAP_FAILED) == 0 ? at : NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel says about locked and resident pages, in children, with and
 * without the right to lock. (Sanitizers make mlock() do nothing.) */
#include "lib/rt/rt.h"
#include "tests/kit/child.h"
#include "tests/kit/machine.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/rt/as_child.h"

#ifdef ROTARY_SANITIZED
enum { LOCKS_ARE_REAL = 0 };
#else
enum { LOCKS_ARE_REAL = 1 };
#endif

enum { POOL_BYTES = 256 * 1024, LIMIT_BYTES = 128 * 1024 };
/* The smallest page. */
enum { PAGES_MAX = POOL_BYTES / 4096 };

/* VmLck of this process in bytes. */
static size_t
locked_now(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	size_t kilobytes = 0;

	if (file == NULL)
		return 0;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "VmLck: %zu", &kilobytes) == 1)
			break;
	fclose(file);
	return kilobytes * 1024;
}

static bool
is_resident(void *pool)
{
	const size_t count = POOL_BYTES / machine_page_bytes();
	unsigned char pages[PAGES_MAX];
	size_t i;

	if (mincore(pool, POOL_BYTES, pages) != 0)
		return false;
	for (i = 0; i < count; i++)
		if ((pages[i] & 1) == 0)
			return false;
	return true;
}

static bool
has_ordinary_limit(void)
{
	const struct rlimit limit = {LIMIT_BYTES, LIMIT_BYTES};

	child_drop_rights();
	return setrlimit(RLIMIT_MEMLOCK, &limit) == 0;
}

static int
map_within_the_limit(void *argument)
{
	const struct rlimit limit = {2 * POOL_BYTES, 2 * POOL_BYTES};
	bool locked = false;
	void *pool;
	size_t before;

	(void)argument;
	if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		return 1;
	child_drop_rights();
	before = locked_now();
	pool = rt_pool_map(POOL_BYTES, &locked);
	if (pool == NULL || !locked || !is_resident(pool))
		return 2;
	if (locked_now() != before + POOL_BYTES)
		return 3;
	rt_pool_unmap(pool, POOL_BYTES);
	return locked_now() == before ? 0 : 4;
}

static int
map_over_the_limit(void *argument)
{
	bool locked = true;
	void *pool;

	(void)argument;
	if (!has_ordinary_limit())
		return 1;
	pool = rt_pool_map(POOL_BYTES, &locked);
	if (pool == NULL || locked || !is_resident(pool))
		return 2;
	rt_pool_unmap(pool, POOL_BYTES);
	return 0;
}

static int
commit_and_decommit(void *argument)
{
	const size_t page = rt_page_bytes();
	const size_t before = locked_now();
	char *pool = rt_pool_reserve(POOL_BYTES);

	(void)argument;
	if (pool == NULL || locked_now() != before)
		return 1;
	if (!rt_pool_commit(pool + page, 2 * page) ||
	    locked_now() != before + 2 * page)
		return 2;
	memset(pool + page, 1, 2 * page);
	rt_pool_decommit(pool + page, 2 * page);
	if (locked_now() != before)
		return 3;
	/* A page that comes back comes back empty. */
	if (!rt_pool_commit(pool, 2 * page) || pool[page] != 0)
		return 4;
	rt_pool_unmap(pool, POOL_BYTES);
	return locked_now() == before ? 0 : 5;
}

static int
commit_part_of_pages(void *argument)
{
	const size_t edge = 100;
	char *pool = rt_pool_reserve(POOL_BYTES);

	(void)argument;
	if (pool == NULL || !has_ordinary_limit())
		return 1;
	pool[edge] = 7;
	if (rt_pool_commit(pool + edge, POOL_BYTES - 2 * edge))
		return 2;
	if (!is_resident(pool) || pool[edge] != 7)
		return 3;
	rt_pool_unmap(pool, POOL_BYTES);
	return 0;
}

static int
lock_program_with_spare(void *argument)
{
	struct rt_memory_report report = {0};

	(void)argument;
	if (!has_ordinary_limit())
		return 1;
	rt_lock_program(NULL, LIMIT_BYTES, &report);
	if (report.locked_bytes != 0 || report.missing_bytes == 0)
		return 2;
	return 0;
}

static int
lock_program_freely(void *argument)
{
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	const char *const names[] = {"libcmocka", NULL};
	struct rt_memory_report few = {0};
	struct rt_memory_report more = {0};

	(void)argument;
	if (setrlimit(RLIMIT_MEMLOCK, &none) != 0)
		return 77;
	rt_lock_program(NULL, 0, &few);
	/* libc alone is larger than this */
	if (few.locked_bytes < 1024 * 1024 || few.missing_bytes != 0 ||
	    few.limit_bytes != SIZE_MAX)
		return 2;
	if (locked_now() < few.locked_bytes)
		return 3;
	rt_lock_program(names, 0, &more);
	if (more.locked_bytes <= few.locked_bytes)
		return 4;
	return locked_now() >= more.locked_bytes ? 0 : 5;
}

static int
lock_what_is_loaded_later(void *argument)
{
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	const char *const names[] = {"libFLAC", NULL};
	struct rt_memory_report report = {0};
	struct rt_memory_report before = {0};

	(void)argument;
	/* Not needed with the right to lock. */
	(void)setrlimit(RLIMIT_MEMLOCK, &none);
	/* Who did not want the program locked, wants none of this. */
	rt_lock_loaded();
	rt_memory_locked(&report);
	if (report.locked_bytes != 0)
		return 2;
	rt_lock_program(names, 0, &before);
	if (before.missing_bytes != 0)
		return 77;
	rt_lock_loaded();
	rt_memory_locked(&report);
	if (report.locked_bytes != before.locked_bytes)
		return 3;
	if (dlopen("libFLAC.so.12", RTLD_NOW | RTLD_LOCAL) == NULL)
		return 77;
	rt_lock_loaded();
	rt_memory_locked(&report);
	if (report.locked_bytes <= before.locked_bytes)
		return 4;
	return locked_now() >= report.locked_bytes ? 0 : 5;
}

static int
lock_program_within_the_limit(void *argument)
{
	struct rt_memory_report report = {0};

	(void)argument;
	if (!has_ordinary_limit())
		return 1;
	rt_lock_program(NULL, 0, &report);
	if (report.limit_bytes != LIMIT_BYTES)
		return 2;
	if (report.locked_bytes == 0 || report.locked_bytes > LIMIT_BYTES)
		return 3;
	if (report.missing_bytes == 0)
		return 4;
	return locked_now() == report.locked_bytes ? 0 : 5;
}

static void
run(int (*main)(void *argument))
{
	if (!LOCKS_ARE_REAL)
		skip();
	expect_child(main);
}

static void
a_pool_is_locked_and_there(void **state)
{
	(void)state;
	run(map_within_the_limit);
}

static void
a_pool_over_the_limit_is_there_all_the_same(void **state)
{
	(void)state;
	if (!machine_heeds_advice())
		skip();
	run(map_over_the_limit);
}

static void
the_program_and_what_was_named_is_locked(void **state)
{
	(void)state;
	run(lock_program_freely);
}

static void
what_is_loaded_later_is_locked_when_told(void **state)
{
	(void)state;
	run(lock_what_is_loaded_later);
}

static void
the_limit_is_spent_and_the_rest_reported(void **state)
{
	(void)state;
	run(lock_program_within_the_limit);
}

static void
a_part_has_memory_only_while_committed(void **state)
{
	(void)state;
	run(commit_and_decommit);
}

static void
a_part_need_not_be_whole_pages(void **state)
{
	(void)state;
	if (!machine_heeds_advice())
		skip();
	run(commit_part_of_pages);
}

static void
what_pools_need_is_spared(void **state)
{
	(void)state;
	run(lock_program_with_spare);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_is_locked_and_there),
		cmocka_unit_test(a_pool_over_the_limit_is_there_all_the_same),
		cmocka_unit_test(the_program_and_what_was_named_is_locked),
		cmocka_unit_test(what_is_loaded_later_is_locked_when_told),
		cmocka_unit_test(the_limit_is_spent_and_the_rest_reported),
		cmocka_unit_test(a_part_has_memory_only_while_committed),
		cmocka_unit_test(a_part_need_not_be_whole_pages),
		cmocka_unit_test(what_pools_need_is_spared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

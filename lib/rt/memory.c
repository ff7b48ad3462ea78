/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.c - pages that are there before they are needed, and stay.
 *
 * No mlockall(): with a finite RLIMIT_MEMLOCK its FUTURE flag makes
 * pthread_create() fail, and ONFAULT leaves cold text to be evicted. Segments
 * are locked one by one until the limit is spent; what is over is reported.
 *
 * rt_lock_loaded() does it anew when the linker has added an object since:
 * what is locked already costs a look at its pages and counts once. Two threads
 * may have loaded something, hence the lock. */
#include "lib/rt/permit.h"
#include "lib/rt/rt.h"

#include <errno.h>
#include <link.h>
#include <linux/capability.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct locking {
	const char *const *names;
	size_t spare_bytes;
	unsigned long long loads; /* of the linker, until then; 0: never */
	struct rt_memory_report report;
};

static pthread_mutex_t program_lock = PTHREAD_MUTEX_INITIALIZER;
static struct locking program; /* protected by program_lock */

size_t
rt_page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static bool
begins_with(const char *string, const char *prefix)
{
	return strncmp(string, prefix, strlen(prefix)) == 0;
}

/* path is empty for the program itself, and for the vDSO, which has no file and
 * is the kernel's own. */
static bool
is_wanted(const struct locking *locking, const char *path, bool is_program)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash != NULL ? slash + 1 : path;
	size_t i = 0;

	if (is_program || begins_with(file, "libc.so") ||
	    begins_with(file, "libm.so"))
		return true;
	if (path[0] == '\0' || locking->names == NULL)
		return false;
	for (i = 0; locking->names[i] != NULL; i++)
		if (strstr(file, locking->names[i]) != NULL)
			return true;
	return false;
}

/* Locks [begin, end), unless that would eat into what is spared. */
static void
lock_segment(struct locking *locking, uintptr_t begin, uintptr_t end)
{
	struct rt_memory_report *report = &locking->report;
	const size_t bytes = end - begin;
	const bool fits = report->limit_bytes == SIZE_MAX ||
			  report->locked_bytes + bytes + locking->spare_bytes <=
				  report->limit_bytes;

	if (fits && mlock((void *)begin, bytes) == 0)
		report->locked_bytes += bytes;
	else
		report->missing_bytes += bytes;
}

/* The linker calls the program first. */
static int
lock_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct locking *locking = context;
	const bool is_program = locking->report.locked_bytes == 0 &&
				locking->report.missing_bytes == 0;
	const uintptr_t page = rt_page_bytes();
	size_t i = 0;

	(void)size;
	locking->loads = info->dlpi_adds;
	if (!is_wanted(locking, info->dlpi_name, is_program))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t begin =
			(info->dlpi_addr + segment->p_vaddr) / page * page;
		const uintptr_t end = (info->dlpi_addr + segment->p_vaddr +
				       segment->p_memsz + page - 1) /
				      page * page;

		if (segment->p_type != PT_LOAD || begin == end)
			continue;
		lock_segment(locking, begin, end);
	}
	return 0;
}

static void
lock_program_locked(void)
{
	const uint64_t limit = permit_limit(RLIMIT_MEMLOCK);

	program.report = (struct rt_memory_report){
		.limit_bytes =
			permit_capability(CAP_IPC_LOCK) || limit > SIZE_MAX
				? SIZE_MAX
				: (size_t)limit,
	};
	dl_iterate_phdr(lock_object, &program);
}

void
rt_lock_program(const char *const names[], size_t spare_bytes,
		struct rt_memory_report *ret_report)
{
	pthread_mutex_lock(&program_lock);
	program.names = names;
	program.spare_bytes = spare_bytes;
	lock_program_locked();
	*ret_report = program.report;
	pthread_mutex_unlock(&program_lock);
}

/* Stops at the first object, which knows the count. */
static int
count_loads(struct dl_phdr_info *info, size_t size, void *context)
{
	unsigned long long *loads = context;

	(void)size;
	*loads = info->dlpi_adds;
	return 1;
}

void
rt_lock_loaded(void)
{
	unsigned long long loads = 0;

	pthread_mutex_lock(&program_lock);
	(void)dl_iterate_phdr(count_loads, &loads);
	if (program.loads != 0 && loads != program.loads)
		lock_program_locked();
	pthread_mutex_unlock(&program_lock);
}

void
rt_memory_locked(struct rt_memory_report *ret_report)
{
	pthread_mutex_lock(&program_lock);
	*ret_report = program.report;
	pthread_mutex_unlock(&program_lock);
}

/* Writes to each page, so that none is the shared zero page, but changes
 * nothing. Nobody else writes there yet. */
static void
populate(void *part, size_t length)
{
	const size_t page = rt_page_bytes();
	const size_t before = (uintptr_t)part % page;
	volatile char *bytes = part;
	size_t i = 0;

	if (madvise((char *)part - before, before + length,
		    MADV_POPULATE_WRITE) == 0)
		return;
	for (i = 0; i < length; i += page - (uintptr_t)(bytes + i) % page) {
		const char value = bytes[i];

		bytes[i] = value;
	}
}

void *
rt_pool_reserve(size_t length)
{
	void *pool = mmap(NULL, length, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return pool == MAP_FAILED ? NULL : pool;
}

void
rt_pool_populate(void *part, size_t length)
{
	populate(part, length);
}

bool
rt_pool_lock(void *part, size_t length)
{
	return mlock2(part, length, MLOCK_ONFAULT) == 0;
}

/* mlock2() without a flag populates what it locks. */
bool
rt_pool_commit(void *part, size_t length)
{
	if (mlock2(part, length, 0) == 0)
		return true;
	populate(part, length);
	return false;
}

void
rt_pool_decommit(void *part, size_t length)
{
	(void)munlock(part, length);
	(void)madvise(part, length, MADV_DONTNEED);
}

void *
rt_pool_map(size_t length, bool *ret_locked)
{
	void *pool = rt_pool_reserve(length);

	if (pool != NULL)
		*ret_locked = rt_pool_commit(pool, length);
	return pool;
}

void
rt_pool_unmap(void *pool, size_t length)
{
	if (pool != NULL)
		(void)munmap(pool, length);
}

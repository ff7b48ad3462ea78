/* SPDX-License-Identifier: GPL-3.0-or-later */
/* counts.c - the functions that stand before libc's.
 *
 * Objects are kept in a table, looked up anew only when a call comes from none
 * of them: something was loaded. The linker appends, so that what was counted
 * stays in its place. malloc() and its like pass on to the
 * names that libc has for allocators which replace it; the locks' next
 * definitions are asked for at the begin, and before it nothing is locked by
 * two threads, there being one. */
#include "tests/bench/decoders/counts.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OBJECTS_MAX = 64, NAME_BYTES = 64 };

enum counted { ALLOCATIONS, FREES, LOCKS, COUNTED };

static struct object {
	char name[NAME_BYTES];
	uintptr_t begin, end;
	uint64_t counts[COUNTED];
} objects[OBJECTS_MAX];

static size_t object_count;
static bool counting;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static int
add_object(struct dl_phdr_info *info, size_t size, void *context)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	struct object *object = &objects[object_count];
	size_t *known = context;
	size_t i;

	(void)size;
	if (*known > 0) {
		(*known)--;
		return 0;
	}
	if (object_count == OBJECTS_MAX)
		return 1;
	*object = (struct object){.begin = UINTPTR_MAX};
	(void)snprintf(object->name, sizeof(object->name), "%s",
		       object_count == 0 ? "rotary"
		       : slash != NULL   ? slash + 1
					 : info->dlpi_name);
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		if (begin < object->begin)
			object->begin = begin;
		if (begin + segment->p_memsz > object->end)
			object->end = begin + segment->p_memsz;
	}
	object_count++;
	return 0;
}

static struct object *
object_at(uintptr_t address)
{
	size_t i;

	for (i = 0; i < object_count; i++)
		if (address >= objects[i].begin && address < objects[i].end)
			return &objects[i];
	return NULL;
}

static void
look_up_objects(void)
{
	size_t known = object_count;

	(void)dl_iterate_phdr(add_object, &known);
}

static void
count(enum counted what, const void *caller)
{
	struct object *object = NULL;

	if (!counting)
		return;
	object = object_at((uintptr_t)caller);
	if (object == NULL) {
		look_up_objects();
		object = object_at((uintptr_t)caller);
	}
	if (object != NULL)
		object->counts[what]++;
}

#define CALLER __builtin_return_address(0)

void *
malloc(size_t size)
{
	count(ALLOCATIONS, CALLER);
	return __libc_malloc(size);
}

void *
calloc(size_t number, size_t size)
{
	count(ALLOCATIONS, CALLER);
	return __libc_calloc(number, size);
}

void *
realloc(void *memory, size_t size)
{
	count(ALLOCATIONS, CALLER);
	return __libc_realloc(memory, size);
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	count(ALLOCATIONS, CALLER);
	return __libc_memalign(alignment, size);
}

int
posix_memalign(void **ret_memory, size_t alignment, size_t size)
{
	void *memory = NULL;

	count(ALLOCATIONS, CALLER);
	memory = __libc_memalign(alignment, size);
	if (memory == NULL)
		return ENOMEM;
	*ret_memory = memory;
	return 0;
}

void
free(void *memory)
{
	count(FREES, CALLER);
	__libc_free(memory);
}

/* A lock function of one argument that counts, and calls the next of its
 * name, or does nothing before anybody could contend. */
#define LOCK(function, type)                                                   \
	static int (*next_##function)(type * lock);                            \
	int function(type *lock)                                               \
	{                                                                      \
		count(LOCKS, CALLER);                                          \
		if (next_##function == NULL)                                   \
			*(void **)(void *)&next_##function =                   \
				dlsym(RTLD_NEXT, #function);                   \
		return next_##function(lock);                                  \
	}

LOCK(pthread_mutex_lock, pthread_mutex_t)
LOCK(pthread_mutex_trylock, pthread_mutex_t)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
LOCK(pthread_spin_lock, pthread_spinlock_t)

/* No descriptor has this number, so that nothing is written but the trace. */
static void
mark(const char *text)
{
	if (write(-1, text, strlen(text)) >= 0)
		abort();
}

void
counts_begin(void)
{
	size_t i;

	look_up_objects();
	for (i = 0; i < object_count; i++)
		memset(objects[i].counts, 0, sizeof(objects[i].counts));
	mark("rotary: begin");
	counting = true;
}

void
counts_end(void)
{
	counting = false;
	mark("rotary: end");
}

void
counts_print(const char *phase)
{
	size_t i;

	for (i = 0; i < object_count; i++)
		printf("%s %s allocations %llu frees %llu locks %llu\n", phase,
		       objects[i].name,
		       (unsigned long long)objects[i].counts[ALLOCATIONS],
		       (unsigned long long)objects[i].counts[FREES],
		       (unsigned long long)objects[i].counts[LOCKS]);
}

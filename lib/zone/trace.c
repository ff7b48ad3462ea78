/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.c - ZONE_TRACE=file: each call of the malloc family as a record.
 *
 * The file is mapped whole, sparse, from the constructor on; a record's place
 * is one addition, so threads do not wait for each other and a crash loses
 * nothing. The order of records is that of the additions: a free stands before
 * the call that gets its block again, since it is recorded before it is done,
 * and an allocation after it is done. What does not fit is counted. A child of
 * fork() records nothing; the file is cut to length at exit. */
#include "lib/zone/family.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t file_bytes = (size_t)8 << 30;

bool zone_trace_on;

static struct zone_trace_head *head;
static struct zone_trace_record *records;
static int file = -1;
static ATOMIC(uint32_t) threads;
static __thread uint32_t own_number __attribute__((tls_model("initial-exec")));

void
zone_trace(enum zone_trace_call call, const void *block, size_t size,
	   uint64_t before)
{
	const uint64_t place = atomic_fetch_add(&head->records, 1);

	if ((place + 1) * sizeof(*records) + ZONE_TRACE_HEAD_BYTES >
	    file_bytes) {
		atomic_fetch_sub(&head->records, 1);
		atomic_fetch_add(&head->lost, 1);
		return;
	}
	if (own_number == 0)
		own_number = atomic_fetch_add(&threads, 1) + 1;
	records[place] = (struct zone_trace_record){
		.block = (uintptr_t)block,
		.size = size,
		.before = before,
		.thread = own_number,
		.call = call,
	};
}

static void
stop_in_child(void)
{
	zone_trace_on = false;
}

/* getenv(), but without the pages of the C library that it would touch in each
 * program that is started with the preload library. */
static const char *
traced_to(void)
{
	static const char name[] = "ZONE_TRACE=";
	char **each = environ;

	for (; each != NULL && *each != NULL; each++) {
		size_t i = 0;

		while (i < sizeof(name) - 1 && (*each)[i] == name[i])
			i++;
		if (i == sizeof(name) - 1)
			return *each + i;
	}
	return NULL;
}

__attribute__((constructor)) static void
begin(void)
{
	const char *path = traced_to();
	void *at = NULL;

	if (path == NULL || path[0] == '\0')
		return;
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0 || ftruncate(file, (off_t)file_bytes) != 0)
		return;
	at = mmap(NULL, file_bytes, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_NORESERVE, file, 0);
	if (at == MAP_FAILED)
		return;
	head = at;
	memcpy(head->magic, "zonetrc1", sizeof(head->magic));
	records = (struct zone_trace_record *)(void *)((char *)at +
						       ZONE_TRACE_HEAD_BYTES);
	(void)pthread_atfork(NULL, NULL, stop_in_child);
	/* one process, one file */
	(void)unsetenv("ZONE_TRACE");
	zone_trace_on = true;
}

__attribute__((destructor)) static void
end(void)
{
	uint64_t count = 0;

	if (!zone_trace_on)
		return;
	zone_trace_on = false;
	count = atomic_load(&head->records);
	if (ftruncate(file, (off_t)(ZONE_TRACE_HEAD_BYTES +
				    count * sizeof(*records))) != 0)
		atomic_fetch_add(&head->lost, 1);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c - zone-replay: the calls of a ZONE_TRACE again, on any allocator.
 *
 * usage: zone-replay TRACE [NAME=LIBRARY.so ...]
 *
 * The records are put in the order in which they were made and their blocks
 * numbered beforehand, so that the timed part only calls: one thread, each
 * block's pages touched once. Without libraries it measures the malloc that it
 * runs on; with them it runs itself once per library, preloaded, and once
 * without ("system"). A line each: calls, ns per call, and VmHWM and VmRSS over
 * what the tool itself had before, in KiB. */
#include "lib/zone/family.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

/* What is left of a record. */
struct step {
	uint64_t size;
	uint32_t slot; /* the block's number */
	uint16_t call;
	uint16_t align_shift;
};

/* Open addressing; a removed key stays, with slot 0. */
struct table {
	uint64_t *keys;
	uint32_t *slots;
	size_t mask;
};

struct replay {
	struct step *steps;
	size_t count;
	uint32_t slots;
};

static void *
map_memory(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED) {
		perror("zone-replay");
		exit(1);
	}
	return at;
}

static uint32_t *
find(struct table *table, uint64_t key)
{
	size_t place = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20);

	for (;; place++) {
		place &= table->mask;
		if (table->keys[place] == key || table->keys[place] == 0)
			break;
	}
	table->keys[place] = key;
	return &table->slots[place];
}

/* A block that was there before the trace is freed as if it were NULL. */
static void
add_step(struct replay *replay, struct table *table,
	 const struct zone_trace_record *record)
{
	struct step *step = &replay->steps[replay->count];
	uint32_t *slot = NULL;

	*step = (struct step){.size = record->size,
			      .call = (uint16_t)record->call};
	if (record->call == ZONE_TRACE_ALIGNED)
		step->align_shift =
			(uint16_t)__builtin_ctzll(record->before | 1U << 31);
	if (record->call == ZONE_TRACE_REALLOC) {
		slot = find(table, record->before);
		step->slot = *slot;
		if (record->block != 0)
			*slot = 0;
	}
	if (record->block == 0 && record->call != ZONE_TRACE_FREE)
		return;
	slot = find(table, record->block);
	if (record->call == ZONE_TRACE_FREE) {
		step->slot = *slot;
		*slot = 0;
	} else {
		if (step->slot == 0)
			step->slot = ++replay->slots;
		*slot = step->slot;
	}
	replay->count++;
}

static void
prepare(const struct zone_trace_head *head, struct replay *replay)
{
	const struct zone_trace_record *records =
		(const void *)((const char *)head + ZONE_TRACE_HEAD_BYTES);
	const uint64_t count = atomic_load(&head->records);
	struct table table = {.mask = 1023};
	uint64_t i = 0;

	while (table.mask < 4 * count)
		table.mask = 2 * table.mask + 1;
	table.keys = map_memory((table.mask + 1) * sizeof(*table.keys));
	table.slots = map_memory((table.mask + 1) * sizeof(*table.slots));
	replay->steps = map_memory((count + 1) * sizeof(*replay->steps));
	for (i = 0; i < count; i++)
		if (records[i].call != 0)
			add_step(replay, &table, &records[i]);
	(void)munmap(table.keys, (table.mask + 1) * sizeof(*table.keys));
	(void)munmap(table.slots, (table.mask + 1) * sizeof(*table.slots));
}

static void
touch(void *block, uint64_t from, uint64_t size)
{
	volatile char *bytes = block;
	uint64_t at = 0;

	if (block == NULL)
		return;
	for (at = from; at < size; at += PAGE_BYTES)
		bytes[at] = 1;
}

static void
run_step(const struct step *step, void **blocks)
{
	void **block = &blocks[step->slot];
	void *moved = NULL;

	switch (step->call) {
	case ZONE_TRACE_MALLOC:
		*block = malloc(step->size);
		break;
	case ZONE_TRACE_CALLOC:
		*block = calloc(1, step->size);
		break;
	case ZONE_TRACE_ALIGNED:
		*block = aligned_alloc((size_t)1 << step->align_shift,
				       step->size);
		break;
	case ZONE_TRACE_REALLOC:
		moved = realloc(*block, step->size);
		if (moved != NULL)
			*block = moved;
		break;
	default:
		free(*block);
		*block = NULL;
		return;
	}
	touch(*block, 0, step->size);
}

static long
status_kib(const char *name)
{
	char line[256];
	long value = -1;
	FILE *file = fopen("/proc/self/status", "re");

	if (file == NULL)
		return -1;
	while (fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtol(line + strlen(name), NULL, 10);
	(void)fclose(file);
	return value;
}

static int64_t
now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int
run(const char *name, const struct zone_trace_head *head)
{
	struct replay replay = {0};
	void **blocks = NULL;
	int64_t began_ns = 0, took_ns = 0;
	long before = 0;
	size_t i = 0;

	prepare(head, &replay);
	blocks = map_memory((replay.slots + 1) * sizeof(*blocks));
	touch(blocks, 0, (replay.slots + 1) * sizeof(*blocks));
	before = status_kib("VmRSS:");
	began_ns = now_ns();
	for (i = 0; i < replay.count; i++)
		run_step(&replay.steps[i], blocks);
	took_ns = now_ns() - began_ns;
	printf("%-12s %10zu calls %8.1f ns/call  peak %8ld KiB  end %8ld KiB\n",
	       name, replay.count,
	       (double)took_ns / (double)(replay.count + (replay.count == 0)),
	       status_kib("VmHWM:") - before, status_kib("VmRSS:") - before);
	return 0;
}

/* library: NULL, the system's. */
static int
run_on(char *self, char *trace, const char *name, const char *library)
{
	int status = 0;
	pid_t child = 0;

	(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		if (library != NULL)
			(void)setenv("LD_PRELOAD", library, 1);
		(void)setenv("ZONE_REPLAY_NAME", name, 1);
		(void)execl("/proc/self/exe", self, trace, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
		fprintf(stderr, "zone-replay: %s: failed\n", name);
		return 1;
	}
	return 0;
}

static int
run_on_each(int count, char **arguments)
{
	int failed = run_on(arguments[0], arguments[1], "system", NULL);
	int i = 0;

	for (i = 2; i < count; i++) {
		char *library = strchr(arguments[i], '=');

		if (library == NULL) {
			fprintf(stderr, "zone-replay: %s: not NAME=LIBRARY\n",
				arguments[i]);
			return 2;
		}
		*library = '\0';
		failed |= run_on(arguments[0], arguments[1], arguments[i],
				 library + 1);
	}
	return failed;
}

static const struct zone_trace_head *
open_trace(const char *path)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	struct zone_trace_head *head = NULL;

	if (file < 0 || fstat(file, &status) != 0) {
		perror(path);
		return NULL;
	}
	if (status.st_size < ZONE_TRACE_HEAD_BYTES)
		head = MAP_FAILED;
	else
		head = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED,
			    file, 0);
	(void)close(file);
	if (head == MAP_FAILED ||
	    memcmp(head->magic, "zonetrc1", sizeof(head->magic)) != 0 ||
	    ((uint64_t)status.st_size - ZONE_TRACE_HEAD_BYTES) /
			    sizeof(struct zone_trace_record) <
		    atomic_load(&head->records)) {
		fprintf(stderr, "zone-replay: %s: no whole trace\n", path);
		return NULL;
	}
	return head;
}

int
main(int count, char **arguments)
{
	const char *name = getenv("ZONE_REPLAY_NAME");
	const struct zone_trace_head *head = NULL;

	if (count < 2) {
		fprintf(stderr,
			"usage: zone-replay TRACE [NAME=LIBRARY.so ...]\n");
		return 2;
	}
	head = open_trace(arguments[1]);
	if (head == NULL)
		return 1;
	if (count > 2)
		return run_on_each(count, arguments);
	return run(name != NULL ? name : "malloc", head);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_family.c - this program's malloc is ours: its rules, and the places
 * where programs break allocators: fork, late destructors, small limits. */
#include "lib/zone/zone.h"
#include "tests/kit/child.h"
#include "tests/kit/machine.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Sizes that the compiler does not know, so that it does not judge them. */
static volatile size_t all_ones = SIZE_MAX;
static volatile size_t half = SIZE_MAX / 2;

static void
refused(void *block)
{
	assert_null(block);
	assert_int_equal(errno, ENOMEM);
	errno = 0;
}

static void
too_large_is_refused(void **state)
{
	void *volatile block = malloc(16);

	(void)state;
	errno = 0;
	refused(malloc(all_ones));
	refused(malloc(half + 1));
	refused(malloc(half - 10));
	refused(calloc(half, 3));
	refused(calloc(1, all_ones));
	refused(realloc(block, all_ones));
	refused(reallocarray(block, half, 3));
	refused(aligned_alloc(64, all_ones - 10));
	refused(memalign(64, half + 100));
	refused(valloc(all_ones));
	refused(pvalloc(all_ones));
	assert_true(zone_owns(block));
	free(block);
}

static void
alignment_rules(void **state)
{
	void *untouched = &state;
	size_t align;

	(void)state;
	errno = 77;
	assert_int_equal(posix_memalign(&untouched, 0, 8), EINVAL);
	assert_int_equal(posix_memalign(&untouched, sizeof(void *) / 2, 8),
			 EINVAL);
	assert_int_equal(posix_memalign(&untouched, 48, 8), EINVAL);
	assert_int_equal(errno, 77);
	assert_int_equal(posix_memalign(&untouched, 64, all_ones), ENOMEM);
	assert_int_equal(errno, ENOMEM);
	assert_ptr_equal(untouched, &state);
	for (align = 8; align <= 1 << 20; align *= 2) {
		void *blocks[4] = {NULL};
		unsigned i;

		assert_int_equal(posix_memalign(&blocks[0], align, 100), 0);
		blocks[1] = aligned_alloc(align, align + 7);
		blocks[2] = memalign(align, 1);
		blocks[3] = memalign(align - align / 4, 1);
		for (i = 0; i < 4; i++) {
			assert_non_null(blocks[i]);
			assert_int_equal((uintptr_t)blocks[i] % align, 0);
			free(blocks[i]);
		}
	}
	errno = 0;
	assert_null(memalign(all_ones, 1));
	assert_int_equal(errno, EINVAL);
}

static void
small_blocks_are_aligned_to_16(void **state)
{
	void *blocks[200];
	size_t i;

	(void)state;
	for (i = 0; i < 200; i++) {
		blocks[i] = malloc(i);
		assert_non_null(blocks[i]);
		assert_int_equal((uintptr_t)blocks[i] % 16, 0);
		assert_true(malloc_usable_size(blocks[i]) >= i);
	}
	for (i = 0; i < 200; i++)
		free(blocks[i]);
	assert_int_equal(malloc_usable_size(NULL), 0);
}

static void
realloc_rules(void **state)
{
	char *block = realloc(NULL, 10);

	(void)state;
	assert_non_null(block);
	memcpy(block, "123456789", 10);
	block = realloc(block, 100000);
	assert_string_equal(block, "123456789");
	block = realloc(block, 10);
	assert_string_equal(block, "123456789");
	assert_null(realloc(block, 0));
	block = realloc(NULL, 0);
	assert_non_null(block);
	free(block);
}

/* Of each size into each other, small and large: what was there is there, and
 * neither too much nor too little of it is kept. */
static void
resized_blocks_keep_their_bytes(void **state)
{
	static const size_t sizes[] = {1,     15,    17,     33,     100,
				       500,   1000,  3000,   9000,   40000,
				       65536, 65537, 200000, 300000, 2000000};
	const size_t count = sizeof(sizes) / sizeof(sizes[0]);
	size_t from, to, i;

	(void)state;
	for (from = 0; from < count; from++)
		for (to = 0; to < count; to++) {
			unsigned char *block = malloc(sizes[from]);
			unsigned char *beside = malloc(sizes[to]);

			assert_non_null(block);
			assert_non_null(beside);
			for (i = 0; i < sizes[from]; i++)
				block[i] = (unsigned char)(i * 7 + from);
			memset(beside, 0xee, sizes[to]);
			block = realloc(block, sizes[to]);
			assert_non_null(block);
			assert_int_equal((uintptr_t)block % 16, 0);
			assert_true(malloc_usable_size(block) >= sizes[to]);
			for (i = 0; i < sizes[from] && i < sizes[to]; i++)
				assert_true(block[i] ==
					    (unsigned char)(i * 7 + from));
			memset(block, 0xdd, sizes[to]);
			for (i = 0; i < sizes[to]; i++)
				assert_true(beside[i] == 0xee);
			free(block);
			free(beside);
		}
	assert_int_equal(zone_check(NULL), 0);
}

/* A little more each time, then a little less; what it no longer has goes. */
static void
a_growing_block_is_whole(void **state)
{
	const size_t step = 70000, most = 12u << 20;
	unsigned char *block = NULL;
	struct zone_stats before, after;
	size_t size, at;

	(void)state;
	zone_stats(&before);
	for (size = step; size < most; size += step) {
		block = realloc(block, size);
		assert_non_null(block);
		block[size - 1] = (unsigned char)(size / step);
		for (at = step; at <= size; at += 11 * step)
			assert_true(block[at - 1] ==
				    (unsigned char)(at / step));
	}
	for (; size > 3 * step; size -= step / 2) {
		block = realloc(block, size);
		assert_non_null(block);
		for (at = step; at < size; at += 7 * step)
			assert_true(block[at - 1] ==
				    (unsigned char)(at / step));
	}
	zone_stats(&after);
	assert_true(after.span_bytes - before.span_bytes <= 5 * step);
	free(block);
	zone_stats(&after);
	assert_int_equal(after.span_bytes, before.span_bytes);
}

static void
free_keeps_errno(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < 40; i++) {
		void *block = malloc((size_t)16 << i % 24);

		assert_non_null(block);
		errno = 4711;
		free(block);
		assert_int_equal(errno, 4711);
	}
	free(NULL);
	assert_int_equal(errno, 4711);
}

static void
mallinfo_follows(void **state)
{
	const struct mallinfo2 before = mallinfo2();
	void *block = malloc(16 << 20);
	struct mallinfo2 during;

	(void)state;
	assert_non_null(block);
	during = mallinfo2();
	assert_int_equal(during.hblkhd - before.hblkhd, 16 << 20);
	assert_int_equal(during.hblks - before.hblks, 1);
	free(block);
	assert_int_equal(mallinfo2().hblks, before.hblks);
	assert_int_equal(mallopt(M_MMAP_THRESHOLD, 1 << 20), 1);
	(void)malloc_trim(0);
}

static pthread_key_t late;

/* Comes again as often as it may, allocating each time. */
static void
end_late(void *value)
{
	char *block = malloc(300);

	memset(block, 1, 300);
	free(value);
	(void)pthread_setspecific(late, block);
}

static void *
live_shortly(void *unused)
{
	char *block = malloc(5000);

	(void)unused;
	memset(block, 2, 5000);
	(void)pthread_setspecific(late, malloc(100));
	free(malloc(100000));
	return block;
}

static void
ten_thousand_threads(void **state)
{
	pthread_attr_t attributes;
	struct zone_stats before, after;
	unsigned i;

	(void)state;
	assert_int_equal(pthread_key_create(&late, end_late), 0);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 16384);
	zone_stats(&before);
	for (i = 0; i < 10000; i++) {
		pthread_t thread;
		void *block;

		assert_int_equal(pthread_create(&thread, &attributes,
						live_shortly, NULL),
				 0);
		pthread_join(thread, &block);
		free(block);
	}
	zone_stats(&after);
	/* the last round of the key is after our own end */
	assert_true(after.heaps - before.heaps <= 2);
	assert_true(after.adoptions > before.adoptions);
	assert_true(after.frontier_bytes - before.frontier_bytes <= 4 << 20);
	pthread_attr_destroy(&attributes);
}

static ATOMIC(uint32_t) stop;

static void *
churn(void *unused)
{
	void *blocks[64] = {NULL};
	unsigned i;

	(void)unused;
	for (i = 0; !atomic_load(&stop); i++) {
		free(blocks[i % 64]);
		blocks[i % 64] = malloc(i * 97 % 20000);
	}
	for (i = 0; i < 64; i++)
		free(blocks[i]);
	return NULL;
}

static int
use_in_child(void *unused)
{
	void *blocks[500];
	pthread_t thread;
	unsigned round, i;

	(void)unused;
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 500; i++)
			if ((blocks[i] = malloc(i * 50)) == NULL)
				return 1;
		for (i = 0; i < 500; i++)
			free(blocks[i]);
	}
	if (pthread_create(&thread, NULL, live_shortly, NULL) != 0)
		return 2;
	pthread_join(thread, NULL);
	return zone_check(NULL) == 0 ? 0 : 3;
}

static void
fork_among_threads(void **state)
{
	pthread_t threads[3];
	unsigned i;

	(void)state;
	/* qemu-user's own locks do not live through a fork among threads */
	if (!machine_has_seccomp())
		skip();
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, churn, NULL);
	for (i = 0; i < 20; i++)
		assert_int_equal(child_run(use_in_child, NULL, NULL, 0), 0);
	atomic_store(&stop, 1);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static int
foreign_is_glibcs(void *unused)
{
	char byte;

	(void)unused;
	free(&byte);
	return 0;
}

static void
a_foreign_pointer_is_not_taken(void **state)
{
	char errors[256];
	const int status =
		child_run(foreign_is_glibcs, NULL, errors, sizeof(errors));

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_non_null(strstr(errors, "free(): invalid"));
}

static jmp_buf way_out;

static void
leave(void *context)
{
	*(int *)context += 1;
	longjmp(way_out, 1);
}

/* Code that would write through NULL is left instead; the direct API gives NULL
 * as ever. */
static void
a_full_heap_ends_the_call(void **state)
{
	struct zone_heap *heap = zone_heap_create(1 << 20);
	struct zone_stats before, after;
	static int left;

	(void)state;
	assert_true(zone_is_malloc());
	zone_stats(&before);
	assert_true(zone_heap_enter(heap));
	assert_ptr_equal(zone_heap_entered(), heap);
	zone_heap_on_refusal(heap, leave, &left);
	if (setjmp(way_out) == 0)
		for (;;)
			memset(malloc(1000), 1, 1000);
	assert_int_equal(left, 1);
	if (setjmp(way_out) == 0)
		memset(realloc(malloc(100), 2 << 20), 1, 2 << 20);
	assert_int_equal(left, 2);
	assert_null(zone_alloc(2 << 20));
	zone_heap_on_refusal(heap, NULL, NULL);
	assert_null(malloc(2 << 20));
	zone_heap_leave(heap);
	assert_null(zone_heap_entered());
	zone_heap_destroy(heap);
	zone_stats(&after);
	assert_true(after.refusals - before.refusals == 3);
	assert_int_equal(zone_check(NULL), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_large_is_refused),
		cmocka_unit_test(alignment_rules),
		cmocka_unit_test(small_blocks_are_aligned_to_16),
		cmocka_unit_test(realloc_rules),
		cmocka_unit_test(resized_blocks_keep_their_bytes),
		cmocka_unit_test(a_growing_block_is_whole),
		cmocka_unit_test(free_keeps_errno),
		cmocka_unit_test(mallinfo_follows),
		cmocka_unit_test(ten_thousand_threads),
		cmocka_unit_test(fork_among_threads),
		cmocka_unit_test(a_foreign_pointer_is_not_taken),
		cmocka_unit_test(a_full_heap_ends_the_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

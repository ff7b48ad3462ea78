/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Full, empty, the seam of the buffer, the mark as the writer's border, the
 * end. Capacity 10, which is no power of two. */
#include "lib/sync/byte_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CAPACITY = 10 };

struct fixture {
	struct byte_ring ring;
	uint8_t buffer[CAPACITY];
};

static void
open_ring(struct fixture *fixture)
{
	byte_ring_init(&fixture->ring, fixture->buffer, CAPACITY);
}

/* Writes text span by span; returns how many bytes found room. */
static size_t
put(struct byte_ring *ring, const char *text)
{
	size_t done = 0;
	size_t length;

	while (text[done] != '\0') {
		void *span = byte_ring_write_span(ring, &length);

		if (length == 0)
			break;
		if (length > strlen(text + done))
			length = strlen(text + done);
		memcpy(span, text + done, length);
		byte_ring_commit(ring, length);
		done += length;
	}
	return done;
}

static void
assert_gives(struct byte_ring *ring, size_t length, const char *expected)
{
	char bytes[2 * CAPACITY] = "";

	assert_int_equal(byte_ring_read(ring, bytes, length), strlen(expected));
	assert_memory_equal(bytes, expected, strlen(expected));
}

static void
a_new_ring_is_empty(void **state)
{
	struct fixture f;
	size_t length = 99;

	(void)state;
	open_ring(&f);
	assert_int_equal(byte_ring_readable(&f.ring), 0);
	assert_int_equal(byte_ring_writable(&f.ring), CAPACITY);
	assert_gives(&f.ring, CAPACITY, "");
	(void)byte_ring_read_span(&f.ring, &length);
	assert_int_equal(length, 0);
	assert_false(byte_ring_at_end(&f.ring));
}

static void
full_ring_refuses(void **state)
{
	struct fixture f;
	size_t length = 99;

	(void)state;
	open_ring(&f);
	assert_int_equal(put(&f.ring, "0123456789abc"), CAPACITY);
	assert_int_equal(byte_ring_writable(&f.ring), 0);
	(void)byte_ring_write_span(&f.ring, &length);
	assert_int_equal(length, 0);
	assert_int_equal(byte_ring_readable(&f.ring), CAPACITY);
	assert_gives(&f.ring, 4, "0123");
	assert_gives(&f.ring, 20, "456789");
}

static void
reading_alone_makes_no_room(void **state)
{
	struct fixture f;

	(void)state;
	open_ring(&f);
	put(&f.ring, "0123456789");
	assert_gives(&f.ring, 6, "012345");
	assert_int_equal(byte_ring_writable(&f.ring), 0);
	assert_int_equal(byte_ring_marked(&f.ring), 6);
	byte_ring_mark(&f.ring);
	assert_int_equal(byte_ring_marked(&f.ring), 0);
	assert_int_equal(byte_ring_writable(&f.ring), 6);
	assert_int_equal(put(&f.ring, "abcdefgh"), 6);
	assert_gives(&f.ring, 20, "6789abcdef");
}

static void
rewind_gives_the_same_bytes_over_the_seam(void **state)
{
	struct fixture f;

	(void)state;
	open_ring(&f);
	put(&f.ring, "01234567");
	assert_gives(&f.ring, 7, "0123456");
	byte_ring_mark(&f.ring);
	assert_int_equal(put(&f.ring, "abcdefghijk"), 9);
	assert_gives(&f.ring, 8, "7abcdefg");
	byte_ring_rewind(&f.ring);
	assert_int_equal(byte_ring_marked(&f.ring), 0);
	assert_gives(&f.ring, 20, "7abcdefghi");
	byte_ring_rewind(&f.ring);
	byte_ring_rewind(&f.ring);
	byte_ring_skip(&f.ring, 3);
	assert_gives(&f.ring, 20, "cdefghi");
}

static void
spans_stop_at_the_seam(void **state)
{
	struct fixture f;
	size_t length;
	const char *span;

	(void)state;
	open_ring(&f);
	put(&f.ring, "01234567");
	byte_ring_skip(&f.ring, 8);
	byte_ring_mark(&f.ring);
	(void)byte_ring_write_span(&f.ring, &length);
	assert_int_equal(length, 2);
	put(&f.ring, "abcde");
	span = byte_ring_read_span(&f.ring, &length);
	assert_int_equal(length, 2);
	assert_memory_equal(span, "ab", 2);
	byte_ring_skip(&f.ring, 2);
	span = byte_ring_read_span(&f.ring, &length);
	assert_int_equal(length, 3);
	assert_memory_equal(span, "cde", 3);
}

static void
the_end_comes_after_the_last_byte(void **state)
{
	struct fixture f;

	(void)state;
	open_ring(&f);
	put(&f.ring, "xyz");
	byte_ring_end(&f.ring);
	assert_false(byte_ring_at_end(&f.ring));
	assert_gives(&f.ring, 9, "xyz");
	assert_true(byte_ring_at_end(&f.ring));
	byte_ring_rewind(&f.ring);
	assert_false(byte_ring_at_end(&f.ring));
	byte_ring_reset(&f.ring);
	assert_false(byte_ring_at_end(&f.ring));
	assert_int_equal(byte_ring_readable(&f.ring), 0);
	assert_int_equal(byte_ring_writable(&f.ring), CAPACITY);
}

static void
one_byte_ring_works(void **state)
{
	struct byte_ring ring;
	char byte;
	int i;

	(void)state;
	byte_ring_init(&ring, &byte, 1);
	for (i = 0; i < 5; i++) {
		const char text[] = {(char)('a' + i), '\0'};

		assert_int_equal(put(&ring, text), 1);
		assert_int_equal(put(&ring, "!"), 0);
		assert_gives(&ring, 5, text);
		byte_ring_mark(&ring);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_ring_is_empty),
		cmocka_unit_test(full_ring_refuses),
		cmocka_unit_test(reading_alone_makes_no_room),
		cmocka_unit_test(rewind_gives_the_same_bytes_over_the_seam),
		cmocka_unit_test(spans_stop_at_the_seam),
		cmocka_unit_test(the_end_comes_after_the_last_byte),
		cmocka_unit_test(one_byte_ring_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Set-up headers, bit by bit. That those of real files pass, the tests of the
 * decoder show. */
#include "daemon/decode/vorbis_books.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	PACKET_BYTES = 256 << 10,
	MOST = VORBIS_BOOK_ENTRIES_MAX,
	TREE_BITS = 14, /* of a full tree of 16,384 entries */
};

static uint8_t packet[PACKET_BYTES];
static uint64_t packet_bits;

static void
put(uint64_t value, unsigned count)
{
	for (unsigned i = 0; i < count; i++, packet_bits++)
		if ((value >> i & 1) != 0)
			packet[packet_bits / 8] |=
				(uint8_t)(1U << (packet_bits % 8));
}

static void
begin(unsigned books)
{
	memset(packet, 0, sizeof(packet));
	memcpy(packet, "\5vorbis", 7);
	packet_bits = UINT64_C(7) * 8;
	put(books - 1, 8);
}

static int
check(void)
{
	return vorbis_books_check(packet, (packet_bits + 7) / 8);
}

static void
put_head(unsigned dimensions, unsigned entries)
{
	put(0x564342, 24);
	put(dimensions, 16);
	put(entries, 24);
}

static unsigned
width_of(unsigned value)
{
	return value == 0 ? 0 : 32 - (unsigned)__builtin_clz(value);
}

/* All code words in one run. */
static void
put_run(unsigned entries)
{
	put(1, 1);
	put(TREE_BITS - 1, 5);
	put(entries, width_of(entries));
}

/* Each with its length, and of every step entries one in use. */
static void
put_each(unsigned entries, unsigned step)
{
	put(0, 1);
	put(step > 1, 1);
	for (unsigned i = 0; i < entries; i++) {
		if (step > 1)
			put(i % step == 0, 1);
		if (i % step == 0)
			put(TREE_BITS - 1, 5);
	}
}

static void
put_vectors(unsigned type, unsigned values, unsigned width)
{
	put(type, 4);
	if (type == 0)
		return;
	put(UINT64_MAX, 64);
	put(width - 1, 4);
	put(1, 1);
	/* ones would be found if they were taken for a book */
	for (unsigned i = 0; i < values; i++)
		put(UINT64_MAX, width);
}

static void
put_large(void)
{
	put_head(1, MOST + 1);
	put_run(MOST + 1);
	put_vectors(0, 0, 0);
}

static void
up_to_the_limit(void **state)
{
	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		const int wanted = more == 0 ? 0 : -EOVERFLOW;

		begin(1);
		put_head(1, MOST + more);
		put_run(MOST + more);
		put_vectors(0, 0, 0);
		assert_int_equal(check(), wanted);
		begin(1);
		put_head(1, MOST + more);
		put_each(MOST + more, 1);
		put_vectors(0, 0, 0);
		assert_int_equal(check(), wanted);
		begin(1);
		put_head(1, 3 * (MOST + more));
		put_each(3 * (MOST + more), 3);
		put_vectors(0, 0, 0);
		assert_int_equal(check(), wanted);
	}
}

static void
many_in_few_bits(void **state)
{
	(void)state;
	begin(1);
	put_head(1, (1 << 23) - 1);
	put_run((1 << 23) - 1);
	put_vectors(0, 0, 0);
	assert_true(packet_bits / 8 < 32);
	assert_int_equal(check(), -EOVERFLOW);
}

/* The large book behind others is found only where those end. */
static void
behind_other_books(void **state)
{
	(void)state;
	for (unsigned large = 0; large < 2; large++) {
		begin(5 + large);
		put_head(3, 7 * 7 * 7 + 5);
		put_each(7 * 7 * 7 + 5, 1);
		put_vectors(1, 7, 11);
		put_head(1, 300);
		put_run(300);
		put_vectors(1, 300, 16);
		put_head(40, 1000);
		put_each(1000, 7);
		put_vectors(1, 1, 5);
		put_head(5, 100);
		put_run(100);
		put_vectors(2, 500, 3);
		put_head(8, 0);
		put_each(0, 1);
		put_vectors(1, 0, 9);
		if (large > 0)
			put_large();
		assert_int_equal(check(), large > 0 ? -EOVERFLOW : 0);
	}
}

/* From the last bit that counts on: none of it may be missing. */
static void
cut_short_is_refused(void **state)
{
	(void)state;
	begin(2);
	put_head(2, 130);
	put_each(130, 2);
	put_vectors(1, 11, 7);
	put_head(2, 40);
	put_run(40);
	put_vectors(2, 80, 6);
	assert_int_equal(check(), 0);
	for (size_t length = 0; length < packet_bits / 8; length++) {
		/* behind it, memory that a sanitizer guards */
		uint8_t *copy = malloc(length + 1);

		assert_non_null(copy);
		memcpy(copy + 1, packet, length);
		assert_int_equal(vorbis_books_check(copy + 1, length), -EINVAL);
		free(copy);
	}
}

static void
damage_is_refused(void **state)
{
	(void)state;
	begin(1);
	put_head(0, 16); /* vectors of no number */
	put_run(16);
	put_vectors(1, 16, 8);
	assert_int_equal(check(), -EINVAL);
	begin(1);
	put_head(0, 16); /* but there need be none */
	put_run(16);
	put_vectors(0, 0, 0);
	assert_int_equal(check(), 0);
	begin(1);
	put_head(1, 16);
	put_run(17); /* more words than entries */
	put_vectors(0, 0, 0);
	assert_int_equal(check(), -EINVAL);
	begin(1);
	put_head(1, 16);
	put_run(16);
	put_vectors(3, 16, 1);
	assert_int_equal(check(), -EINVAL);
	begin(1);
	put_head(0xffff, 0x1ff); /* 25 bits of them */
	put_run(0x1ff);
	put_vectors(0, 0, 0);
	assert_int_equal(check(), -EINVAL);
	begin(1);
	put(0x564343, 24);
	put(UINT64_MAX, 64);
	assert_int_equal(check(), -EINVAL);
	begin(1);
	put_head(1, 4);
	put(1, 1);
	put(30, 5); /* runs of none, past the longest word */
	put(0, 64);
	assert_int_equal(check(), -EINVAL);
	memcpy(packet, "\3vorbis", 7);
	assert_int_equal(check(), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(up_to_the_limit),
		cmocka_unit_test(many_in_few_bits),
		cmocka_unit_test(behind_other_books),
		cmocka_unit_test(cut_short_is_refused),
		cmocka_unit_test(damage_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
